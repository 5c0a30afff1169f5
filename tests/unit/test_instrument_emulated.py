"""The instrument's dealings with workers as far as the device matters: which one they keep to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice, DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import Describe, Request, WorkerSettings
from pytest_rmsperf.supervisor import Deadlines, Loss, LostCase

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
SOUND = FAULTY.cases()[0]
H100 = DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81_559)
CUDA = Machine(DeviceRecord(H100, "GPU-1", "13.0", DeviceState()), None)
EMULATED = Machine(None, "none", emulated=EmulatedMachine(H100, "g++ 12.2.0", Schedules()))
NEITHER = Machine(None, "none", why_no_emulation="no C++ compiler")
SETTINGS = WorkerSettings("sm_90", DeviceChoice.AUTO, Schedules(7, 2))


@dataclass
class Workers:
    """Makes fake workers on one machine, all of which lose what they are asked by `loss`."""

    machine: Machine
    loss: LostCase | None = None
    made: list[WorkerSettings] = field(default_factory=list)
    closed: int = 0
    alive: bool = True

    def __call__(self, settings: WorkerSettings, _: Deadlines) -> Workers:
        self.made.append(settings)
        return self

    def ask(self, request: Request, *_: object) -> object:
        if isinstance(request, Describe):
            return self.machine
        assert self.loss is not None
        raise self.loss

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def instrument(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WorkerInstrument]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    one = WorkerInstrument(SETTINGS, Deadlines(step_s=1), lambda _: None)
    yield one
    one.close()


def use(monkeypatch: pytest.MonkeyPatch, workers: Workers) -> Workers:
    monkeypatch.setattr("pytest_rmsperf.instrument.WorkerProcess", workers)
    return workers


def lost(loss: Loss) -> LostCase:
    return LostCase("deadlock\nmend it", case_id=SOUND.id, step="launch", loss=loss)


@pytest.mark.parametrize(
    ("machine", "later"),
    [
        (CUDA, WorkerSettings("sm_90", DeviceChoice.AUTO, Schedules(7, 2), needs_device=True)),
        (EMULATED, WorkerSettings("sm_90", DeviceChoice.EMULATED, Schedules(7, 2))),
        (NEITHER, SETTINGS),
    ],
    ids=["cuda", "emulated", "neither"],
)
def test_later_workers_keep_to_the_device_that_the_run_began_on(
    monkeypatch: pytest.MonkeyPatch,
    instrument: WorkerInstrument,
    machine: Machine,
    later: WorkerSettings,
) -> None:
    workers = use(monkeypatch, Workers(machine, lost(Loss.EXIT)))
    instrument.machine()

    for _ in range(2):
        with pytest.raises(GateFailure):
            instrument.launch(SOUND, SOUND.problem, {})

    assert workers.made == [SETTINGS, later]


def test_nothing_is_locked_for_an_emulated_device(
    monkeypatch: pytest.MonkeyPatch, instrument: WorkerInstrument, tmp_path: Path
) -> None:
    use(monkeypatch, Workers(EMULATED))

    instrument.machine()

    assert list(tmp_path.rglob("*.lock")) == []


@pytest.mark.parametrize("loss", [Loss.VERDICT, Loss.REFUSAL])
def test_a_well_workers_answer_to_a_launch_fails_the_test_as_it_is_and_keeps_the_worker(
    monkeypatch: pytest.MonkeyPatch, instrument: WorkerInstrument, loss: Loss
) -> None:
    workers = use(monkeypatch, Workers(EMULATED, lost(loss)))

    with pytest.raises(GateFailure, match=r"^deadlock\nmend it$"):
        instrument.launch(SOUND, SOUND.problem, {})

    assert workers.closed == 0


@pytest.mark.parametrize(
    ("machine", "loss", "remedy"),
    [
        (CUDA, Loss.SILENCE, "run the case alone under compute-sanitizer "),
        (CUDA, Loss.DEVICE, "run the case alone under compute-sanitizer "),
        (CUDA, Loss.CRASH, "run the case alone under compute-sanitizer "),
        (CUDA, Loss.EXIT, "mend what the message names"),
        (EMULATED, Loss.SILENCE, "find the loop that never ends; a kernel that is only slow to "),
        (EMULATED, Loss.DEVICE, "mend what the message names"),
        (EMULATED, Loss.CRASH, "if it was killed for want of memory, let a smaller problem "),
        (EMULATED, Loss.EXIT, "mend what the message names"),
    ],
)
def test_remedy_for_a_lost_worker_fits_the_device_and_the_loss(
    monkeypatch: pytest.MonkeyPatch,
    instrument: WorkerInstrument,
    machine: Machine,
    loss: Loss,
    remedy: str,
) -> None:
    use(monkeypatch, Workers(machine, lost(loss)))
    instrument.machine()

    with pytest.raises(GateFailure) as caught:
        instrument.launch(SOUND, SOUND.problem, {})

    assert str(caught.value).splitlines()[-1].startswith(remedy)
