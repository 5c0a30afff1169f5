"""The pytest process's side of a worker: start it, hold it to its deadlines, end it for certain."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from multiprocessing import Pipe
from typing import IO

from pytest_rmsperf.errors import RmsperfError, WorkerError
from pytest_rmsperf.messages import Answer, Progress, Refusal, Request, WorkerSettings

# Importing torch alone took 4.7 s on an H200 machine with idle cores and a warm disk.
START_SECONDS = 180.0
# Steps that run no kernel but may take long on a cold machine, by their first word.
PATIENT_STEPS = frozenset({"start", "compile", "reference"})
ABORT_SECONDS = 3.0
# A stack dump begins with the innermost call; one from a check is 17 lines long.
STDERR_LINES = 24

OnProgress = Callable[[Progress], None]


class Loss(Enum):
    """How a worker lost a case, by which a person knows where to look."""

    VERDICT = auto()  # the gate says no, and the worker is well
    REFUSAL = auto()  # what was asked for cannot be done, and the worker is well
    DEVICE = auto()  # the device failed, or would not
    SILENCE = auto()  # killed at its deadline
    CRASH = auto()  # by a signal, or in the driver: a kernel's fault, not that of Python code
    EXIT = auto()  # Python code ended it


class LostCase(WorkerError):
    """A worker gave up, died or was killed while it worked on `case_id`; `loss` says which."""

    def __init__(self, message: str, *, case_id: str, step: str, loss: Loss) -> None:
        super().__init__(message)
        self.case_id = case_id
        self.step = step
        self.loss = loss


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds until a silent worker is killed: in a patient step, and in any other."""

    step_s: float
    start_s: float = START_SECONDS


class WorkerProcess:
    """One worker. Use as a context manager: leaving it ends the process, hung or not."""

    def __init__(self, settings: WorkerSettings, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._last = Progress("", "start")
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._connection, theirs = Pipe()
        self._connection.send(settings)  # waits in the pipe, whatever becomes of the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest_rmsperf.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._stderr,
            stderr=self._stderr,
            start_new_session=True,  # so that a kill reaches what the worker started, and only that
        )
        theirs.close()

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Request, on_progress: OnProgress | None = None) -> object:
        """Return the answer; LostCase when it is a refusal, or the worker died or overran."""
        self._last = Progress("", "start")
        try:
            self._connection.send(request)
            while isinstance(reply := self._receive(), Progress):
                self._last = reply
                if on_progress is not None:
                    on_progress(reply)
        except (EOFError, ConnectionError):
            raise self._obituary() from None
        if isinstance(reply, Refusal):
            raise LostCase(
                reply.message,
                case_id=reply.case_id,
                step=reply.step,
                loss=_loss(reply),
            )
        assert isinstance(reply, Answer)
        return reply.value

    def close(self) -> None:
        """End the worker: by closing the connection, else by killing its process group."""
        self._connection.close()
        try:
            self._process.wait(timeout=ABORT_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
        self._stderr.close()

    def _receive(self) -> object:
        patient = self._last.step.split()[0] in PATIENT_STEPS
        seconds = self._deadlines.start_s if patient else self._deadlines.step_s
        if self._connection.poll(seconds):
            return self._connection.recv()
        self._abort()
        raise self._lost(
            f"no sign of life for {seconds:g} s in step '{self._last.step}': killed "
            "(a barrier that waits for ever, or a kernel that never ends)",
            Loss.SILENCE,
        )

    def _lost(self, message: str, loss: Loss) -> LostCase:
        text = message + self._stderr_tail()
        return LostCase(text, case_id=self._last.case_id, step=self._last.step, loss=loss)

    def _obituary(self) -> LostCase:
        step = self._last.step
        try:
            code = self._process.wait(timeout=ABORT_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
            return self._lost(f"the worker closed its connection in step '{step}'", Loss.CRASH)
        how = _signal_name(-code) if code < 0 else f"exit code {code}"
        loss = Loss.CRASH if code < 0 else Loss.EXIT
        return self._lost(f"the worker died in step '{step}' with {how}", loss)

    def _abort(self) -> None:
        """Ask for a stack dump, then kill: a native hang answers to nothing else."""
        self._signal(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):  # stuck in the driver: hence the kill
            self._process.wait(timeout=ABORT_SECONDS)
        self._kill()

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        try:
            self._process.wait(timeout=ABORT_SECONDS)
        except subprocess.TimeoutExpired:
            raise RmsperfError(
                f"worker process {self._process.pid} does not die from SIGKILL: the driver is "
                "stuck; nothing can be measured on this machine until it is gone"
            ) from None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # already gone
            os.killpg(self._process.pid, number)

    def _stderr_tail(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").splitlines()[-STDERR_LINES:]
        return "".join(f"\n  worker     {line}" for line in lines)


def _loss(refusal: Refusal) -> Loss:
    if refusal.is_verdict:
        return Loss.VERDICT
    return Loss.DEVICE if refusal.fatal else Loss.REFUSAL


def _signal_name(number: int) -> str:
    """Return SIGSEGV for 11; most real-time signals have no name."""
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"
