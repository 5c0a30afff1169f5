"""Every static cost that was collected is compared, and none gets worse unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"


def test_run_that_has_nothing_static_to_run_is_exit_code_5(project: Project) -> None:
    result = project.run("--rmsperf-static", "-k", "latency")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["static only: 4 tests that launch or time something were *"])


def test_run_that_compares_no_cost_is_red_and_names_the_fixture(project: Project) -> None:
    result = project.run("--rmsperf-static")

    result.assert_outcomes(passed=4, deselected=8)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["failed: 0 static costs compared: no selected test asks for one; *(case, rmsperf_static)"]
    )


def test_policy_that_lets_every_missing_cost_pass_is_red(static_project: Project) -> None:
    result = static_project.run("--rmsperf-static", "--rmsperf-policy=missing=warn")

    result.assert_outcomes(passed=8, deselected=8)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["failed: 0 of 4 static costs compared, *"])


def test_skipped_test_of_a_cost_is_red(static_saved: Project) -> None:
    suite = (static_saved.path / "test_cost.py").read_text(encoding="utf-8")
    body = "    if 'vector' in case.id: pytest.skip('later')\n    rmsperf_static.require()"
    static_saved.write("test_cost.py", suite.replace("    rmsperf_static.require()", body))

    result = static_saved.run("--rmsperf-static")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["failed: 2 of 4 static costs were not compared: *"])


def test_loss_that_no_test_asks_about_is_red_in_a_usual_run(static_saved: Project) -> None:
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run("--rmsperf", "test_scale_rows.py", "-k", "residency")

    result.assert_outcomes(passed=4, deselected=8)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"failed: {CASE} is costlier: *; no test asks for that; *"])


def test_loss_whose_test_was_deselected_is_told_and_not_red(static_saved: Project) -> None:
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run("--rmsperf", "-k", "residency")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"{CASE}: costlier: *", "  accept it with: *"])


def test_suite_that_stored_no_cost_is_not_red_for_it(project: Project) -> None:
    result = project.run("--rmsperf", "-k", "residency")

    assert result.ret == pytest.ExitCode.OK


def test_test_that_never_looks_at_its_cost_is_held_to_it(static_saved: Project) -> None:
    suite = (static_saved.path / "test_cost.py").read_text(encoding="utf-8")
    static_saved.write("test_cost.py", suite.replace("rmsperf_static.require()", "pass"))
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run("--rmsperf-static", "-k", "cost")

    result.assert_outcomes(passed=3, failed=1, deselected=12)


# ---- cases that no device of interest is meant for -------------------------------------------


@pytest.fixture
def newer(static_project: Project) -> Project:
    """The project whose variant `vector` is meant for no device of interest."""
    static_project.costs(not_meant=["vector"])
    static_project.save_costs("-k", "scalar")
    return static_project


@pytest.mark.parametrize("arguments", [("--rmsperf-static",), ("--rmsperf", "-k", "cost")], ids=str)
def test_case_that_is_meant_for_no_device_of_interest_is_skipped_and_counted(
    newer: Project, arguments: tuple[str, ...]
) -> None:
    result = newer.run(*arguments)

    assert result.ret == pytest.ExitCode.OK
    assert result.parseoutcomes()["skipped"] == 2
    result.stdout.fnmatch_lines(
        ["2 of 4 static costs compared (2 unchanged, 2 not meant for them) on 1 device, sm_90*"]
    )


def test_it_is_no_want_of_a_gpu(newer: Project) -> None:
    result = newer.run("--rmsperf", "-k", "cost", "--rmsperf-require-gpu")

    result.assert_outcomes(passed=2, skipped=2, deselected=12)
    assert result.ret == pytest.ExitCode.OK


def test_its_latency_is_saved_and_compared_all_the_same(newer: Project) -> None:
    saved = newer.run("--rmsperf-save")
    compared = newer.run("--rmsperf")

    assert (saved.ret, compared.ret) == (pytest.ExitCode.OK, pytest.ExitCode.OK)
    compared.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)"])


def test_it_is_left_out_of_a_save_without_complaint(newer: Project) -> None:
    result = newer.run("--rmsperf-static", "--rmsperf-save")

    assert result.ret == pytest.ExitCode.OK
