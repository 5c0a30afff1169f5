"""The gate of one pytest run: answers what its tests ask, keeps the account, and saves.

It knows settings, records and files, and nothing of pytest's hooks; the plugin knows hooks and
little else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.acceptance import broken_off, left_as_they_were, store_results
from pytest_rmsperf.accounting import UNANSWERED, Account
from pytest_rmsperf.campaign import Instrument
from pytest_rmsperf.checks import CheckedCase, Failure, Machine, Stage
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import GateFailure, RmsperfError, SettingError
from pytest_rmsperf.inquiry import Inquiry, Results
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.judge.policy import Outcome, Status
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.questions import (
    Overrides,
    Question,
    is_named,
    orderings_of,
    overrides_of,
    select,
)
from pytest_rmsperf.report.header import header
from pytest_rmsperf.report.messages import order_message, verdict_message
from pytest_rmsperf.report.records import CaseReport, Finding
from pytest_rmsperf.report.run_file import RunFile
from pytest_rmsperf.report.summary import Summary
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.saving import missing_cases, remove_stale, stale_cases, stale_message
from pytest_rmsperf.supervisor import Deadlines

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays, Case
    from pytest_rmsperf.environment import DeviceRecord
    from pytest_rmsperf.judge.ordering import Ordered, Ordering
    from pytest_rmsperf.judge.verdict import Verdict
    from pytest_rmsperf.problem import Problem

Say = Callable[[str], None]


def default_instrument(settings: Settings, say: Say) -> Instrument:
    """Return the instrument that measures on this machine."""
    return WorkerInstrument(
        WorkerSettings(settings.arch, settings.usable_device, settings.schedules),
        Deadlines(step_s=settings.deadline_s),
        say,
    )


class Gate:
    """State of one run; made when the gate is on, closed when the session ends.

    `selector` is what the command line says of which tests to run: a case that it names may be
    saved though it got slower.
    """

    def __init__(
        self, settings: Settings, instrument: Instrument, root: Path, *, selector: str = ""
    ) -> None:
        self.settings = settings
        self.store = BaselineStore(settings.baselines, settings.protocol.cache)
        self.reports: dict[str, CaseReport] = {}
        self._instrument = instrument
        self._root = root
        self._selector = selector
        self._asked: frozenset[str] = frozenset()
        self._said: dict[str, Overrides] = {}
        self._results: Results | None = None
        self._stored: list[str] = []  # what was saved or removed, for the end of the run
        self._notes: list[str] = []
        self._refused: str | None = None
        self._unstored: list[str] = []  # cases that this run was to store, and did not
        self._passed: frozenset[str] = frozenset()
        self._deselected = 0
        self._run_file = RunFile(settings)

    # ---- before the tests -------------------------------------------------------------------

    def machine(self) -> Machine:
        """Describe the machine; SettingError when it is not the one that was asked for."""
        machine = self._instrument.machine()
        expected, why = self.settings.expect_gpu, machine.why_not_timed
        found = machine.device.identity.name if machine.device else why
        if expected is not None and found != expected:
            raise SettingError(
                f"--rmsperf-expect-gpu={expected}: this machine has {found}; run on the machine "
                "that was meant, or correct the name"
            )
        if self.settings.device is DeviceChoice.EMULATED and machine.emulated is None:
            raise SettingError(f"--rmsperf-device=emulated: {machine.why_no_emulation}")
        if machine.device is None:
            profile_for_arch(self.settings.arch)  # an arch without a profile is refused here
        return machine

    def header(self) -> list[str]:
        """Lines for the report header: the device, and the settings in force."""
        settings = self.settings
        return header(self.machine(), arch=settings.arch, settings=settings.describe())

    def run(self, questions: Sequence[Question], say: Say) -> None:
        """Measure everything the selected tests ask about, and judge it."""
        selection = select(questions)
        self._asked, self._said = selection.with_latency, overrides_of(questions)
        if not selection.cases:
            return
        self.machine()
        self._run_file.open_folder(self._root)
        inquiry = Inquiry(self.settings, self._instrument, self.store, self._root, self._run_file)
        results = inquiry.answer(selection, orderings_of(questions), self._said, say)
        self._results = results
        self.reports = {one.id: self._report(one, results) for one in selection.cases}

    # ---- judging ----------------------------------------------------------------------------

    def _report(self, case: Case, results: Results) -> CaseReport:
        campaign, verdict = results.campaign, results.findings.verdicts.get(case.id)
        other = results.other.cases.get(case.id) if results.other else None
        return CaseReport(
            checked=campaign.checked[case.id],
            failure=campaign.failures.get(case.id),
            verdict=verdict,
            latency_message=self._message(case, verdict),
            not_timed=campaign.machine.why_not_timed,
            not_launched=campaign.machine.why_not_launched,
            other=campaign.checked.get(other.id) if other else None,
        )

    def _message(self, case: Case, verdict: Verdict | None) -> str | None:
        """Return the text that fails the latency test, None when it is to pass.

        Saving accepts what was compared with nothing; a loss only where it is named.
        """
        if verdict is None or not self.settings.policy.fails(verdict.status):
            return None
        if self._waived(case.id) or (self.settings.save and self._accepts(case, verdict)):
            return None
        stored_on = self.store.devices_with(case.id) if verdict.status is Status.MISSING else ()
        return verdict_message(verdict, stored_on=stored_on, saves=self.settings.save)

    def _accepts(self, case: Case, verdict: Verdict) -> bool:
        if verdict.status is Status.SLOWER:
            return self.settings.accept_slower or is_named(case, self._selector)
        return verdict.status is not Status.INVALID

    def _waived(self, case_id: str) -> str | None:
        said = self._said.get(case_id)
        return said.waive if said is not None else None

    # ---- what tests ask ---------------------------------------------------------------------

    def report(self, case: Case) -> CaseReport:
        """Return the report of a case; one that was not part of the campaign says so."""
        if case.id in self.reports:
            return self.reports[case.id]
        failure = Failure(Stage.COMPILE, f"not measured: no collected test asks for {case.id}")
        return CaseReport(CheckedCase(case.id), failure, None, None, None, None)

    def ordered(self, ordering: Ordering) -> Finding[Ordered]:
        """Return whether an ordering holds; a failure of one of its cases is its own too."""
        for case in (ordering.fast, ordering.slow):
            failure = self.report(case).failure
            if failure is not None:
                return Finding(None, failure=failure.message)
        found = self._results.findings.ordered.get(ordering.id) if self._results else None
        if found is None:
            return Finding(None, not_run=self.machine().why_not_timed or "it was not measured")
        return Finding(found, failure=order_message(found, self.settings.policy))

    def device(self) -> Finding[DeviceRecord]:
        """Return the device this run measures on."""
        machine = self.machine()
        return Finding(machine.device, not_run=machine.why_not_timed)

    def completions_ns(self, case_id: str) -> tuple[int, ...]:
        """Return the host completion samples of all sessions of a case, in order."""
        sessions = self._results.campaign.sessions if self._results else ()
        found = (one.samples[case_id] for one in sessions if case_id in one.samples)
        return tuple(ns for samples in found for ns in samples.completion_ns)

    def launch(
        self, case: Case, inputs: Arrays, *, problem: Problem | None = None
    ) -> Finding[Arrays]:
        """Launch a case once on inputs of the caller's and return its outputs.

        Also on the emulated device, and there too on the very problem that is asked for.
        """
        why_not = self.machine().why_not_launched
        if why_not is not None:
            return Finding(None, not_run=why_not)
        return Finding(self._instrument.launch(case, problem or case.problem, inputs))

    def require_no_stale(self, cases: Iterable[Case], *, test: str) -> None:
        """Raise GateFailure when a baseline holds a case that is not among `cases`.

        Where this run saves, such cases are removed instead, and shown. `test` is the name of the
        test that asks, for the command that removes them.
        """
        if self.settings.against is not None:
            return  # stored figures are not looked at
        known = list(cases)
        stale = stale_cases(self.store, known)
        if stale and self.settings.save:
            self._stored += remove_stale(self.store, stale)
        elif stale:
            missing = missing_cases(self.store, known)
            self._tell_stale(stale_message(self.store, stale, test, missing))

    def _tell_stale(self, message: str) -> None:
        outcome = self.settings.policy.outcome(Status.STALE)
        if outcome is Outcome.FAIL:
            raise GateFailure(message)
        if outcome is Outcome.WARN:
            self._notes += message.splitlines()

    # ---- after the tests --------------------------------------------------------------------

    def settle(self, passed: Collection[str], *, not_passed: int, deselected: int) -> None:
        """Take note of what became of the tests: the cases whose tests all passed, and counts.

        Stores what this run is to store; a refusal is kept for the summary, and turns it red.
        """
        self._passed, self._deselected = frozenset(passed), deselected
        if self._results is None or not self.settings.stores:
            return
        cases = [one for one in self._results.selection.cases if one.id in self._asked]
        accepted = [one for one in cases if one.id in self._passed]
        named = frozenset(one.id for one in accepted if is_named(one, self._selector))
        try:
            self._stored += store_results(
                self._results, accepted, self.settings, self.store, named, not_passed=not_passed
            )
        except RmsperfError as error:
            self._refused = f"NOT SAVED: {error}"
        kept = self._passed | {one.id for one in cases if self._waived(one.id)}
        self._unstored = sorted(one.id for one in cases if one.id not in kept)

    def abandon(self) -> None:
        """Take note that the run was broken off: of it nothing is stored."""
        if self._results is not None and self.settings.stores:
            self._refused = broken_off(self.settings)

    @property
    def account(self) -> Account:
        """What became of every latency asked for."""
        results, reports = self._results, self.reports
        machine = results.campaign.machine if results else None
        return Account(
            asked=self._asked,
            verdicts=results.findings.verdicts if results else {},
            failed=frozenset(k for k, one in reports.items() if one.failure is not None),
            waived={k: one.waive for k, one in self._said.items() if one.waive},
            passed=self._passed,
            policy=self.settings.policy,
            deselected=self._deselected,
            last_failed=self.settings.last_failed,
            why_not=machine.why_not_timed if machine else None,
        )

    def summary(self, *, passed: bool) -> list[str]:
        """Lines for the end of the run: tables, what was stored, and what was compared."""
        return Summary(
            reports=tuple(self.reports.values()),
            results=self._results,
            account=self.account,
            settings=self.settings,
            stored=(*self._notes, *self._stored),
            refused=self._refused,
            complaint=self.complaint() if passed else None,
        ).lines()

    def complaint(self) -> str | None:
        """Return why the run must not end green though every test passed, or None."""
        if self._refused is not None:
            return self._refused
        account = self.account
        saved = self.settings.save and self._stored
        if self.settings.require_gpu and account.asked and not account.compared and not saved:
            return UNANSWERED.format(self.settings.gpu_asked_by)
        if self._results is None:
            return None
        if self.settings.stores:
            return left_as_they_were(self._unstored, account.asked)
        return account.complaint()

    def close(self) -> None:
        """Release the machine."""
        self._instrument.close()
