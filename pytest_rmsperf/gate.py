"""The gate of one pytest run: answers what its tests ask, keeps the accounts, and saves.

It knows settings, records and files, and nothing of pytest's hooks; the plugin knows hooks and
little else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.accounting import Ran
from pytest_rmsperf.campaign import Instrument
from pytest_rmsperf.checks import Machine
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.ending import Ending
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import GateFailure, SettingError
from pytest_rmsperf.inquiry import Inquiry
from pytest_rmsperf.judge.policy import Outcome, Status
from pytest_rmsperf.questions import Question, asked_by
from pytest_rmsperf.report.header import header
from pytest_rmsperf.report.messages import order_message
from pytest_rmsperf.report.records import CaseReport, Finding
from pytest_rmsperf.report.run_file import RunFile
from pytest_rmsperf.reporting import Reporter, unasked_report
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.stale import remove_stale, stale_cases, stale_message
from pytest_rmsperf.storing.static_store import StaticStore

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays, Case
    from pytest_rmsperf.environment import DeviceRecord
    from pytest_rmsperf.judge.ordering import Ordered, Ordering
    from pytest_rmsperf.problem import Problem

Say = Callable[[str], None]

NOT_MEASURED = (
    "not measured: no session timed both cases of this ordering\n"
    "measure again with: pytest --rmsperf --lf"
)


class Gate:
    """State of one run; made when the gate is on, closed when the session ends.

    `selector` is what the command line says of which tests to run: a case that it names may be
    saved though it got slower or costs more.
    """

    def __init__(
        self, settings: Settings, instrument: Instrument, root: Path, *, selector: str = ""
    ) -> None:
        self.settings = settings
        self.store = BaselineStore(settings.baselines, settings.protocol.cache)
        self.static_store = StaticStore(settings.baselines)
        self._instrument = instrument
        self._root = root
        self._ending = Ending(Reporter(settings, self.store, selector))
        self._notes: list[str] = []  # what was removed, or only warns, for the end of the run
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
        return header(
            self.machine(),
            arch=settings.arch,
            settings=settings.describe(),
            devices=settings.devices,
            is_static=settings.static,
        )

    def run(self, questions: Sequence[Question], say: Say) -> None:
        """Measure everything the selected tests ask about, and judge it."""
        asked = asked_by(questions)
        if not asked.selection.cases:
            return
        reporter = replace(self._ending.reporter, said=asked.said)
        self._ending = Ending(reporter, asked)
        self.machine()
        self._run_file.open_folder(self._root)
        inquiry = Inquiry(self.settings, self._instrument, self.store, self._root, self._run_file)
        results = inquiry.answer(asked, say)
        reports = {one.id: reporter.report(one, results) for one in asked.selection.cases}
        self._ending = Ending(reporter, asked, results, reports)

    # ---- what tests ask ---------------------------------------------------------------------

    def report(self, case: Case) -> CaseReport:
        """Return the report of a case; one that was not part of the campaign says so."""
        return self._ending.reports.get(case.id) or unasked_report(case)

    def ordered(self, ordering: Ordering) -> Finding[Ordered]:
        """Return whether an ordering holds; a failure of one of its cases is its own too."""
        for case in (ordering.fast, ordering.slow):
            failure = self.report(case).failure
            if failure is not None:
                return Finding(None, failure=failure.message)
        results = self._ending.results
        found = results.findings.ordered.get(ordering.id) if results else None
        if found is None:
            why_not = self.machine().why_not_timed
            return Finding(None, not_run=why_not, failure=None if why_not else NOT_MEASURED)
        return Finding(found, failure=order_message(found, self.settings.policy))

    def device(self) -> Finding[DeviceRecord]:
        """Return the device this run measures on."""
        machine = self.machine()
        return Finding(machine.device, not_run=machine.why_not_timed)

    def completions_ns(self, case_id: str) -> tuple[int, ...]:
        """Return the host completion samples of all sessions of a case, in order."""
        results = self._ending.results
        sessions = results.campaign.sessions if results else ()
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
        stale = stale_cases([self.store, self.static_store], known)
        if stale and self.settings.save:
            self._notes += remove_stale(stale)
        elif stale:
            self._tell_stale(stale_message(stale, known, test))

    def _tell_stale(self, message: str) -> None:
        outcome = self.settings.policy.outcome(Status.STALE)
        if outcome is Outcome.FAIL:
            raise GateFailure(message)
        if outcome is Outcome.WARN:
            self._notes += message.splitlines()

    @property
    def inapplicable(self) -> frozenset[str]:
        """The cases whose static cost is asked for and that no device of interest is meant for."""
        return self._ending.cost_account.inapplicable

    # ---- after the tests --------------------------------------------------------------------

    def settle(self, ran: Ran) -> None:
        """Take note of what became of the tests, and store what this run is to store."""
        self._ending = self._ending.settled(ran)

    def abandon(self) -> None:
        """Take note that the run was broken off: of it nothing is stored."""
        self._ending = self._ending.broken_off()

    def summary(self, *, passed: bool) -> list[str]:
        """Lines for the end of the run: tables, what was stored, and what was compared."""
        return self._ending.summary(passed=passed, notes=self._notes)

    def complaint(self) -> str | None:
        """Return why the run must not end green though every test passed, or None."""
        return self._ending.complaint()

    def close(self) -> None:
        """Release the machine."""
        self._instrument.close()
