"""The table and the tally at the end of a run: aligned, honest, and without inf or nan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision
from pytest_rmsperf.checks import CheckedCase, Failure, Stage
from pytest_rmsperf.emulation import Emulation, Schedules
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import STORED
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.report.terminal import (
    COLUMNS,
    MOST_UNCLAIMED,
    Row,
    numerics_line,
    row,
    table,
    unclaimed,
)
from pytest_rmsperf.residency import Residency

CASE = "softmax/online-graph/16x1024"
NOT_RUN = CaseReport(CheckedCase(CASE), None, None, None, "no CUDA device", "no CUDA device")
EMULATION = Emulation("16x12292", Schedules(0, 4))
FAILED = replace(NOT_RUN, failure=Failure(Stage.COMPILE, "does not compile"))
Measured = Callable[..., Measurement]


def report_of(verdict: Verdict, residency: Residency | None = None) -> CaseReport:
    return CaseReport(CheckedCase(CASE, residency=residency), None, verdict, None, None, None)


def with_status(status: Status) -> CaseReport:
    return report_of(Verdict(CASE, status, "", None, None, STORED))


def test_a_row_shows_times_change_verdict_and_resources(
    judged: Callable[..., Verdict], residency: Callable[..., Residency]
) -> None:
    fits = residency(4, KernelLaunch("row", 500, 256, (), cooperative=True))

    cells = row(report_of(judged((8000,) * 3, (9000,) * 3), fits)).cells

    assert dict(zip(COLUMNS, cells, strict=True)) == {
        "case": CASE,
        "host us": "20.00",
        "device us": "9.00",
        "copy us": "7.00",
        "change": "+12.5 %",
        "verdict": "slower",
        "registers": "40",
        "blocks/SM": "4",
        "headroom": "28",
    }


def test_a_case_that_was_not_run_has_dashes_and_says_so() -> None:
    assert row(NOT_RUN).cells == (CASE, "-", "-", "-", "-", "not run", "-", "-", "-")


def test_a_case_that_failed_says_at_which_stage() -> None:
    assert row(FAILED).verdict == "failed: compile"


def test_a_launch_that_waits_for_nobody_has_no_headroom(
    residency: Callable[..., Residency],
) -> None:
    report = replace(
        NOT_RUN, checked=CheckedCase(CASE, residency=residency(4, KernelLaunch("row", 8, 256, ())))
    )

    assert (row(report).blocks_per_sm, row(report).headroom) == ("4", "-")


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("before_ns", [0, 1, 8000, None])
def test_no_verdict_on_any_figures_shows_inf_or_nan(
    measured: Measured, status: Status, before_ns: int | None
) -> None:
    verdict = Verdict(CASE, status, "", measured((8000,)), measured((before_ns,)), STORED)

    text = " ".join(row(report_of(verdict)).cells).lower()

    assert ("inf" in text, "nan" in text) == (False, False)


def test_all_lines_of_a_table_are_equally_long() -> None:
    long = Row("a/long_name-graph/1x4", "9.99", "1234.56", "-", "+1.0 %", "unchanged", *"123")
    short = Row("a/b-graph/1x4", "10.00", "8.00", "-", "-", "not run", *"456")

    assert len({len(line) for line in table([long, short])}) == 1


def test_cases_stand_to_the_left_and_numbers_to_the_right() -> None:
    short = Row("a/b", "1.00", "2.00", "3.00", "-", "slower", "1", "2", "3")

    header, line = table([short])

    assert (header.index("case"), line.index("a/b")) == (0, 0)
    assert line.index("1.00") + 4 == header.index("host us") + 7


def test_a_table_without_cases_is_its_header() -> None:
    assert table([]) == ["  ".join(COLUMNS)]


def with_error(case_id: str, error: float, problem: str | None = None) -> CaseReport:
    comparison = Comparison(
        "random rows", "y", Precision.FLOAT64, error, (3, 17), 0.5, 0.5, 1e-5, 1, 64, problem
    )
    checked = CheckedCase(case_id, numerics=Numerics((comparison,), 1, None))
    return CaseReport(checked, None, None, None, None, None)


def emulated(report: CaseReport) -> CaseReport:
    numerics = report.checked.numerics
    assert numerics is not None
    checked = replace(report.checked, numerics=replace(numerics, emulation=EMULATION))
    return replace(report, checked=checked, not_timed="no CUDA device")


def test_the_largest_error_of_all_cases_is_told_with_its_case_and_index() -> None:
    reports = [with_error("a", 1e-7), with_error("b", 2e-6), with_error("c", 1e-6)]

    assert numerics_line(reports) == (
        "numerics of 3 cases, at worst b: right: largest relative error 2.00e-06 at y[3x17] "
        "(random rows), allowed 1e-05"
    )


def test_a_wrong_output_is_the_worst() -> None:
    wrong = with_error("b", float("inf"), "NaN at 1 places")

    line = numerics_line([with_error("a", 2e-6), wrong])

    assert line == "numerics of 2 cases, at worst b: wrong: NaN at 1 places in y (random rows)"


def test_emulated_numerics_say_so_and_at_which_problem_by_how_many_schedules() -> None:
    line = numerics_line([emulated(with_error(one, 1e-7)) for one in "ab"])

    assert line == (
        "numerics of 2 cases, emulated, at worst a: right: largest relative error 1.00e-07 at "
        "y[3x17] (random rows), allowed 1e-05 (emulated at 16x12292, 4 schedules, seeds 0 to 3)"
    )


def test_the_row_of_a_case_whose_numerics_were_emulated_says_so() -> None:
    assert row(emulated(with_error("a", 1e-7))).verdict == "emulated"


def test_where_nothing_could_be_launched_the_numerics_line_says_why() -> None:
    report = replace(NOT_RUN, not_launched="no CUDA device (none), and no emulated one (no g++)")

    assert numerics_line([report, report]) == (
        "numerics of 0 cases: no CUDA device (none), and no emulated one (no g++)"
    )


def test_without_numerics_nothing_is_said_of_them() -> None:
    assert numerics_line([replace(NOT_RUN, not_launched=None)]) is None


def test_a_gain_is_told_with_the_command_that_claims_it(judged: Callable[..., Verdict]) -> None:
    faster = report_of(judged((9000,) * 3, (8000,) * 3))

    first, second = unclaimed([NOT_RUN, with_status(Status.UNCHANGED), faster])

    assert first.startswith(f"{faster.verdict.case_id}: faster by 11.1 % (device time): ")  # type: ignore[union-attr]
    assert second.startswith("  accept it with: pytest --rmsperf-save -k ")


def test_many_gains_are_counted_and_not_all_listed(judged: Callable[..., Verdict]) -> None:
    faster = report_of(judged((9000,) * 3, (8000,) * 3))

    lines = unclaimed([faster] * (MOST_UNCLAIMED + 2))

    assert len(lines) == 2 * MOST_UNCLAIMED + 1
    assert lines[-1] == "and 2 more are faster: see the table"
