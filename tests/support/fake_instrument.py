"""An instrument without a machine: it answers as it is told, and writes down what it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import (
    CheckedCase,
    Failure,
    Machine,
    SessionResult,
    Stage,
    TimedSession,
    Turn,
)
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Samples

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Say
    from pytest_rmsperf.cases import Arrays

H200 = DeviceRecord(
    DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771),
    "GPU-1",
    "13.0",
    DeviceState(driver="580.159"),
)
COMPILER = (("nvrtc", "13.0.88"),)
CUDA = Machine(H200, None, COMPILER)
NO_DEVICE = Machine(None, "none", COMPILER)
PROBE_NS = 100
CASE_NS = 8000
COMPLETION_NS = 20_000
# An idle device whose state tells everything that is asked of one before its figures are stored.
IDLE = DeviceState(
    driver="580.159", sm_mhz=1980, max_sm_mhz=1980, utilization_percent=0, other_processes=()
)
BUSY = DeviceState(utilization_percent=90)


@dataclass
class FakeInstrument:
    """Finds every case sound and to take 8 us on the device and 20 us in all, but as told here.

    `device_ns` and `completion_ns` have one entry for each session from the first on, by case id,
    the last of which stays. `refused` are the failures of checks, `lost` those of sessions by
    their number, `before` the state of the device before them. `prepared` are the ids of the cases
    it was to prepare, each time.
    """

    found: Machine = CUDA
    device_ns: dict[str, Sequence[int]] = field(default_factory=dict)
    completion_ns: dict[str, Sequence[int]] = field(default_factory=dict)
    refused: dict[str, Failure] = field(default_factory=dict)
    lost: dict[int, str] = field(default_factory=dict)
    before: dict[int, DeviceState] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    prepared: list[list[str]] = field(default_factory=list)
    closed: bool = False

    @property
    def sessions(self) -> list[list[str]]:
        """The ids that each session was to time."""
        return [one.split()[1:] for one in self.asked if one.startswith("measure")]

    def machine(self) -> Machine:
        return self.found

    def prepare(self, cases: Sequence[Case], say: Say) -> None:  # noqa: ARG002
        self.prepared.append([case.id for case in cases])

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:  # noqa: ARG002
        self.asked.append(f"check {case.id}{' numerics' if numerics else ''}")
        return CheckedCase(case.id, failure=self.refused.get(case.id))

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        say("working")
        ids = [case.id for case in cases]
        self.asked.append(f"measure {' '.join(ids)}")
        number = len(self.sessions)
        lost = self.lost.get(number)
        failures = {} if lost is None else {lost: Failure(Stage.TIME, "lost", fatal=True)}
        samples = {one: self._samples(one, number, protocol) for one in ids if one != lost}
        turns = tuple(Turn(0, backwards=False) for _ in range(protocol.blocks))
        timed = TimedSession(samples, tuple(samples), turns, during=(IDLE,) * protocol.blocks)
        return SessionResult(timed, failures, before=self.before.get(number, IDLE), after=IDLE)

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:  # noqa: ARG002
        return {problem.label: inputs["x"]}

    def close(self) -> None:
        self.closed = True

    def _samples(self, case_id: str, number: int, protocol: Protocol) -> Samples:
        usual = (PROBE_NS, PROBE_NS) if case_id.startswith("probe/") else (CASE_NS, COMPLETION_NS)
        device_ns, completion_ns = (
            series[min(number, len(series)) - 1]
            for series in (
                table.get(case_id, (default,))
                for table, default in zip((self.device_ns, self.completion_ns), usual, strict=True)
            )
        )
        completions = protocol.blocks * protocol.completions_per_block
        return Samples(case_id, 10, (device_ns,) * protocol.blocks, (completion_ns,) * completions)
