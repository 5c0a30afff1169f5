"""--rmsperf-device: which device may do the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_auto_takes_the_device_that_is_there(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-device=auto", "-k", "numerics")

    result.assert_outcomes(passed=4, deselected=8)


@pytest.mark.parametrize("value", ["gpu", "CUDA", "0"])
def test_bad_value_is_a_usage_error_with_the_known_ones(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-device={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-device={value}: must be one of auto, cuda*"])


@pytest.mark.parametrize(
    "option", ["--rmsperf-save", "--rmsperf-require-gpu", "--rmsperf-expect-gpu=NVIDIA H200"]
)
def test_emulated_contradicts_what_asks_for_a_gpu_and_both_are_named(
    project: Project, option: str
) -> None:
    result = project.run("--rmsperf", "--rmsperf-device=emulated", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --rmsperf-device=emulated contradicts {option.partition('=')[0]}: *"]
    )
    assert project.calls() == []


def test_emulated_without_a_compiler_is_a_usage_error_with_the_remedy(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMSPERF_CXX", "no-such-compiler")
    (project.path / "script.json").unlink()  # so that a real worker looks for it

    result = project.run("--rmsperf", "--rmsperf-device=emulated")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --rmsperf-device=emulated: no C++ compiler: *; apt-get install g++*"]
    )


def test_ini_key_that_is_no_truth_value_is_a_usage_error(project: Project) -> None:
    project.ini("rmsperf_require_gpu = maybe")

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: ini key rmsperf_require_gpu=maybe: must be true or false*"]
    )
