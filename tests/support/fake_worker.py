"""A worker process that is none, with a device that is none."""

from __future__ import annotations

from pytest_rmsperf.checks import CheckedCase, Machine, TimedSession, Turn
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.messages import Check, Describe, Launch, Measure, ReadState, Request
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.supervisor import LostCase

DEVICE = DeviceRecord(
    DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771), "GPU-1", "13.0", DeviceState()
)


class FakeWorker:
    """Stands for a worker process with a device; `losses` maps a case to why it is lost."""

    def __init__(self, losses: dict[str, LostCase], log: list[str]) -> None:
        self.alive = True
        self._losses = losses
        self._log = log
        log.append("start")

    def __enter__(self) -> FakeWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: Request, on_progress: object = None) -> object:  # noqa: ARG002
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
                found_ids = [one.resolve().id for one in cases]
                self._log.append(" ".join(one.split("/")[1] for one in found_ids))
                for one in found_ids:
                    if one in self._losses:
                        raise self._losses[one]
                samples = {one: Samples(one, 1, (1,), (1,)) for one in found_ids}
                return TimedSession(samples, tuple(found_ids), (Turn(0, backwards=False),))
            case Launch(inputs=inputs):
                if self._losses:
                    raise next(iter(self._losses.values()))
                return inputs

    def close(self) -> None:
        self.alive = False
        self._log.append("end")
