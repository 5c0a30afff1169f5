"""The worker where an emulated device may stand for a CUDA device: which one it takes."""

from __future__ import annotations

from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest

from pytest_rmsperf.cases import CaseReference, Submission, load_operator
from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.device.profiles import DeviceProfile, profile_for_arch
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import DeviceError, GateFailure
from pytest_rmsperf.messages import (
    Answer,
    Describe,
    Launch,
    Measure,
    Progress,
    Refusal,
    Reply,
    Request,
    WorkerSettings,
)
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.worker import Worker

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
SOUND = CaseReference(FAULTY.folder, "sound", Submission.DIRECT, FAULTY.problems[0])
LAUNCH = Launch(SOUND, FAULTY.problems[0], {})
SCHEDULES = Schedules(7, 2)
FAULT = "deadlock in twice: no thread can go on\n  schedule   seed 7\nmend it"


class FakeDevice:
    """An emulated device that runs nothing."""

    compiler = "g++ 12.2.0"

    def __init__(self, profile: DeviceProfile) -> None:
        self.identity = profile.identity

    @classmethod
    def open(cls, profile: DeviceProfile, schedules: Schedules) -> FakeDevice:
        assert schedules == SCHEDULES
        return cls(profile)

    def load(self, *_: object) -> SimpleNamespace:
        return SimpleNamespace(progress=None)


class PreparedCase:
    """A prepared case that runs well, or raises what it is given."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        outputs = {"y": np.ones(3, np.float32)}
        self.memory = SimpleNamespace(damaged=list, outputs=lambda: outputs)

    def run(self) -> None:
        if self._error is not None:
            raise self._error


@pytest.fixture(autouse=True)
def _emulation_is_possible(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr("pytest_rmsperf.worker.why_no_device", lambda: "no driver")
    monkeypatch.setattr("pytest_rmsperf.worker.why_no_emulation", lambda: None)
    monkeypatch.setattr("pytest_rmsperf.worker.EmulatedDevice", FakeDevice)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))


def replies(choice: DeviceChoice, *requests: Request, arch: str = "sm_90") -> list[Reply]:
    """Return the last reply to each request of one worker."""
    mine, its = Pipe()
    worker = Worker(its, WorkerSettings(arch, choice, SCHEDULES))
    with mine, its:
        return [worker._reply(one) for one in requests]


def machine(choice: DeviceChoice) -> Machine:
    (reply,) = replies(choice, Describe())
    assert isinstance(reply, Answer)
    assert isinstance(reply.value, Machine)
    return reply.value


def must_not_be_called() -> NoReturn:
    raise AssertionError("the GPU was looked for")


def test_emulated_device_stands_for_a_device_that_is_missing() -> None:
    found = machine(DeviceChoice.AUTO)

    h100 = profile_for_arch("sm_90").identity
    assert found.emulated == EmulatedMachine(h100, "g++ 12.2.0", SCHEDULES)
    assert (found.device, found.why_no_device) == (None, "no driver")


def test_nothing_stands_for_a_cuda_device_that_was_asked_for() -> None:
    found = machine(DeviceChoice.CUDA)

    assert (found.emulated, found.why_no_emulation) == (None, None)


def test_gpu_is_not_even_looked_for_where_the_emulated_device_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_rmsperf.worker.why_no_device", must_not_be_called)
    monkeypatch.setattr("pytest_rmsperf.worker.CudaContext.open", must_not_be_called)

    found = machine(DeviceChoice.EMULATED)

    assert found.emulated is not None
    assert found.why_no_device == "none is used with --rmsperf-device=emulated"


def test_arch_without_a_profile_cannot_be_emulated() -> None:
    (reply,) = replies(DeviceChoice.AUTO, Describe(), arch="sm_999")

    assert isinstance(reply, Refusal)
    assert reply.message.startswith("no device profile for arch 'sm_999'")


def test_launch_on_the_emulated_device_gives_its_outputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_rmsperf.worker.prepare", lambda *_: PreparedCase())

    (reply,) = replies(DeviceChoice.AUTO, LAUNCH)

    assert isinstance(reply, Answer)
    assert isinstance(reply.value, dict)
    assert list(reply.value) == ["y"]


def test_launch_that_takes_long_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def launch_slowly(*arguments: Any) -> PreparedCase:
        *_, module, _ = arguments
        module.progress(3, 8)
        return PreparedCase()

    monkeypatch.setattr("pytest_rmsperf.worker.prepare", launch_slowly)
    mine, its = Pipe()

    with mine, its:
        Worker(its, WorkerSettings("sm_90", DeviceChoice.AUTO, SCHEDULES))._reply(LAUNCH)
        said = [mine.recv() for _ in range(3)]

    assert said[-1] == Progress("faulty/sound-direct/3", "launch, 3 of 8 blocks")


@pytest.mark.parametrize(
    ("error", "fatal", "is_verdict"),
    [(GateFailure(FAULT), False, True), (DeviceError(FAULT), True, False)],
    ids=["fault of the kernel", "error of the device"],
)
def test_fault_of_an_emulated_launch_is_a_verdict_and_the_worker_lives_on(
    monkeypatch: pytest.MonkeyPatch, error: Exception, *, fatal: bool, is_verdict: bool
) -> None:
    monkeypatch.setattr("pytest_rmsperf.worker.prepare", lambda *_: PreparedCase(error))

    (reply,) = replies(DeviceChoice.AUTO, LAUNCH)

    assert reply == Refusal("faulty/sound-direct/3", "launch", FAULT, fatal, is_verdict)


def test_emulated_device_is_never_timed() -> None:
    (reply,) = replies(DeviceChoice.EMULATED, Measure((SOUND,), Protocol()))

    assert isinstance(reply, Refusal)
    assert reply.message == "nothing can be timed here: the device is emulated"
