"""From a campaign to the verdicts on its cases and orderings, and to what a second round is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rmsperf.against import OtherBuild
from pytest_rmsperf.assembly import Assembler
from pytest_rmsperf.campaign import Campaign, Selection
from pytest_rmsperf.cases import Case
from pytest_rmsperf.costing import Checks, Costing
from pytest_rmsperf.environment import Provenance
from pytest_rmsperf.judge.cost import CostVerdict
from pytest_rmsperf.judge.ordering import Ordered, Ordering, judge_ordering, session_ratio
from pytest_rmsperf.judge.thresholds import Thresholds
from pytest_rmsperf.judge.verdict import Verdict, judge, judge_paired
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Findings:
    """The verdicts by case id, on latencies and on static costs, and the orderings by theirs.

    `checks` are what the costs were judged by: every case against the devices of interest.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    ordered: dict[str, Ordered] = field(default_factory=dict)
    costs: dict[str, CostVerdict] = field(default_factory=dict)
    checks: dict[str, Checks] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judging:
    """What cases are held against: stored figures, or another build, and thresholds by case id."""

    selection: Selection
    protocol: Protocol
    provenance: Provenance
    thresholds: Mapping[str, Thresholds]
    baselines: Mapping[str, Measurement]
    costing: Costing = field(default_factory=Costing)
    other: OtherBuild | None = None
    orderings: Sequence[Ordering] = ()

    def judge(self, campaign: Campaign) -> Findings:
        """Judge the cost of every case, each latency that is asked for and each ordering.

        Without a device nothing was timed, so that only costs have a verdict.
        """
        checks = self.costing.checks(campaign, self.selection.cases)
        costs = self.costing.judge(campaign, checks)
        if campaign.machine.device is None:
            return Findings(costs=costs, checks=checks)
        sound = [
            one
            for one in self.selection.cases
            if one.id in self.selection.with_latency and one.id not in campaign.failures
        ]
        assembler = self.assembler(campaign)
        return Findings(
            {one.id: self._verdict(one, campaign, assembler) for one in sound},
            {one.id: found for one in self.orderings if (found := _ordered(one, campaign))},
            costs,
            checks,
        )

    def assembler(self, campaign: Campaign) -> Assembler:
        """Return what makes measurements of this campaign's sessions."""
        return Assembler(campaign, self.protocol, self.provenance)

    def unsettled(self, findings: Findings) -> tuple[tuple[Case, ...], int]:
        """Return the cases that a second round would settle, and of how many sessions."""
        more = {one.case_id: one.more_sessions for one in findings.verdicts.values()}
        for one in findings.ordered.values():
            for case in (one.ordering.fast, one.ordering.slow):
                more[case.id] = max(more.get(case.id, 0), one.more_sessions)
        cases = tuple(one for one in self.selection.cases if more.get(one.id))
        return cases, max(more.values(), default=0)

    def _verdict(self, case: Case, campaign: Campaign, assembler: Assembler) -> Verdict:
        thresholds = self.thresholds[case.id]
        if self.other is None:
            baseline = self.baselines.get(case.id)
            return judge(case.id, assembler.rounds(case), baseline, thresholds)
        other, why = self._other(case, campaign)
        theirs = assembler.measurement(other) if other is not None else None
        rounds = assembler.rounds(case, other)
        return judge_paired(case.id, rounds, theirs, thresholds, missing=why)

    def _other(self, case: Case, campaign: Campaign) -> tuple[Case | None, str]:
        """Return the case of the other build, or why there is none to compare with."""
        assert self.other is not None
        other = self.other.cases.get(case.id)
        if other is None:
            return None, self.other.missing.get(case.id, f"{self.other.commit} has no such case")
        failure = campaign.failures.get(other.id)
        if failure is None:
            return other, ""
        return None, f"the one of {other.origin} fails here: {failure.message.splitlines()[0]}"


def _ordered(ordering: Ordering, campaign: Campaign) -> Ordered | None:
    """Judge an ordering by the sessions that timed both of its cases; None when there are none.

    One of whose cases failed, be it in the last session, has no answer either.
    """
    if {ordering.fast.id, ordering.slow.id} & campaign.failures.keys():
        return None
    asked = (ordering.fast.id, ordering.slow.id)
    rounds = [
        [one for one in sessions if all(case_id in one.samples for case_id in asked)]
        for sessions in campaign.rounds
    ]
    timed = [one for one in rounds if one]
    if not timed:
        return None
    ratios = [
        [session_ratio(ordering, *(one.samples[case_id] for case_id in asked)) for one in sessions]
        for sessions in timed
    ]
    reasons = (one.why_unfit(*asked) for sessions in timed for one in sessions)
    return judge_ordering(ordering, *ratios, unfit=next((one for one in reasons if one), None))
