"""What the end of a run says of static costs: the tightest, what warns, and what is only noted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from costs import check_of, cost_of
from pytest_rmsperf.cost_accounting import CostAccount
from pytest_rmsperf.costing import Checks
from pytest_rmsperf.judge.cost import ArchVerdict, CostFinding, CostVerdict
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.report.static_summary import MOST_LISTED, StaticSummary
from pytest_rmsperf.settings import Settings

CASE, OTHER = "op/row-direct/1x4", "op/row-graph/1x4"
Build = Callable[..., StaticSummary]


@pytest.fixture
def summary(default_settings: Settings) -> Build:
    """Makes the summary of these verdicts: `summary(verdict, details=True)`."""

    def build(
        *verdicts: CostVerdict,
        account: CostAccount | None = None,
        checked: str | None = None,
        **changes: Any,
    ) -> StaticSummary:
        checks: dict[str, Checks] = {}
        if checked is not None:
            checks[checked] = (check_of(cost_of(case_id=checked)),)
        findings = Findings(costs={one.case_id: one for one in verdicts}, checks=checks)
        return StaticSummary(
            findings, account or CostAccount(), replace(default_settings, **changes)
        )

    return build


def verdict(
    status: Status, case_id: str = CASE, finding: str = "lost a block", *notes: str
) -> CostVerdict:
    found = () if status is Status.UNCHANGED else (CostFinding(("NVIDIA L4",), finding),)
    noted = tuple(CostFinding(("sm_89",), one) for one in notes)
    return CostVerdict(case_id, (ArchVerdict("sm_89", status, found, noted, None, None),), ())


# ---- what warns ------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("status", [Status.COSTLIER, Status.CHANGED, Status.CHEAPER])
def test_verdict_that_only_warns_is_told_with_its_remedy(
    summary: Build, status: Status, outcome: Outcome
) -> None:
    one = summary(verdict(status), policy=Policy(((status, outcome),)))

    told = [
        f"{CASE}: {status.value}: NVIDIA L4: lost a block",
        f'  accept it with: pytest --rmsperf-static --rmsperf-save -k "{CASE}"',
    ]
    assert list(one.lines()) == (told if outcome is Outcome.WARN else [])


def test_cases_of_which_the_same_is_said_share_a_line(summary: Build) -> None:
    one = summary(*(verdict(Status.CHEAPER, case_id) for case_id in (CASE, OTHER)))

    assert next(one.lines()) == f"{CASE} and 1 more case: cheaper: NVIDIA L4: lost a block"


def test_of_many_warnings_some_are_told_and_the_rest_is_counted(summary: Build) -> None:
    many = [verdict(Status.CHEAPER, f"c{n}", f"{n} bytes") for n in range(MOST_LISTED + 2)]

    lines = list(summary(*many).lines())

    assert (len(lines), lines[-1]) == (2 * MOST_LISTED + 1, "and 2 more static warnings")


def test_failing_verdict_is_told_where_its_test_is_deselected(summary: Build) -> None:
    account = CostAccount(deselected=frozenset({CASE}))

    lines = list(summary(verdict(Status.COSTLIER), account=account).lines())

    assert lines[0] == f"{CASE}: costlier: NVIDIA L4: lost a block"


def test_failing_verdict_of_a_test_that_ran_is_left_to_it(summary: Build) -> None:
    ids = frozenset({CASE})  # one test of it ran, another was deselected
    account = CostAccount(asked=ids, deselected=ids)

    assert list(summary(verdict(Status.COSTLIER), account=account).lines()) == []


def test_run_that_saves_does_not_warn_of_what_it_accepts(summary: Build) -> None:
    assert list(summary(verdict(Status.CHEAPER), save=True).lines()) == []


# ---- what is noted ---------------------------------------------------------------------------


def test_what_fails_nothing_is_counted(summary: Build) -> None:
    noted = [verdict(Status.UNCHANGED, one, "", "other code") for one in (CASE, OTHER)]

    assert list(summary(*noted).lines()) == [
        "noted of 2 cases: other code, which fails nothing; list it with --rmsperf-details"
    ]


def test_details_list_what_fails_nothing(summary: Build) -> None:
    noted = [verdict(Status.UNCHANGED, one, "", "a", "b") for one in (CASE, OTHER)]

    lines = list(summary(*noted, details=True).lines())

    assert lines == [f"noted: {CASE} and 1 more case: sm_89: a; sm_89: b"]


def test_notes_of_a_failing_verdict_are_left_to_its_message(summary: Build) -> None:
    assert list(summary(verdict(Status.COSTLIER, CASE, "lost", "other code")).lines()) == []


# ---- devices ---------------------------------------------------------------------------------


def test_tightest_plan_is_always_told(summary: Build) -> None:
    (line,) = summary(checked=CASE).lines()

    assert line.startswith(f"static: 1 case on 1 device; tightest: {CASE} on NVIDIA H100 80GB")


@pytest.mark.parametrize("details", [True, False])
def test_table_of_devices_is_shown_where_details_are_asked_for(
    summary: Build, *, details: bool
) -> None:
    assert bool(summary(checked=CASE, details=details).table()) is details


# ---- what was left out -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "lines"),
    [
        (0, []),
        (1, ["static only: 1 test that launches or times something was deselected"]),
        (8, ["static only: 8 tests that launch or time something were deselected"]),
    ],
)
def test_tests_that_a_static_run_cannot_answer_are_counted(
    summary: Build, count: int, lines: list[str]
) -> None:
    assert list(summary(account=CostAccount(tests_left_out=count)).left_out()) == lines
