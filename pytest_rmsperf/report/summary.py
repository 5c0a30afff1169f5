"""The end of a run: the table, and below it what must not be overlooked, the account last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rmsperf.accounting import Account
from pytest_rmsperf.assembly import resources_of
from pytest_rmsperf.cost_accounting import CostAccount
from pytest_rmsperf.inquiry import Results
from pytest_rmsperf.judge.cost_differences import resource_differences
from pytest_rmsperf.judge.health import conditions_of
from pytest_rmsperf.judge.policy import Outcome, Status
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.report.conditions import clocks_line
from pytest_rmsperf.report.messages import (
    counted,
    headline,
    odd_sessions,
    percent,
    remedy,
)
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.report.static_summary import StaticSummary
from pytest_rmsperf.report.terminal import Column, numerics_line, row, table, unclaimed
from pytest_rmsperf.settings import Settings

MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything the end of a run tells of."""

    reports: tuple[CaseReport, ...]
    results: Results | None
    account: Account
    cost_account: CostAccount
    settings: Settings
    stored: tuple[str, ...]
    refused: str | None
    complaint: str | None

    def lines(self) -> list[str]:
        """Return the lines in order; an account ends them, but for a complaint."""
        findings = self.results.findings if self.results is not None else Findings()
        static = StaticSummary(findings, self.cost_account, self.settings)
        cost, is_alone = self.cost_account.line, self.settings.static
        lines = [*([] if is_alone else self._table()), *static.table()]
        lines += [] if is_alone else [*self._measured()]
        lines += [*static.lines(), *self.stored, *([self.refused] if self.refused else [])]
        lines += [*static.left_out(), *([cost] if cost is not None else [])]
        lines += [] if is_alone else [self.account.line]
        return [*lines, self.complaint] if self.complaint not in (None, self.refused) else lines

    def _table(self) -> list[str]:
        rows = [row(one) for one in self.reports]
        return table(rows, self._other_cache()) if rows else []

    def _measured(self) -> Iterator[str]:
        """Tell of what was launched and timed."""
        numerics = numerics_line(self.reports)
        yield from [numerics] if numerics else []
        yield from (*self._machine(), *self._cases(), *self._orderings(), *self._other_build())

    def _other_cache(self) -> Column | None:
        """Put beside the figures of a warm cache the stored ones of a cold one, or the reverse."""
        if self.results is None:
            return None
        is_warm = self.settings.protocol.cache is Cache.WARM
        return Column(f"stored {'cold' if is_warm else 'warm'}", self.results.other_cache_ns)

    def _verdicts(self) -> tuple[Verdict, ...]:
        return tuple(one.verdict for one in self.reports if one.verdict is not None)

    def _machine(self) -> Iterator[str]:
        """Tell of the clocks, of what was measured again, and of what the host decides."""
        if self.results is None:
            return
        clocks = clocks_line([conditions_of(one) for one in self.results.campaign.sessions])
        if clocks is not None:
            yield clocks
        again = self.results.campaign.set_aside
        if again:
            yield f"measured again: {counted(len(again), 'session')}: {again[0].why_unfit()}"
        bound = [one.case_id for one in self._verdicts() if _is_host_bound(one)]
        if bound:
            yield (
                f"host-bound (device time is less than half of host completion): "
                f"{counted(len(bound), 'case')}: {_few(bound)}"
            )

    def _cases(self) -> Iterator[str]:
        """Tell of alarms that a second round cleared, and of verdicts that only warn."""
        if not self.settings.save:  # which takes a second round of everything
            cleared = [_cleared(one) for one in self._verdicts() if one.cleared is not None]
            yield from _capped(cleared, "that were cleared")
        apart = [(one.case_id, odd) for one in self._verdicts() if (odd := odd_sessions(one))]
        lines = [f"apart: {case_id}: {odd}" for case_id, odd in apart]
        yield from _capped(lines, "cases with a session apart from the others")
        for case_id, reason in sorted(self.account.waived.items()):
            yield f"waived: {case_id}: {reason}"
        if self.settings.save:
            return
        yield from unclaimed(self.reports)
        warned = [one for one in self._verdicts() if self._is_warning(one)]
        for one in warned[:MOST_LISTED]:
            yield f"{one.case_id}: {headline(one)}"
            yield f"  {remedy(one)}"
        if warned[MOST_LISTED:]:
            yield f"and {len(warned) - MOST_LISTED} more warnings: see the table"

    def _is_warning(self, verdict: Verdict) -> bool:
        warns = self.settings.policy.outcome(verdict.status) is Outcome.WARN
        return warns and verdict.status is not Status.FASTER

    def _orderings(self) -> Iterator[str]:
        ordered = self.results.findings.ordered.values() if self.results else ()
        for one in ordered:
            yield str(one).splitlines()[0]

    def _other_build(self) -> Iterator[str]:
        """Tell what the other commit has that the tree lacks, and which kernels cost otherwise."""
        other = self.results.other if self.results else None
        if other is None:
            return
        for one in self.reports:
            before, after = resources_of(one.other), resources_of(one.checked)
            if before is None or after is None or _is_told(one):
                continue
            changed = ", ".join(resource_differences(before, after))
            if changed:
                yield f"resources: {one.case_id}: {changed}"
        if other.gone:
            cases = counted(len(other.gone), "case")
            yield f"gone since {other.commit}: {cases}: {_few(other.gone)}"


def _capped(lines: Sequence[str], what: str) -> Iterator[str]:
    """Yield the first lines, and how many more there are: a noisy host moves all cases at once."""
    yield from lines[:MOST_LISTED]
    if lines[MOST_LISTED:]:
        yield f"and {len(lines) - MOST_LISTED} more {what}"


def _is_told(report: CaseReport) -> bool:
    """Say whether the verdict on the cost of a case tells how its two builds differ."""
    cost = report.cost
    return cost is not None and cost.is_compared and cost.status is not Status.UNCHANGED


def _is_host_bound(verdict: Verdict) -> bool:
    return verdict.current is not None and verdict.current.is_host_bound


def _cleared(verdict: Verdict) -> str:
    return (
        f"cleared: {verdict.case_id}: the first round said {percent(verdict.cleared)}, "
        f"{counted(verdict.confirming, 'fresh session')} did not bear it out: {headline(verdict)}"
    )


def _few(names: Iterable[str]) -> str:
    found = list(names)
    return ", ".join(found[:MOST_LISTED]) + (" ..." if found[MOST_LISTED:] else "")
