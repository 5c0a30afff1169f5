"""The end of a run: what is stored of it, its accounts, and why it must not be green."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_rmsperf.acceptance import Accepted, broken_off, left_as_they_were, store_results
from pytest_rmsperf.accounting import UNANSWERED, Account, Ran
from pytest_rmsperf.cost_accounting import CostAccount
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.inquiry import Results
from pytest_rmsperf.questions import NOTHING, Asked
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.report.summary import Summary
from pytest_rmsperf.reporting import Reporter


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended.

    `results` are None where no test asked about a case, or the run was broken off. `stored` are
    lines on what was saved, `refused` says why nothing was, `unstored` are ids of cases that this
    run was to store and did not.
    """

    reporter: Reporter
    asked: Asked = NOTHING
    results: Results | None = None
    reports: Mapping[str, CaseReport] = field(default_factory=dict)
    ran: Ran = field(default_factory=Ran)
    stored: tuple[str, ...] = ()
    refused: str | None = None
    unstored: tuple[str, ...] = ()

    def settled(self, ran: Ran) -> Ending:
        """Store what this run is to store; a refusal is kept for the summary, and turns it red."""
        ended = replace(self, ran=ran)
        settings, results = self.reporter.settings, self.results
        if results is None or not settings.stores:
            return ended
        accepted = self._accepted(ran)
        try:
            stored = store_results(results, accepted, settings, self.reporter.store)
        except RmsperfError as error:
            ended = replace(ended, refused=f"NOT SAVED: {error}")
        else:
            ended = replace(ended, stored=tuple(stored))
        return replace(ended, unstored=tuple(sorted(self._unstored(ran))))

    def broken_off(self) -> Ending:
        """Take note that the run did not come to its end: of it nothing is stored."""
        settings = self.reporter.settings
        if self.results is None or not settings.stores:
            return self
        return replace(self, refused=broken_off(settings))

    def _accepted(self, ran: Ran) -> Accepted:
        cases = self.asked.selection.cases
        latencies, costs = self.asked.with_latency & ran.passed, self._costs & ran.static_passed
        return Accepted(
            latencies=tuple(one for one in cases if one.id in latencies),
            costs=tuple(one for one in cases if one.id in costs),
            named=frozenset(one.id for one in cases if self.reporter.is_named(one)),
            not_passed=ran.not_passed,
        )

    @property
    def _costs(self) -> frozenset[str]:
        """The cases whose cost this run is to store: a calibration stores none."""
        return self.asked.with_static if self.reporter.settings.save else frozenset()

    def _unstored(self, ran: Ran) -> frozenset[str]:
        latencies = self.asked.with_latency - ran.passed
        waived = {one for one in latencies if self.reporter.waived(one)}
        inapplicable = self.cost_account.inapplicable
        return (latencies - waived) | (self._costs - ran.static_passed - inapplicable)

    # ---- what is told ------------------------------------------------------------------------

    @property
    def account(self) -> Account:
        """What became of every latency asked for."""
        settings, results = self.reporter.settings, self.results
        machine = results.campaign.machine if results is not None else None
        return Account(
            asked=self.asked.with_latency,
            verdicts=results.findings.verdicts if results is not None else {},
            failed=self._failed,
            waived={k: one.waive for k, one in self.asked.said.items() if one.waive},
            passed=self.ran.passed,
            policy=settings.policy,
            deselected=self.ran.deselected,
            last_failed=settings.last_failed,
            why_not=machine.why_not_timed if machine is not None else None,
        )

    @property
    def cost_account(self) -> CostAccount:
        """What became of every static cost."""
        settings, results = self.reporter.settings, self.results
        return CostAccount(
            asked=self.asked.with_static,
            verdicts=results.findings.costs if results is not None else {},
            checked=frozenset(results.campaign.checked) if results is not None else frozenset(),
            failed=self._failed,
            passed=self.ran.static_passed,
            deselected=self.ran.static_deselected,
            policy=settings.policy,
            devices=settings.devices,
            is_alone=settings.static,
            is_of_cases=bool(self.asked.selection.cases),
            tests_left_out=self.ran.beyond_static,
            last_failed=settings.last_failed,
        )

    @property
    def _failed(self) -> frozenset[str]:
        return frozenset(k for k, one in self.reports.items() if one.failure is not None)

    def summary(self, *, passed: bool, notes: Sequence[str]) -> list[str]:
        """Lines for the end of the run: tables, what was stored, and what was compared."""
        return Summary(
            reports=tuple(self.reports.values()),
            results=self.results,
            account=self.account,
            cost_account=self.cost_account,
            settings=self.reporter.settings,
            stored=(*notes, *self.stored),
            refused=self.refused,
            complaint=self.complaint() if passed else None,
        ).lines()

    def complaint(self) -> str | None:
        """Return why the run must not end green though every test passed, or None."""
        return self.refused or "\n".join(self._complaints()) or None

    def _complaints(self) -> Iterator[str]:
        settings, account = self.reporter.settings, self.account
        saved = settings.save and self.stored
        if settings.require_gpu and account.asked and not account.compared and not saved:
            yield UNANSWERED.format(settings.gpu_asked_by)
            return
        found = account.complaint() if self.results is not None and not settings.stores else None
        if settings.stores:
            found = left_as_they_were(self.unstored, account.asked | self._costs)
        yield from [found] if found is not None else []
        yield from self.cost_account.complaints(saves=settings.save)
