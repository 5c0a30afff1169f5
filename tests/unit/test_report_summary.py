"""The end of a run: below the table what must not be overlooked, and the account last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fake_instrument import BUSY, CUDA, FakeInstrument
from pytest_rmsperf.accounting import Account
from pytest_rmsperf.against import OtherBuild
from pytest_rmsperf.assembly import Assembler
from pytest_rmsperf.campaign import Campaign, Selection, Surveyor
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.cost_accounting import CostAccount
from pytest_rmsperf.environment import Provenance
from pytest_rmsperf.inquiry import Results
from pytest_rmsperf.judge.cost import ArchVerdict, CostFinding, CostVerdict
from pytest_rmsperf.judge.ordering import Ordered, Ordering, OrderStatus
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.judge.thresholds import STORED
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.questions import Asked
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.report.summary import MOST_LISTED, Summary
from pytest_rmsperf.settings import Settings

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
PROVENANCE = Provenance("2026-11-30T12:00:00Z", "1a2b3c4", None, "3.11.9", "0.1.0", ())
SAME = (8000,) * 3
Judged = Callable[..., Verdict]
Build = Callable[..., Summary]


@pytest.fixture
def summary(default_settings: Settings) -> Build:
    """Makes the summary of these verdicts: `summary(verdict, waived={...}, save=True)`."""

    def build(
        *verdicts: Verdict,
        results: Results | None = None,
        waived: dict[str, str] | None = None,
        stored: Sequence[str] = (),
        refused: str | None = None,
        complaint: str | None = None,
        reports: Sequence[CaseReport] | None = None,
        **changes: object,
    ) -> Summary:
        found = {one.case_id: one for one in verdicts}
        made = tuple(map(report_of, verdicts)) if reports is None else tuple(reports)
        return Summary(
            reports=made,
            results=results,
            account=Account(frozenset(found), found, waived=waived or {}),
            cost_account=CostAccount(),
            settings=replace(default_settings, **changes),  # type: ignore[arg-type]
            stored=tuple(stored),
            refused=refused,
            complaint=complaint,
        )

    return build


def report_of(verdict: Verdict) -> CaseReport:
    return CaseReport(CheckedCase(verdict.case_id), None, verdict, None, None, None)


def with_status(status: Status, case_id: str = "a") -> Verdict:
    return Verdict(case_id, status, "a reason", None, None, STORED)


def results(
    *,
    campaign: Campaign | None = None,
    other: OtherBuild | None = None,
    ordered: Sequence[Ordered] = (),
) -> Results:
    campaign = campaign or Campaign(CUDA, {})
    return Results(
        asked=Asked(Selection((FIRST,), frozenset(), frozenset())),
        campaign=campaign,
        findings=Findings({}, {one.ordering.id: one for one in ordered}),
        assembler=Assembler(campaign, Protocol(), PROVENANCE),
        other=other,
        thresholds={},
    )


def measured(instrument: FakeInstrument) -> Campaign:
    """A campaign of three sessions over one case."""
    protocol = Protocol(sessions=3, blocks=2, completions_per_block=1)
    surveyor = Surveyor(instrument, protocol, lambda _: None, lambda _: None)
    campaign = surveyor.check(Selection((FIRST,), frozenset(), frozenset({FIRST.id})))
    return surveyor.time(campaign, [FIRST])


def starting(summary: Summary, word: str) -> list[str]:
    return [line for line in summary.lines() if line.startswith(word)]


# ---- order -----------------------------------------------------------------------------------


def test_the_account_ends_a_run(summary: Build) -> None:
    lines = summary(with_status(Status.UNCHANGED), stored=["saved 1 baseline"]).lines()

    assert lines[-2:] == ["saved 1 baseline", "1 of 1 latencies compared (1 unchanged)"]


def test_a_complaint_follows_the_account(summary: Build) -> None:
    lines = summary(with_status(Status.UNCHANGED), complaint="failed: why").lines()

    assert lines[-1] == "failed: why"


def test_a_refusal_that_is_the_complaint_is_told_once(summary: Build) -> None:
    lines = summary(with_status(Status.UNCHANGED), refused="NOT SAVED", complaint="NOT SAVED")

    assert lines.lines().count("NOT SAVED") == 1


def test_a_run_without_cases_has_no_table(summary: Build) -> None:
    assert summary().lines() == ["0 of 0 latencies compared"]


# ---- the machine -----------------------------------------------------------------------------


def test_a_session_that_was_measured_again_is_told_with_its_reason(summary: Build) -> None:
    found = results(campaign=measured(FakeInstrument(before={2: BUSY})))

    (line,) = starting(summary(results=found), "measured again")

    assert line.startswith("measured again: 1 session: the device was 90 % busy before a session")


def test_a_drift_is_told_as_the_reason_where_the_machine_was_fit(summary: Build) -> None:
    session = replace(measured(FakeInstrument()).sessions[0], drifting={"a": "figures drift"})

    found = results(campaign=Campaign(CUDA, {}, set_aside=(session, session)))

    assert starting(summary(results=found), "measured") == [
        "measured again: 2 sessions: figures drift"
    ]


def test_a_fit_machine_is_not_talked_about(summary: Build) -> None:
    found = results(campaign=measured(FakeInstrument()))

    assert starting(summary(results=found), "measured again") == []


@pytest.mark.parametrize(("host_ns", "told"), [(15_900, 0), (16_100, 1)])
def test_cases_that_wait_for_the_host_are_counted_and_named(
    summary: Build, judged: Judged, host_ns: int, told: int
) -> None:
    hosts = (host_ns,) * 3
    verdict = judged(SAME, SAME, host=(hosts, hosts))

    lines = starting(summary(verdict, results=results()), "host-bound")

    rule = "host-bound (device time is less than half of host completion)"
    assert lines == [f"{rule}: 1 case: {verdict.case_id}"] * told


# ---- cases -----------------------------------------------------------------------------------


def test_an_alarm_that_a_second_round_cleared_is_listed(summary: Build, judged: Judged) -> None:
    verdict = judged(SAME, (9000,) * 3, SAME)

    (line,) = starting(summary(verdict), "cleared")

    assert line.startswith(
        f"cleared: {verdict.case_id}: the first round said +12.5 %, 3 fresh sessions did not bear "
        "it out: unchanged: "
    )


def test_of_many_cleared_alarms_a_few_are_listed_and_the_rest_counted(
    summary: Build, judged: Judged
) -> None:
    cleared = judged(SAME, (9000,) * 3, SAME)
    noisy_host = [replace(cleared, case_id=f"c{n}") for n in range(MOST_LISTED + 2)]

    one = summary(*noisy_host)

    assert len(starting(one, "cleared")) == MOST_LISTED
    assert "and 2 more that were cleared" in one.lines()


def test_an_alarm_that_a_second_round_confirmed_is_not_cleared(
    summary: Build, judged: Judged
) -> None:
    assert starting(summary(judged(SAME, (9000,) * 3, (9000,) * 3)), "cleared") == []


def test_waived_cases_are_listed_with_their_reasons(summary: Build) -> None:
    one = summary(with_status(Status.SLOWER), waived={"a": "until the new driver"})

    assert "waived: a: until the new driver" in one.lines()


@pytest.mark.parametrize(
    ("outcome", "told"), [(Outcome.WARN, 1), (Outcome.PASS, 0), (Outcome.FAIL, 0)]
)
@pytest.mark.parametrize("status", sorted(set(Status) - {Status.FASTER, Status.STALE}))
def test_a_verdict_that_only_warns_is_told_with_its_remedy(
    summary: Build, status: Status, outcome: Outcome, told: int
) -> None:
    one = summary(with_status(status), policy=Policy(((status, outcome),)))

    assert starting(one, f"a: {status.value}: a reason") == [f"a: {status.value}: a reason"] * told


def test_many_warnings_are_counted_and_not_all_listed(summary: Build) -> None:
    doubtful = [with_status(Status.INCONCLUSIVE, f"c{n}") for n in range(MOST_LISTED + 2)]

    one = summary(*doubtful)

    assert len([line for line in one.lines() if ": inconclusive: " in line]) == MOST_LISTED
    assert "and 2 more warnings: see the table" in one.lines()


def test_a_gain_is_told_once(summary: Build, judged: Judged) -> None:
    lines = summary(judged((9000,) * 3, SAME, SAME)).lines()

    assert len([line for line in lines if ": faster by " in line]) == 1


def test_a_run_that_saves_does_not_ask_for_a_save(summary: Build, judged: Judged) -> None:
    lines = summary(judged((9000,) * 3, SAME, SAME), save=True).lines()

    assert [line for line in lines if "--rmsperf-save" in line] == []


# ---- orderings and the other build -----------------------------------------------------------


def test_each_ordering_has_a_line(summary: Build) -> None:
    ordering = Ordering(FIRST, SECOND, ratio=1.5)
    found = results(ordered=[Ordered(ordering, OrderStatus.HOLDS, (2.0, 2.1, 2.2))])

    assert starting(summary(results=found), "holds") == [
        (
            f"holds: {SECOND.id} takes 2.10 times the host completion of {FIRST.id}, stated is at "
            "least 1.50"
        )
    ]


def test_kernels_that_cost_otherwise_than_the_other_commits_are_told(
    summary: Build, checked: Callable[..., CheckedCase]
) -> None:
    launch = KernelLaunch("row", 8, 256, ())
    now, before = (checked(FIRST.id, n, launch) for n in (2, 4))
    other = OtherBuild("HEAD", "1a2b3c4", {}, {}, ())
    report = CaseReport(now, None, None, None, None, None, before)

    one = summary(results=results(other=other), reports=[report])

    assert starting(one, "resources") == [f"resources: {FIRST.id}: 4 -> 2 blocks per SM"]


def test_kernels_whose_cost_has_a_verdict_are_not_told_of_twice(
    summary: Build, checked: Callable[..., CheckedCase]
) -> None:
    launch = KernelLaunch("row", 8, 256, ())
    now, before = (checked(FIRST.id, n, launch) for n in (2, 4))
    other = OtherBuild("HEAD", "1a2b3c4", {}, {}, ())
    found = ArchVerdict(
        "sm_90", Status.COSTLIER, (CostFinding(("NVIDIA H200",), "4 -> 2"),), (), None, None
    )
    cost = CostVerdict(FIRST.id, (found,), (), is_paired=True)
    report = CaseReport(now, None, None, None, None, None, before, cost)

    one = summary(results=results(other=other), reports=[report])

    assert starting(one, "resources") == []


def test_cases_that_the_tree_no_longer_has_are_told(summary: Build) -> None:
    other = OtherBuild("HEAD", "1a2b3c4", {}, {}, ("op/old-graph/1",))

    assert starting(summary(results=results(other=other)), "gone") == [
        "gone since 1a2b3c4: 1 case: op/old-graph/1"
    ]
