"""From the results of a run to what each test is told of its case, and what fails it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import CheckedCase, Failure, Stage
from pytest_rmsperf.inquiry import Results
from pytest_rmsperf.judge.cost import CostVerdict
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.questions import Overrides, is_named
from pytest_rmsperf.report.cost_messages import cost_message
from pytest_rmsperf.report.messages import verdict_message
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.baselines import BaselineStore


@dataclass(frozen=True, slots=True)
class Reporter:
    """Makes the reports of cases.

    `selector` is what the command line says of which tests to run: a case that it names may be
    saved though it got slower or costs more. `said` is what markers say, by case id.
    """

    settings: Settings
    store: BaselineStore
    selector: str = ""
    said: Mapping[str, Overrides] = field(default_factory=dict)

    def report(self, case: Case, results: Results) -> CaseReport:
        """Return what is known of a case, with the messages that fail its tests."""
        campaign, findings = results.campaign, results.findings
        verdict, cost = findings.verdicts.get(case.id), findings.costs.get(case.id)
        other = results.other.cases.get(case.id) if results.other else None
        return CaseReport(
            checked=campaign.checked[case.id],
            failure=campaign.failures.get(case.id),
            verdict=verdict,
            latency_message=self._latency_message(case, verdict),
            not_timed=campaign.machine.why_not_timed,
            not_launched=campaign.machine.why_not_launched,
            other=campaign.checked.get(other.id) if other else None,
            cost=cost,
            cost_message=self._cost_message(case, cost),
        )

    def may_loosen(self, case: Case) -> bool:
        """Say whether the command line accepts that a case got slower or costs more."""
        return self.settings.accept_slower or self.is_named(case)

    def is_named(self, case: Case) -> bool:
        """Say whether the command line names a case, or its variant."""
        return is_named(case, self.selector)

    def waived(self, case_id: str) -> str | None:
        """Return why the latency of a case may be anything, if it may."""
        said = self.said.get(case_id)
        return said.waive if said is not None else None

    def _latency_message(self, case: Case, verdict: Verdict | None) -> str | None:
        """Return the text that fails the latency test, None when it is to pass.

        Saving accepts what was compared with nothing; a loss only where it is named.
        """
        if verdict is None or not self.settings.policy.fails(verdict.status):
            return None
        if self.waived(case.id) or self._saves(case, verdict.status):
            return None
        stored_on = self.store.devices_with(case.id) if verdict.status is Status.MISSING else ()
        return verdict_message(verdict, stored_on=stored_on, saves=self.settings.save)

    def _cost_message(self, case: Case, cost: CostVerdict | None) -> str | None:
        """Return the text that fails the test of a static cost, None when it is to pass."""
        if cost is None or self._saves(case, cost.status):
            return None
        return cost_message(cost, self.settings.policy, saves=self.settings.save)

    def _saves(self, case: Case, status: Status) -> bool:
        """Say whether this run is to accept a verdict: every change, and a loss that is named."""
        if not self.settings.save or status in (Status.INVALID, Status.VIOLATED):
            return False
        return status not in (Status.SLOWER, Status.COSTLIER) or self.may_loosen(case)


def unasked_report(case: Case) -> CaseReport:
    """Return the report of a case that no collected test asks about."""
    failure = Failure(Stage.COMPILE, f"not measured: no collected test asks for {case.id}")
    return CaseReport(CheckedCase(case.id), failure, None, None, None, None)
