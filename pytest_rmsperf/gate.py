"""The gate of one pytest run: opens the instrument, runs the campaign, judges, and saves.

It knows settings, records and files, and nothing of pytest's hooks; the plugin knows hooks and
little else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.baselines import BaselineStore
from pytest_rmsperf.campaign import Campaign, Instrument, Selection, run_campaign
from pytest_rmsperf.checks import CheckedCase, Failure, Machine, Stage
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import GateFailure, RmsperfError, SettingError
from pytest_rmsperf.health import why_unfit_in
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.measurement import Measurement, Protocol
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.provenance import current_provenance
from pytest_rmsperf.report.header import header
from pytest_rmsperf.report.messages import verdict_message
from pytest_rmsperf.report.records import CaseReport, Finding
from pytest_rmsperf.report.run_file import RunFile
from pytest_rmsperf.report.terminal import Tally, numerics_line, row, table, tally, unclaimed
from pytest_rmsperf.saving import remove_stale, save_baselines, stale_cases, stale_message
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.supervisor import Deadlines
from pytest_rmsperf.verdict import Status, Thresholds, Verdict, judge

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays, Case
    from pytest_rmsperf.environment import DeviceRecord
    from pytest_rmsperf.problem import Problem

Say = Callable[[str], None]

NUMERICS_FIXTURE = "rmsperf_numerics"
LATENCY_FIXTURE = "rmsperf_latency"
UNANSWERED = "failed: nothing was compared, and {} asks for a GPU"


@dataclass(frozen=True, slots=True)
class Question:
    """What one test asks: its case, and the fixtures through which it asks."""

    case: Case
    fixtures: frozenset[str]


def default_instrument(settings: Settings, say: Say) -> Instrument:
    """Return the instrument that measures on this machine."""
    return WorkerInstrument(
        WorkerSettings(settings.arch, settings.usable_device, settings.schedules),
        Deadlines(step_s=settings.deadline_s),
        say,
    )


class Gate:
    """State of one run; made when the gate is on, closed when the session ends."""

    def __init__(self, settings: Settings, instrument: Instrument, root: Path) -> None:
        self.settings = settings
        self.store = BaselineStore(settings.baselines)
        self.reports: dict[str, CaseReport] = {}
        self.saved: list[str] = []
        self.removed: list[str] = []
        self.not_saved: str | None = None
        self._instrument = instrument
        self._root = root
        self._asked: frozenset[str] = frozenset()
        self._campaign: Campaign | None = None
        self._run_file = RunFile(settings.json)

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
        self._asked = selection.with_latency
        if not selection.cases:
            return
        machine = self.machine()
        baselines = self._baselines(selection, machine)
        self._run_file.open_folder(self._root)
        try:
            campaign = run_campaign(
                selection,
                self._instrument,
                protocol=Protocol(sessions=self.settings.sessions, blocks=self.settings.samples),
                provenance=current_provenance(self._root, machine.packages),
                say=say,
                keep=self._run_file.keep,
            )
        except KeyboardInterrupt:
            self._run_file.write_latest()
            raise
        self._campaign = campaign
        unfit = why_unfit_in(campaign.sessions)
        self.reports = {
            case.id: self._report(case, campaign, baselines.get(case.id), unfit)
            for case in selection.cases
        }
        self._run_file.write(campaign, self.reports.values())

    def _baselines(self, selection: Selection, machine: Machine) -> dict[str, Measurement]:
        """Read all baselines before anything is measured, so that a bad file stops the run."""
        if machine.device is None:
            return {}
        key = machine.device.identity.key
        stored: dict[str, Measurement] = {}
        for operator in {case.operator.name for case in selection.cases}:
            stored |= self.store.read(key, operator)
        return stored

    # ---- judging ----------------------------------------------------------------------------

    def _report(
        self, case: Case, campaign: Campaign, baseline: Measurement | None, unfit: str | None
    ) -> CaseReport:
        failure = campaign.failures.get(case.id)
        verdict = self._judge(case, campaign, baseline, unfit) if failure is None else None
        return CaseReport(
            checked=campaign.checked[case.id],
            failure=failure,
            verdict=verdict,
            latency_message=self._message(case, verdict),
            not_timed=campaign.machine.why_not_timed,
            not_launched=campaign.machine.why_not_launched,
        )

    def _judge(
        self, case: Case, campaign: Campaign, baseline: Measurement | None, unfit: str | None
    ) -> Verdict | None:
        if campaign.machine.device is None or case.id not in self._asked:
            return None
        thresholds = Thresholds(
            device_share=self.settings.threshold_percent / 100,
            completion_share=self.settings.completion_threshold_percent / 100,
        )
        current = campaign.measurements.get(case.id)
        return judge(case.id, current, baseline, thresholds, unfit=unfit)

    def _message(self, case: Case, verdict: Verdict | None) -> str | None:
        """Return the text that fails the latency test; saving accepts all but invalid figures."""
        if verdict is None or not verdict.fails:
            return None
        if self.settings.save and verdict.status is not Status.INVALID:
            return None
        return verdict_message(verdict, stored_on=self.store.devices(case.operator.name))

    # ---- what tests ask ---------------------------------------------------------------------

    def report(self, case: Case) -> CaseReport:
        """Return the report of a case; one that was not part of the campaign says so."""
        if case.id in self.reports:
            return self.reports[case.id]
        failure = Failure(Stage.COMPILE, f"not measured: no collected test asks for {case.id}")
        return CaseReport(CheckedCase(case.id), failure, None, None, None, None)

    def device(self) -> Finding[DeviceRecord]:
        """Return the device this run measures on."""
        machine = self.machine()
        return Finding(machine.device, not_run=machine.why_not_timed)

    def completions_ns(self, case_id: str) -> tuple[int, ...]:
        """Return the host completion samples of all sessions of a case, in order."""
        sessions = self._campaign.sessions if self._campaign else ()
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
        stale = stale_cases(self.store, cases)
        if stale and self.settings.save:
            self.removed += remove_stale(self.store, stale)
        elif stale:
            raise GateFailure(stale_message(self.store, stale, test))

    # ---- after the tests --------------------------------------------------------------------

    def try_to_save(self, cases: Iterable[Case]) -> None:
        """Save, or keep the reason why not for the summary, which it must not cost."""
        try:
            self.save(cases)
        except RmsperfError as error:
            self.not_saved = f"NOT SAVED: {error}"

    def save(self, cases: Iterable[Case]) -> None:
        """Accept the measurements of these cases; see `save_baselines`."""
        machine = self._campaign.machine if self._campaign is not None else None
        if machine is not None and machine.device is None and self._asked:
            raise RmsperfError(f"{machine.why_not_timed}; run it on the GPU: pytest --rmsperf-save")
        if self._campaign is not None:
            self.saved += save_baselines(self.store, self._campaign, self.reports, cases)

    def summary(self) -> list[str]:
        """Lines for the end of the run: the table, what was saved, and what was compared."""
        lines = table(row(one) for one in self.reports.values()) if self.reports else []
        red = [UNANSWERED.format(self.settings.gpu_asked_by)] if self.misses_the_gpu else []
        unsaved = [self.not_saved] if self.not_saved else []
        numerics = numerics_line(self.reports.values())
        checked = [numerics] if numerics else []
        faster = [] if self.settings.save else unclaimed(self.reports.values())
        saved = [*self.removed, *self.saved, *unsaved]
        return [*lines, *checked, *faster, *saved, self._tally().line, *red]

    @property
    def is_red(self) -> bool:
        """Whether the run must not end green, though every test passed."""
        return self.not_saved is not None or self.misses_the_gpu

    @property
    def misses_the_gpu(self) -> bool:
        """Whether a GPU was asked for, and yet no latency was compared on it or saved from it."""
        found = self._tally()
        answered = found.compared or self.saved
        return self.settings.require_gpu and found.asked > 0 and not answered

    def _tally(self) -> Tally:
        reports = [one for one in self.reports.values() if one.case_id in self._asked]
        why_not = self._campaign.machine.why_not_timed if self._campaign else None
        # A run that was interrupted has no reports, and yet was asked.
        return replace(tally(reports, why_not=why_not), asked=len(self._asked))

    def close(self) -> None:
        """Release the machine."""
        self._instrument.close()


def select(questions: Sequence[Question]) -> Selection:
    """Return the cases asked about, each once, and what is asked of them."""
    return Selection(
        cases=tuple({one.case.id: one.case for one in questions}.values()),
        with_numerics=frozenset(
            one.case.id for one in questions if NUMERICS_FIXTURE in one.fixtures
        ),
        with_latency=frozenset(one.case.id for one in questions if LATENCY_FIXTURE in one.fixtures),
    )
