"""The worker's answers, asked over a pipe within this process; no device is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest

from pytest_rmsperf.cases import Case, CaseReference, Submission, load_operator
from pytest_rmsperf.checks import CheckedCase, Machine, Stage, TimedSession, Turn
from pytest_rmsperf.device.memory import OutOfMemory
from pytest_rmsperf.device.session import Session
from pytest_rmsperf.device.toolchain import find_toolchain
from pytest_rmsperf.errors import CompileError, DeviceError
from pytest_rmsperf.messages import (
    Answer,
    Check,
    Describe,
    Launch,
    Measure,
    Progress,
    ReadState,
    Refusal,
    Reply,
    Request,
    WorkerSettings,
)
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.worker import Worker

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
PROBLEM = FAULTY.problems[0]
WAIT_S = 60


@dataclass(frozen=True)
class Asker:
    """The other end of the pipe."""

    connection: Connection
    thread: Thread

    def ask(self, request: Request) -> list[Reply]:
        """Return all replies up to the answer or the refusal."""
        self.connection.send(request)
        replies: list[Reply] = []
        while not replies or isinstance(replies[-1], Progress):
            assert self.connection.poll(WAIT_S)
            replies.append(self.connection.recv())
        return replies

    def answer(self, request: Request) -> object:
        """Return the value of the answer."""
        last = self.ask(request)[-1]
        assert isinstance(last, Answer)
        return last.value

    def refusal(self, request: Request) -> Refusal:
        """Return the refusal."""
        last = self.ask(request)[-1]
        assert isinstance(last, Refusal)
        return last

    def check(self, variant: str) -> CheckedCase:
        """Return the check of a variant."""
        checked = self.answer(Check(reference(variant), numerics=True))
        assert isinstance(checked, CheckedCase)
        return checked


def reference(variant: str) -> CaseReference:
    return CaseReference(FAULTY.folder, variant, Submission.DIRECT, PROBLEM)


@pytest.fixture(autouse=True)
def _nothing_to_run_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr("pytest_rmsperf.worker.why_no_device", lambda: "switched off")
    monkeypatch.setattr("pytest_rmsperf.worker.why_no_emulation", lambda: "no C++ compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))


@contextmanager
def started(settings: WorkerSettings) -> Iterator[Asker]:
    """A worker with these settings."""
    mine, its = Pipe()
    thread = Thread(target=Worker(its, settings).serve, daemon=True)
    thread.start()
    with mine:
        yield Asker(mine, thread)
    thread.join(WAIT_S)


@pytest.fixture
def worker() -> Iterator[Asker]:
    """A worker that finds no device of either kind and compiles for sm_90."""
    with started(WorkerSettings("sm_90")) as asker:
        yield asker


def test_machine_without_a_device_says_why_and_names_the_compiler(worker: Asker) -> None:
    machine = worker.answer(Describe())

    assert isinstance(machine, Machine)
    assert (machine.device, machine.why_no_device) == (None, "switched off")
    assert (machine.emulated, machine.why_no_emulation) == (None, "no C++ compiler")
    assert machine.compiler == find_toolchain().identity


def test_machine_without_a_compiler_says_what_is_missing(
    worker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise CompileError("no compiler\ninstall it")

    monkeypatch.setattr("pytest_rmsperf.worker.find_toolchain", refuse)

    machine = worker.answer(Describe())

    assert isinstance(machine, Machine)
    assert machine.compiler == (("missing", "no compiler"),)


def test_machine_names_the_packages_that_are_installed(worker: Asker) -> None:
    machine = worker.answer(Describe())

    assert isinstance(machine, Machine)
    assert {"cuda-core", "numpy"} <= dict(machine.packages).keys()


def test_state_is_unknown_without_a_device(worker: Asker) -> None:
    assert worker.answer(ReadState()) is None


def test_sound_case_is_compiled_planned_and_held_against_the_devices_profile(
    worker: Asker,
) -> None:
    checked = worker.check("sound")

    assert checked.compiled is not None
    assert checked.compiled.kernels[0].name == "twice"
    assert dict(checked.compiled.identity)["arch"] == "sm_90"
    assert checked.residency is not None
    assert (checked.residency.fits, checked.residency.source) == (True, "computed")


def test_numerics_are_left_open_without_a_device(worker: Asker) -> None:
    checked = worker.check("sound")

    assert (checked.numerics, checked.failure) == (None, None)


def test_machine_code_stays_in_the_worker(worker: Asker) -> None:
    checked = worker.check("sound")

    assert checked.compiled is not None
    assert checked.compiled.cubin == b""


def test_steps_are_announced_with_the_case(worker: Asker) -> None:
    replies = worker.ask(Check(reference("sound"), numerics=False))

    case_id = "faulty/sound-direct/3"
    assert replies[:-1] == [Progress(case_id, step) for step in ("compile", "plan", "residency")]


@pytest.mark.parametrize(
    ("variant", "stage", "words"),
    [
        ("does_not_compile", Stage.COMPILE, "does not compile: "),
        ("refuses", Stage.PLAN, "refuses: rows must be even, got 3"),
        ("too_big", Stage.RESIDENCY, "does not fit NVIDIA H100"),
    ],
)
def test_failed_stage_is_an_answer_that_says_which_and_why(
    worker: Asker, variant: str, stage: Stage, words: str
) -> None:
    failure = worker.check(variant).failure

    assert failure is not None
    assert (failure.stage, failure.fatal) == (stage, False)
    assert failure.message.startswith(words)


def test_plan_that_does_not_fit_is_kept_with_the_figures_of_the_refusal(worker: Asker) -> None:
    checked = worker.check("too_big")

    assert checked.residency is not None
    assert checked.residency.launches[0].headroom_blocks < 0


def test_unknown_variant_is_refused_and_the_worker_goes_on(worker: Asker) -> None:
    refusal = worker.refusal(Check(reference("no_such"), numerics=False))

    assert refusal.message.startswith("operator faulty has no variant 'no_such'; it has sound, ")
    assert (refusal.case_id, refusal.step, refusal.fatal) == ("", "start", False)
    assert worker.check("sound").failure is None


def test_refusal_is_not_blamed_on_the_case_before_it(worker: Asker) -> None:
    worker.check("sound")

    refusal = worker.refusal(Check(reference("no_such"), numerics=False))

    assert (refusal.case_id, refusal.step) == ("", "start")


@pytest.mark.parametrize(
    ("request_", "blamed", "step", "what"),
    [
        (Measure((reference("sound"),), Protocol()), "", "start", "timed"),
        (Launch(reference("sound"), PROBLEM, {}), "faulty/sound-direct/3", "compile", "launched"),
    ],
    ids=["measure", "launch"],
)
def test_what_needs_a_device_is_refused_without_one_and_ends_the_worker(
    worker: Asker, request_: Request, blamed: str, step: str, what: str
) -> None:
    refusal = worker.refusal(request_)

    message = f"nothing can be {what} here: there is no CUDA device"
    assert refusal == Refusal(blamed, step, message, fatal=True)
    worker.thread.join(WAIT_S)
    assert not worker.thread.is_alive()


def test_a_session_is_answered_with_its_order_and_end(
    worker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed = TimedSession({}, ("faulty/sound-direct/3",), (Turn(0, backwards=True),))
    monkeypatch.setattr(Session, "measure", lambda *_: timed)

    assert worker.answer(Measure((reference("sound"),), Protocol())) == timed


def test_a_case_of_another_commit_is_measured_by_its_full_id(
    worker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(_: Session, cases: Sequence[Case]) -> list[str]:
        return [case.id for case in cases]

    monkeypatch.setattr(Session, "measure", measure)
    mine = reference("sound")

    ids = worker.answer(Measure((mine, replace(mine, origin="1a2b3c4")), Protocol()))

    assert ids == ["faulty/sound-direct/3", "faulty/sound-direct/3@1a2b3c4"]


@pytest.mark.parametrize(
    ("error", "fatal"),
    [(DeviceError("CUDA_ERROR_ILLEGAL_ADDRESS"), True), (OutOfMemory("does not fit"), False)],
    ids=["launch", "memory"],
)
def test_want_of_memory_is_a_refusal_and_does_not_spoil_the_device(
    worker: Asker, monkeypatch: pytest.MonkeyPatch, error: DeviceError, *, fatal: bool
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(Session, "measure", fail)

    refusal = worker.refusal(Measure((reference("sound"),), Protocol()))

    assert (refusal.message, refusal.fatal) == (str(error), fatal)


def test_worker_ends_when_the_other_side_closes(worker: Asker) -> None:
    worker.answer(ReadState())

    worker.connection.close()

    worker.thread.join(WAIT_S)
    assert not worker.thread.is_alive()


def test_device_that_is_gone_is_told_and_never_replaced_by_a_profile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_rmsperf.worker.why_no_device", lambda: "CUDA_ERROR_NO_DEVICE")

    with started(WorkerSettings("sm_90", needs_device=True)) as worker:
        refusal = worker.refusal(Check(reference("sound"), numerics=True))

    assert refusal.message.startswith("the device is gone: CUDA_ERROR_NO_DEVICE, and this run ")
    assert (refusal.case_id, refusal.fatal) == ("", True)
