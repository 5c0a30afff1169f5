"""--rmsperf runs the marked tests and only those; without it they are deselected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

OTHERS = "def test_one(): pass\ndef test_two(): pass\n"


def test_only_marked_tests_run_with_the_option(project: Project) -> None:
    project.write("test_others.py", OTHERS)

    result = project.run("--rmsperf", "-k", "not latency")

    result.assert_outcomes(passed=8, deselected=6)


def test_marked_tests_are_deselected_without_the_option(project: Project) -> None:
    project.write("test_others.py", OTHERS)

    result = project.run()

    result.assert_outcomes(passed=2, deselected=12)


def test_nothing_is_asked_of_the_instrument_without_the_option(project: Project) -> None:
    project.write("test_others.py", OTHERS)

    project.run()

    assert project.calls() == []


def test_no_marked_test_at_all_is_exit_code_5(project: Project) -> None:
    (project.path / "test_scale_rows.py").unlink()
    project.write("test_others.py", OTHERS)

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_only_marked_tests_and_no_option_is_exit_code_5(project: Project) -> None:
    result = project.run()

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_marker_is_registered(project: Project) -> None:
    result = project.run("--markers")

    result.stdout.fnmatch_lines(
        ["@pytest.mark.rmsperf(threshold, floor, completion_threshold, waive): a test of *"]
    )


def test_each_case_is_checked_once_and_timed_in_each_session(project: Project) -> None:
    project.run("--rmsperf", "-k", "scalar-direct")

    case = "scale_rows/scalar-direct/16x1024"
    probes = "probe/null-direct/1 probe/copy-direct/131072"
    assert project.calls() == [
        f"check {case} with numerics",
        *(f"session {number}: {probes} {case}" for number in (1, 2, 3)),
        "close",
    ]


def test_case_asked_only_for_its_residency_is_neither_launched_nor_timed(project: Project) -> None:
    project.run("--rmsperf", "-k", "residency and scalar-direct")

    assert project.calls() == ["check scale_rows/scalar-direct/16x1024", "close"]


def test_header_gives_device_compiler_and_settings(project: Project) -> None:
    result = project.run("--rmsperf", "-k", "residency")

    result.stdout.fnmatch_lines(
        [
            "rmsperf device: NVIDIA H200 (132 SMs, * capability 9.0), driver 580.159, CUDA 13.0",
            "rmsperf compiler: nvrtc 13.0.88",
            (
                "rmsperf: baselines *baselines, 3 sessions x 15 samples, warm cache, thresholds "
                "0.8 % device time (at least 0.05 us) and 25 % host completion, deadline 30 s"
            ),
        ]
    )


@pytest.mark.parametrize(
    "option", ["--rmsperf-require-gpu", "--rmsperf-sessions=5", "--rmsperf-expect-gpu=NVIDIA H200"]
)
def test_option_of_the_gate_without_the_gate_is_a_usage_error(
    project: Project, option: str
) -> None:
    project.write("test_others.py", OTHERS)

    result = project.run(option)

    flag = option.partition("=")[0]
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: {flag} is an option of the gate, which is off: pytest --rmsperf {flag} ..."]
    )


def test_ini_key_without_the_gate_disturbs_nobody(project: Project) -> None:
    project.write("test_others.py", OTHERS)
    project.ini("rmsperf_sessions = 5")

    result = project.run()

    result.assert_outcomes(passed=2, deselected=12)
