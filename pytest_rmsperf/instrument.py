"""The instrument that measures for real: worker processes under supervision.

One worker checks the cases, with torch beside it; several compile ahead for it, and each session of
timing has a fresh one. A case that hangs or crashes its worker costs itself alone: a fresh worker
goes on with the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import (
    CheckedCase,
    Failure,
    Machine,
    SessionResult,
    Stage,
    TimedSession,
)
from pytest_rmsperf.crew import HandProcess, crew_size, work_off
from pytest_rmsperf.environment import DeviceChoice, DeviceState
from pytest_rmsperf.errors import GateFailure, RmsperfError
from pytest_rmsperf.messages import (
    Check,
    Chore,
    Describe,
    Launch,
    Measure,
    Outstanding,
    Progress,
    ReadState,
    WorkerSettings,
)
from pytest_rmsperf.supervisor import Deadlines, Loss, LostCase, WorkerProcess

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays
    from pytest_rmsperf.problem import Problem
    from pytest_rmsperf.protocol import Protocol

Say = Callable[[str], None]

LOCK_SECONDS = 1800.0
MEND = "mend what the message names, then: pytest --rmsperf --lf"
SANITIZE = "run the case alone under compute-sanitizer to find the access or the barrier at fault"
SLOW_OR_ENDLESS = (
    "find the loop that never ends; a kernel that is only slow to emulate needs a smaller problem "
    "(emulate_as of the operator) or more time: --rmsperf-deadline=SECONDS"
)
DEAD_EMULATOR = (
    "if it was killed for want of memory, let a smaller problem stand in (emulate_as of the "
    "operator); else the emulated device is at fault: report it with the kernel"
)
ON_CUDA = {Loss.DEVICE: SANITIZE, Loss.SILENCE: SANITIZE, Loss.CRASH: SANITIZE}
EMULATED = {Loss.SILENCE: SLOW_OR_ENDLESS, Loss.CRASH: DEAD_EMULATOR}
_STAGES = {stage.value: stage for stage in Stage}


class WorkerInstrument:
    """Checks and measures in workers; holds a lock on the device as long as it is open."""

    def __init__(self, settings: WorkerSettings, deadlines: Deadlines, say: Say) -> None:
        self._settings = settings
        self._deadlines = deadlines
        self._say = say
        self._worker: WorkerProcess | None = None
        self._machine: Machine | None = None
        self._lock: FileLock | None = None

    def start(self) -> None:
        """Start the worker that checks, and do not wait for it."""
        self._checking_worker()

    def machine(self) -> Machine:
        """Ask a worker what there is; it stays to check the cases."""
        if self._machine is None:
            self._machine = cast("Machine", self._checking_worker().ask(Describe()))
            self._settings = _holding_to(self._machine, self._settings)
            if self._machine.device is not None:
                self._lock = self._locked(self._machine.device.uuid)
        return self._machine

    def prepare(self, cases: Sequence[Case], say: Say) -> None:
        """Compile and disassemble into the caches, in as many workers as it is worth.

        What cannot be made is met again by the check of its case, which tells it.
        """
        chores = self._outstanding(cases)
        size = crew_size(chores, len(os.sched_getaffinity(0)))
        if size:
            work_off(chores, size, self._new_hand, say)

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:
        """Check one case; a lost worker is its failure, and the next case gets a new one."""
        request = Check(case.reference, numerics)
        progress = _Steps(say)
        try:
            checked = cast("CheckedCase", self._checking_worker().ask(request, progress))
        except LostCase as lost:
            self._discard_worker()
            if not lost.case_id:
                raise RmsperfError(f"no case can be checked here: {lost}") from lost
            failure = self._failure(lost, case.id, progress.stage)
            return replace(self._known_before(case, progress.stage, say), failure=failure)
        if checked.failure is not None and checked.failure.fatal:
            self._discard_worker()
        return checked

    def _known_before(self, case: Case, stage: Stage, say: Say) -> CheckedCase:
        """Find again what a lost worker knew of a case: all that no launch is needed for."""
        if stage is not Stage.NUMERICS:
            return CheckedCase(case.id)
        return self.check(case, say, numerics=False)

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        """Run one session; after a lost case the session starts again without it."""
        self._discard_worker()
        remaining, failures = list(cases), dict[str, Failure]()
        while remaining:
            try:
                return self._session(remaining, protocol, failures, _Steps(say))
            except LostCase as lost:
                culprit = lost.case_id
                if culprit not in {case.id for case in remaining}:
                    raise RmsperfError(f"no session can be measured here: {lost}") from lost
                failures[culprit] = self._failure(lost, culprit, Stage.TIME)
                remaining = [case for case in remaining if case.id != culprit]
        return SessionResult(TimedSession({}), failures)

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:
        """Launch once in the checking worker; GateFailure says why not, or how it was lost."""
        request = Launch(case.reference, problem, dict(inputs))
        try:
            return cast("Arrays", self._checking_worker().ask(request))
        except LostCase as lost:
            if lost.loss in (Loss.VERDICT, Loss.REFUSAL):
                raise GateFailure(str(lost)) from lost
            self._discard_worker()
            raise GateFailure(self._failure(lost, case.id, Stage.NUMERICS).message) from lost

    def close(self) -> None:
        """End the worker and give the device free."""
        self._discard_worker()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _outstanding(self, cases: Sequence[Case]) -> tuple[Chore, ...]:
        request = Outstanding(tuple(case.reference for case in cases))
        try:
            return cast("tuple[Chore, ...]", self._checking_worker().ask(request))
        except LostCase:
            self._discard_worker()
            return ()

    def _new_hand(self) -> HandProcess:
        """Start a worker that never touches a device."""
        settings = replace(self._settings, device=DeviceChoice.NONE, needs_device=False)
        return HandProcess(settings, self._deadlines)

    def _failure(self, lost: LostCase, case_id: str, stage: Stage) -> Failure:
        """Return a lost worker as the failure of the case it was lost on."""
        emulated = self._settings.device is DeviceChoice.EMULATED
        remedy = (EMULATED if emulated else ON_CUDA).get(lost.loss, MEND)
        text = f"lost: {case_id} in step '{lost.step}': {lost}\n{remedy}"
        return Failure(stage, text, fatal=True)

    def _session(
        self,
        cases: Sequence[Case],
        protocol: Protocol,
        failures: dict[str, Failure],
        progress: _Steps,
    ) -> SessionResult:
        with self._new_worker() as worker:
            before = cast("DeviceState | None", worker.ask(ReadState()))
            request = Measure(tuple(case.reference for case in cases), protocol)
            timed = cast("TimedSession", worker.ask(request, progress))
            after = self._state_after(worker)
        return SessionResult(timed, failures, before, after)

    @staticmethod
    def _state_after(worker: WorkerProcess) -> DeviceState | None:
        """Read the device once more; a worker that dies of it does not cost its samples."""
        try:
            return cast("DeviceState | None", worker.ask(ReadState()))
        except LostCase as lost:
            return DeviceState(notes=(f"every field: {lost}",))

    def _new_worker(self) -> WorkerProcess:
        return WorkerProcess(self._settings, self._deadlines)

    def _checking_worker(self) -> WorkerProcess:
        if self._worker is None or not self._worker.alive:
            self._discard_worker()
            self._worker = self._new_worker()
        return self._worker

    def _discard_worker(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _locked(self, uuid: str) -> FileLock:
        """Take the device for this run: two runs on one device would measure each other."""
        try:
            folder = user_cache_path("pytest-rmsperf", ensure_exists=True)
            lock = FileLock(folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', uuid)}.lock")
            self._acquire(lock)
        except Timeout:
            raise RmsperfError(
                f"the device is taken: another run held {lock.lock_file} for "
                f"{LOCK_SECONDS:g} s; end that run or start this one later"
            ) from None
        except OSError as error:
            raise RmsperfError(
                f"the device cannot be locked: {error.filename}: {error.strerror}; "
                "make the folder writable, or name another one: XDG_CACHE_HOME=DIR"
            ) from error
        return lock

    def _acquire(self, lock: FileLock) -> None:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            self._discard_worker()  # its context would disturb the run that is waited for
            self._say(f"waiting for the device: another run holds {lock.lock_file}")
            lock.acquire(timeout=LOCK_SECONDS)


class _Steps:
    """Passes a worker's progress on and remembers the last stage it named."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.stage = Stage.COMPILE

    def __call__(self, progress: Progress) -> None:
        self.stage = _STAGES.get(progress.step, self.stage)
        self._say(f"{progress.step} {progress.case_id}")


def _holding_to(machine: Machine, settings: WorkerSettings) -> WorkerSettings:
    """Return the settings for the workers to come: they use the device this run began on."""
    if machine.emulated is not None:
        return replace(settings, device=DeviceChoice.EMULATED)
    return replace(settings, needs_device=machine.device is not None)
