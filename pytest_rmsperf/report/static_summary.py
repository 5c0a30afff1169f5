"""What the end of a run says of static costs: the devices of interest, and what only warns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_rmsperf.cost_accounting import CostAccount
from pytest_rmsperf.judge.cost import CostVerdict, cost_outcome
from pytest_rmsperf.judge.policy import Outcome
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.report.cost_messages import cost_headline, cost_remedy
from pytest_rmsperf.report.devices import device_table, tightest_line
from pytest_rmsperf.report.messages import counted
from pytest_rmsperf.settings import Settings

MOST_LISTED = 5


@dataclass(frozen=True, slots=True)
class StaticSummary:
    """The lines on static costs; cases of which the same is said share a line."""

    findings: Findings
    account: CostAccount
    settings: Settings

    def table(self) -> list[str]:
        """Return what every device of interest holds of every case, where that was asked for."""
        return device_table(tuple(self.findings.checks.items())) if self.settings.details else []

    def lines(self) -> Iterator[str]:
        """Yield the tightest plan of all, what no test fails for, and what was left out."""
        tightest = tightest_line(tuple(self.findings.checks.items()))
        yield from [tightest] if tightest is not None else []
        yield from self._notes()
        if not self.settings.save:  # which tells of what it accepts
            yield from self._warnings()

    def left_out(self) -> Iterator[str]:
        """Yield how many tests a static run cannot answer."""
        count = self.account.tests_left_out
        if count:
            were = (
                "test that launches or times something was"
                if count == 1
                else "tests that launch or time something were"
            )
            yield f"static only: {count} {were} deselected"

    def _warnings(self) -> Iterator[str]:
        """Yield two lines for each thing that warns, or that a deselected test would fail for."""
        told = _grouped((one, cost_headline(one)) for one in self._verdicts if self._warns(one))
        for headline, verdicts in list(told.items())[:MOST_LISTED]:
            yield f"{_cases(verdicts)}: {headline}"
            yield f"  {cost_remedy(verdicts[0])}"
        if len(told) > MOST_LISTED:
            yield f"and {len(told) - MOST_LISTED} more static warnings"

    def _warns(self, verdict: CostVerdict) -> bool:
        outcome = cost_outcome(verdict, self.settings.policy)
        return outcome is Outcome.WARN or (outcome is Outcome.FAIL and self._is_deselected(verdict))

    def _is_deselected(self, verdict: CostVerdict) -> bool:
        return verdict.case_id in self.account.deselected - self.account.asked

    def _notes(self) -> Iterator[str]:
        """Yield what differs of cases that did not change: all of it, or of how many."""
        noted = [
            (one, "; ".join(str(note) for arch in one.archs for note in arch.notes))
            for one in self._verdicts
            if cost_outcome(one, self.settings.policy) is not Outcome.FAIL
        ]
        told = _grouped((one, notes) for one, notes in noted if notes)
        if self.settings.details:
            yield from (f"noted: {_cases(verdicts)}: {notes}" for notes, verdicts in told.items())
        elif told:
            cases = sum(map(len, told.values()))
            yield (
                f"noted of {counted(cases, 'case')}: other code, which fails "
                "nothing; list it with --rmsperf-details"
            )

    @property
    def _verdicts(self) -> Iterable[CostVerdict]:
        return self.findings.costs.values()


def _grouped(told: Iterable[tuple[CostVerdict, str]]) -> dict[str, list[CostVerdict]]:
    found: dict[str, list[CostVerdict]] = {}
    for verdict, text in told:
        found.setdefault(text, []).append(verdict)
    return found


def _cases(verdicts: list[CostVerdict]) -> str:
    more = len(verdicts) - 1
    return verdicts[0].case_id + (f" and {counted(more, 'more case')}" if more else "")
