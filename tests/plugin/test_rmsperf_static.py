"""--rmsperf-static: what cases cost on devices of interest, without any device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
BEYOND = """
import pytest
from test_scale_rows import OPERATOR, each_case

pytestmark = pytest.mark.rmsperf

@pytest.fixture
def indirect(rmsperf_latency):
    return rmsperf_latency

@each_case
def test_both(case, rmsperf_static, indirect): pass
@each_case
def test_shown(case, rmsperf_benchmark): pass
def test_device(rmsperf_device): pass
def test_launch(rmsperf_launch): pass
def test_ordering(rmsperf_ordering): pass
def test_stale(rmsperf_no_stale):
    rmsperf_no_stale(OPERATOR.cases())
"""


# ---- what runs -------------------------------------------------------------------------------


def test_the_option_turns_the_gate_on_for_static_tests_alone(static_saved: Project) -> None:
    result = static_saved.run("--rmsperf-static")

    result.assert_outcomes(passed=8, deselected=8)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "static: 4 cases on 1 device; *",
            "static only: 8 tests that launch or time something were deselected",
            "4 of 4 static costs compared (4 unchanged) on 1 device, sm_90",
        ]
    )


def test_nothing_is_launched_or_timed(static_saved: Project) -> None:
    static_saved.calls()

    static_saved.run("--rmsperf-static")

    assert [one.partition(" ")[0] for one in static_saved.calls()] == ["check"] * 4 + ["close"]


def test_every_fixture_that_asks_for_more_is_deselected_through_others_too(
    static_project: Project,
) -> None:
    static_project.write("test_beyond.py", BEYOND)

    result = static_project.run("--rmsperf-static", "test_beyond.py")

    result.assert_outcomes(passed=1, deselected=11)
    result.stdout.fnmatch_lines(["static only: 11 tests that launch or time something were *"])


def test_only_tests_that_were_selected_otherwise_are_counted(static_saved: Project) -> None:
    result = static_saved.run("--rmsperf-static", "-k", CASE)

    result.assert_outcomes(passed=2, deselected=14)
    result.stdout.fnmatch_lines(["static only: 2 tests that launch or time something were *"])


def test_static_tests_run_with_every_other_gate_too(static_saved: Project) -> None:
    result = static_saved.run("--rmsperf", "-k", "cost")

    result.assert_outcomes(passed=4, deselected=12)
    result.stdout.fnmatch_lines(
        [
            "4 of 4 static costs compared (4 unchanged) on 1 device, sm_90",
            "0 of 0 latencies compared; 4 more deselected",
        ]
    )


def test_header_names_the_devices_and_misses_none(static_saved: Project) -> None:
    result = static_saved.run("--rmsperf-static")

    result.stdout.fnmatch_lines(
        [
            "rmsperf device: none is looked for: every case is compiled, and nothing is launched *",
            "rmsperf compiler: nvrtc 13.0.88",
            "rmsperf static: 1 device, sm_90: h100-sxm",
            "rmsperf: baselines *, headroom may lose 10 % of what a device holds",
        ]
    )


def test_no_table_of_latencies_is_shown(static_saved: Project) -> None:
    result = static_saved.run("--rmsperf-static")

    result.stdout.no_fnmatch_line("case * host us *")
    result.stdout.no_fnmatch_line("*latencies compared*")
    result.stdout.no_fnmatch_line("numerics of *")


# ---- what fails ------------------------------------------------------------------------------


def test_lost_block_per_sm_fails_that_case_alone_and_says_how_to_accept_it(
    static_saved: Project,
) -> None:
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run("--rmsperf-static")

    result.assert_outcomes(passed=7, failed=1, deselected=8)
    result.stdout.fnmatch_lines(
        [
            f"*test_cost[[]{CASE}[]]*",
            "costlier: NVIDIA H100 80GB HBM3: 4 -> 3 blocks per SM of scale_rows*",
            f'accept it with: pytest --rmsperf-static --rmsperf-save -k "{CASE}"',
        ]
    )


@pytest.mark.parametrize("device", ["NVIDIA H200", None], ids=["device", "none"])
def test_lost_block_per_sm_fails_a_usual_run_too(static_saved: Project, device: str | None) -> None:
    static_saved.script(device=device)
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run("--rmsperf", "-k", "cost")

    result.assert_outcomes(passed=3, failed=1, deselected=12)


def test_device_that_cannot_run_a_case_fails_it_with_the_whole_message(
    static_saved: Project,
) -> None:
    static_saved.costs(
        violated={CASE: "does not fit NVIDIA H100 80GB HBM3: 4 blocks too many\nsplit it"}
    )

    result = static_saved.run("--rmsperf-static")

    result.assert_outcomes(passed=7, failed=1, deselected=8)
    result.stdout.fnmatch_lines(
        ["violated: NVIDIA H100 80GB HBM3: does not fit: 4 blocks too many", "split it"]
    )


def test_other_registers_alone_pass_and_are_noted(static_saved: Project) -> None:
    static_saved.costs(registers={"vector": 44})

    result = static_saved.run("--rmsperf-static")

    result.assert_outcomes(passed=8, deselected=8)
    result.stdout.fnmatch_lines(["noted of 2 cases: *; list it with --rmsperf-details"])


def test_cost_that_got_less_passes_and_is_told_with_its_remedy(static_saved: Project) -> None:
    static_saved.costs(blocks_per_sm={"vector": 5})

    result = static_saved.run("--rmsperf-static")

    result.assert_outcomes(passed=8, deselected=8)
    result.stdout.fnmatch_lines(
        [
            "scale_rows/vector-direct/16x1024 and 1 more case: cheaper: * 4 -> 5 blocks per SM *",
            "  accept it with: pytest --rmsperf-static --rmsperf-save -k *",
            "4 of 4 static costs compared (2 unchanged, 2 cheaper) *",
        ]
    )


def test_another_compiler_fails_and_names_what_differs(static_saved: Project) -> None:
    static_saved.costs(nvrtc="13.1.55")

    result = static_saved.run("--rmsperf-static")

    result.assert_outcomes(passed=4, failed=4, deselected=8)
    result.stdout.fnmatch_lines(["incomparable: *nvrtc 13.0.88 -> 13.1.55*"])


def test_missing_baseline_fails_and_names_the_command_that_creates_it(
    static_project: Project,
) -> None:
    result = static_project.run("--rmsperf-static", "-k", CASE)

    result.assert_outcomes(passed=1, failed=1, deselected=14)
    result.stdout.fnmatch_lines(
        [
            "missing: sm_90: no cost is stored",
            f'create it with: pytest --rmsperf-static --rmsperf-save -k "{CASE}"',
        ]
    )


def test_corrupt_baseline_is_a_usage_error_before_anything_is_checked(
    static_saved: Project,
) -> None:
    (static_saved.path / "baselines" / "sm_90" / "scale_rows.static.json").write_text("{")
    static_saved.calls()

    result = static_saved.run("--rmsperf-static")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: cannot read baseline *scale_rows.static.json*"])
    assert static_saved.calls() == ["close"]


# ---- contradictions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [
        "--rmsperf-against=HEAD",
        "--rmsperf-calibrate",
        "--rmsperf-require-gpu",
        "--rmsperf-device=cuda",
        "--rmsperf-device=emulated",
    ],
)
def test_what_needs_a_device_or_another_commit_is_a_usage_error(
    project: Project, option: str
) -> None:
    result = project.run("--rmsperf-static", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --rmsperf-static contradicts {option}: *; leave one of them out, *"]
    )
    assert project.calls() == []


@pytest.mark.parametrize("errand", ["--rmsperf-selftest", "--rmsperf-rename=a=b"])
def test_errand_is_a_usage_error(project: Project, errand: str) -> None:
    result = project.run("--rmsperf-static", errand)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = errand.partition("=")[0]
    result.stderr.fnmatch_lines([f"ERROR: {name} contradicts --rmsperf-static: *"])


# ---- the run file ----------------------------------------------------------------------------


def test_run_file_holds_costs_and_verdicts(static_saved: Project) -> None:
    static_saved.run("--rmsperf-static", "--rmsperf-json=run.json")

    content = json.loads((static_saved.path / "run.json").read_bytes())
    assert content["costs"][CASE]["status"] == "unchanged"
    (check,) = content["checked"][CASE]["static"]
    assert check["cost"]["fits"][0]["device"] == "NVIDIA H100 80GB HBM3"
