"""A worker process that is none, with a device that is none."""

from __future__ import annotations

from pytest_rmsperf.checks import CheckedCase, Machine, TimedSession, Turn
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.messages import (
    Check,
    Chore,
    Compile,
    Describe,
    Disassemble,
    Launch,
    Measure,
    Outstanding,
    ReadState,
    Request,
)
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.supervisor import LostCase

DEVICE = DeviceRecord(
    DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771), "GPU-1", "13.0", DeviceState()
)


class FakeWorker:
    """Stands for a worker process with a device; `losses` maps a case to why it is lost.

    `outstanding` are the chores that it finds there are.
    """

    def __init__(
        self, losses: dict[str, LostCase], log: list[str], outstanding: tuple[Chore, ...] = ()
    ) -> None:
        self.alive = True
        self._losses = losses
        self._log = log
        self._outstanding = outstanding
        log.append("start")

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: Request, on_progress: object = None) -> object:  # noqa: ARG002, PLR0911
        match request:
            case Describe():
                return Machine(DEVICE, None)
            case ReadState():
                return DeviceState(sm_mhz=1980)
            case Check(case=case, numerics=numerics):
                found = case.resolve().id
                if numerics and found in self._losses:
                    raise self._losses[found]
                return CheckedCase(found)
            case Measure(cases=cases):
                return self._measure([one.resolve().id for one in cases])
            case Launch(inputs=inputs):
                if self._losses:
                    raise next(iter(self._losses.values()))
                return inputs
            case Outstanding():
                return self._outstanding
            case Compile(arch=arch) | Disassemble(arch=arch):
                self._log.append(f"{type(request).__name__} {arch}")
                return None

    def _measure(self, ids: list[str]) -> TimedSession:
        self._log.append(" ".join(one.split("/")[1] for one in ids))
        for one in ids:
            if one in self._losses:
                raise self._losses[one]
        samples = {one: Samples(one, 1, (1,), (1,)) for one in ids}
        return TimedSession(samples, tuple(ids), (Turn(0, backwards=False),))

    def kill(self) -> None:
        self.alive = False

    def close(self) -> None:
        self.alive = False
        self._log.append("end")
