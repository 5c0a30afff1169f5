"""--rmsperf-save accepts what was measured, all of it or nothing, and never in silence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.environment import Provenance

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

SCALAR = "scale_rows/scalar-direct/16x1024"
SAME_MOMENT = Provenance("2026-11-30T18:00:00Z", "1a2b3c4", None, "3.11.9", "0.1.0", ())
FAILS_FOR_SCALAR = """
import pytest
from test_scale_rows import each_case

@pytest.mark.rmsperf
@each_case
def test_own_rule(case, rmsperf_latency):
    assert "scalar" not in case.id
"""
CTRL_C = """
import pytest

@pytest.mark.rmsperf
def test_ctrl_c():
    raise KeyboardInterrupt
"""


def saved_cases(project: Project) -> list[str]:
    """Return the stored case ids without what all of them share; empty without a file."""
    if not project.baseline.exists():
        return []
    ids = json.loads(project.baseline.read_bytes())["cases"]
    return [one.removeprefix("scale_rows/").removesuffix("/16x1024") for one in ids]


def test_check_after_a_save_is_green(project: Project) -> None:
    project.save()

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)"])


def test_save_says_how_many_baselines_went_where(project: Project) -> None:
    result = project.run("--rmsperf-save")

    result.stdout.fnmatch_lines([f"saved 4 baselines in {project.baseline}"])


def test_every_case_is_saved(project: Project) -> None:
    project.run("--rmsperf-save")

    assert saved_cases(project) == [
        "scalar-direct",
        "scalar-graph",
        "vector-direct",
        "vector-graph",
    ]


def test_check_saves_nothing(project: Project) -> None:
    project.run("--rmsperf")

    assert saved_cases(project) == []


def test_selected_cases_alone_are_saved(project: Project) -> None:
    project.run("--rmsperf-save", "-k", "scalar")

    assert saved_cases(project) == ["scalar-direct", "scalar-graph"]


def test_partial_save_keeps_the_stored_figures_of_the_others(project: Project) -> None:
    before = json.loads(project.save())["cases"]
    project.script(device_ns={"scale_rows": 9000})

    after = json.loads(project.save("-k", "latency and scalar"))["cases"]

    changed = [one for one in before if before[one] != after[one]]
    assert changed == [SCALAR, "scale_rows/scalar-graph/16x1024"]


def test_saving_the_same_figures_again_leaves_every_byte(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_rmsperf.inquiry.current_provenance", lambda *_, **__: SAME_MOMENT)
    project.run("--rmsperf-save")
    before = project.baseline.read_bytes()

    project.run("--rmsperf-save")

    assert project.baseline.read_bytes() == before


# ---- faster ----------------------------------------------------------------------------------


def test_faster_baseline_is_saved_without_a_word_of_loosening(project: Project) -> None:
    before = project.save()
    project.script(device_ns={SCALAR: 7200})

    result = project.run("--rmsperf-save")

    assert project.baseline.read_bytes() != before
    result.stdout.no_fnmatch_line("loosened*")


def test_gain_that_the_second_round_does_not_repeat_is_not_saved(project: Project) -> None:
    project.save()
    project.script(device_ns={SCALAR: [7200, 7200, 7200, 8000]})

    project.run("--rmsperf-save")

    sessions = json.loads(project.baseline.read_bytes())["cases"][SCALAR]["sessions"]
    assert [one["device_ns"][1] // 100 for one in sessions] == [80, 80, 80]


# ---- what refuses the whole save -------------------------------------------------------------


def test_wrong_numerics_of_one_case_save_nothing(project: Project) -> None:
    project.script(failed={"scalar": ("numerics", "wrong: 3 elements")})

    result = project.run("--rmsperf-save")

    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.TESTS_FAILED, [])
    result.stdout.fnmatch_lines(
        [
            "NOT SAVED: 4 tests did not pass",
            "mend what failed, or leave it out with -k, then: pytest --rmsperf-save",
        ],
        consecutive=True,
    )


def test_assertion_of_a_test_after_its_timing_saves_nothing(project: Project) -> None:
    project.write("test_own.py", FAILS_FOR_SCALAR)

    project.run("--rmsperf-save")

    assert saved_cases(project) == []


def test_failed_test_may_be_left_out(project: Project) -> None:
    project.script(failed={"scalar": ("numerics", "wrong: 3 elements")})

    project.run("--rmsperf-save", "-k", "vector")

    assert saved_cases(project) == ["vector-direct", "vector-graph"]


def test_case_without_samples_saves_nothing(project: Project) -> None:
    project.script(lost={"scalar": "lost: no sign of life"})

    result = project.run("--rmsperf-save")

    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.TESTS_FAILED, [])


def test_case_with_impossible_samples_saves_nothing(project: Project) -> None:
    project.script(device_ns={"scalar": -9})

    result = project.run("--rmsperf-save")

    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.TESTS_FAILED, [])


def test_case_whose_test_was_skipped_is_not_saved_and_that_is_red(project: Project) -> None:
    skips = FAILS_FOR_SCALAR.replace(
        'assert "scalar" not in case.id', '"scalar" in case.id and pytest.skip("not today")'
    )
    project.write("test_own.py", skips)

    result = project.run("--rmsperf-save")

    assert saved_cases(project) == ["vector-direct", "vector-graph"]
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["failed: 2 of 4 cases were not saved: scale_rows/scalar-*; a test of each was skipped *"]
    )


def test_waived_case_whose_test_was_skipped_may_be_left_out_of_a_save(project: Project) -> None:
    waived = FAILS_FOR_SCALAR.replace("rmsperf\n", "rmsperf(waive='later')\n").replace(
        'assert "scalar" not in case.id', "pytest.skip('later')"
    )
    project.write("test_own.py", waived)

    result = project.run("--rmsperf-save", "test_own.py")

    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.OK, [])


# ---- interrupted, stopped, without a device, damaged -----------------------------------------


@pytest.mark.parametrize("moment", [SCALAR, "session 2"])
def test_interrupted_run_saves_nothing(project: Project, moment: str) -> None:
    project.script(interrupted={moment: "Ctrl-C"})

    result = project.run("--rmsperf-save")

    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.INTERRUPTED, [])


def test_run_interrupted_after_every_case_passed_saves_nothing(project: Project) -> None:
    project.write("test_z.py", CTRL_C)

    result = project.run("--rmsperf-save")

    result.assert_outcomes(passed=12)
    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.INTERRUPTED, [])
    result.stdout.fnmatch_lines(
        ["NOT SAVED: the run was broken off *", "run it again: pytest --rmsperf-save"]
    )


def test_run_that_stops_at_the_first_failure_saves_no_case_it_did_not_reach(
    project: Project,
) -> None:
    project.script(failed={SCALAR: ("numerics", "wrong: 3 elements")})

    result = project.run("--rmsperf-save", "-x")

    assert (result.ret, saved_cases(project)) == (pytest.ExitCode.TESTS_FAILED, [])


def test_save_without_a_device_stores_nothing_and_says_why(project: Project) -> None:
    project.script(device=None)

    result = project.run("--rmsperf-save")

    assert saved_cases(project) == []
    result.stdout.fnmatch_lines(["0 of 4 latencies compared: no CUDA device (*)"])


@pytest.mark.parametrize("option", ["--rmsperf", "--rmsperf-save"])
def test_corrupt_baseline_is_refused_before_anything_is_timed(
    project: Project, option: str
) -> None:
    project.save()
    project.baseline.write_text("{", encoding="utf-8")
    project.calls()

    result = project.run(option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert project.calls() == ["close"]
    result.stderr.fnmatch_lines(
        [
            f"ERROR: cannot read baseline {project.baseline}: is not JSON at line 1, column 2: *",
            "restore it: git checkout -- *; or delete it and measure anew: pytest --rmsperf-save",
        ]
    )


def test_corrupt_baseline_stays_as_it_was(project: Project) -> None:
    project.save()
    project.baseline.write_text("{", encoding="utf-8")

    project.run("--rmsperf-save")

    assert project.baseline.read_text(encoding="utf-8") == "{"


def test_without_a_device_nothing_is_saved_and_the_run_says_so_in_red(project: Project) -> None:
    project.script(device=None)

    result = project.run("--rmsperf-save")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not project.baseline.exists()
    result.stdout.fnmatch_lines(
        ["NOT SAVED: no CUDA device (*); run it on the GPU: pytest --rmsperf-save"]
    )
