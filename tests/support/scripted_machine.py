"""An instrument on which everything planted by the selftest behaves as it should, or as told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import (
    CheckedCase,
    EmulatedMachine,
    Failure,
    Machine,
    SessionResult,
    Stage,
    TimedSession,
    Turn,
)
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.selftest.faults import DELAYS, SOUND, TWIN, delayed
from pytest_rmsperf.selftest.runner import selftest
from pytest_rmsperf.settings import Settings

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Say
    from pytest_rmsperf.cases import Arrays

H200 = DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771)
CUDA = Machine(DeviceRecord(H200, "GPU-1", "13.0", DeviceState("580.159")), None)
EMULATED = Machine(None, "none", emulated=EmulatedMachine(H200, "g++ 12.2.0", Schedules()))
NEITHER = Machine(None, "none", why_no_emulation="no C++ compiler; install it")

SOUND_NS = 8000
# 1 % of the sound kernel are 176 clocks.
SM_MHZ = 2200

RIGHT = Numerics(
    (
        Comparison(
            input_set="random shares",
            output="y",
            precision=Precision.FLOAT64,
            largest_error=1e-7,
            index=(0, 0),
            got=1.0,
            want=1.0,
            allowed=1e-6,
            wrong=0,
            elements=1,
            problem=None,
        ),
    ),
    launches=1,
    reference_error=None,
)

TOLD = {
    "wrong_element": Failure(
        Stage.NUMERICS,
        "wrong: 1 elements outside the tolerance in y (random shares)\n"
        "  largest    relative error 0.001 at index (3, 60044): got 1.001, want 1\n"
        "mend the kernel",
    ),
    "one_block_too_many": Failure(
        Stage.RESIDENCY,
        "does not fit NVIDIA H200: 1 block too many (driver)\n"
        "  row_shares asks for 1057 blocks at once; 8 blocks per SM x 132 SMs = 1056 fit",
    ),
    "endless": Failure(
        Stage.NUMERICS,
        "lost: selftest/endless-direct/4x98304 in step 'launch': no sign of life for 10 s\nmend it",
        fatal=True,
    ),
    "illegal_address": Failure(
        Stage.NUMERICS, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS\nmend it", fatal=True
    ),
}
TOLD_EMULATED = {
    **TOLD,
    "endless": Failure(Stage.NUMERICS, "deadlock in row_shares: no thread can go on\nmend it"),
    "illegal_address": Failure(Stage.NUMERICS, "out of bounds in row_shares: thread 0\nmend it"),
}


def planted_ns() -> dict[str, int]:
    """Return what every timed variant takes: the sound kernel's time and its delay."""
    delays = {delayed(clocks): SOUND_NS + 1000 * clocks // SM_MHZ for clocks in DELAYS}
    return {SOUND: SOUND_NS, TWIN: SOUND_NS, **delays}


@dataclass
class Scripted:
    """An instrument with an answer for each variant, and a list of what it was asked.

    `device_ns` is what a variant takes in every block, unless `blocks` has a figure for each;
    `completion_ns` is its host completion, where it is not the common one.
    `drifts` says by which factor everything is slower from a session on. `sound_fails_after` is
    the variant that leaves the device broken for the next case.
    """

    found: Machine = CUDA
    told: dict[str, Failure] = field(default_factory=lambda: dict(TOLD))
    device_ns: dict[str, int] = field(default_factory=planted_ns)
    blocks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    completion_ns: dict[str, int] = field(default_factory=dict)
    drifts: tuple[int, float] = (1000, 1.0)
    busy: range = range(0)  # sessions before which something else runs
    lost_while_timed: dict[str, Failure] = field(default_factory=dict)
    sound_fails_after: str = ""
    leaves_out_numerics: bool = False
    sm_mhz: int | None = SM_MHZ
    checked: list[str] = field(default_factory=list)
    measured: list[list[str]] = field(default_factory=list)

    def machine(self) -> Machine:
        return self.found

    def prepare(self, cases: Sequence[Case], say: Say) -> None:
        """There is nothing to do ahead."""

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:
        say("checking")
        name = case.variant.name
        failure = self.told.get(name)
        before = self.checked[-1] if self.checked else None
        self.checked.append(name)
        if name == SOUND and before is not None and before == self.sound_fails_after:
            failure = Failure(Stage.NUMERICS, "the context is spoiled\nstart anew")
        launched = numerics and not self.leaves_out_numerics and not self.found.why_not_launched
        compared = RIGHT if launched and failure is None else None
        return CheckedCase(case.id, numerics=compared, failure=failure)

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        say("timing")
        names = {case.id: case.variant.name for case in cases}
        self.measured.append(list(names.values()))
        samples = {
            case_id: self._samples(case_id, name, protocol)
            for case_id, name in names.items()
            if name not in self.lost_while_timed
        }
        failures = {
            case_id: self.lost_while_timed[name]
            for case_id, name in names.items()
            if name in self.lost_while_timed
        }
        busy = 90 if len(self.measured) in self.busy else 0
        timed = TimedSession(
            samples,
            turns=(Turn(0, backwards=False),) * protocol.blocks,
            during=(DeviceState(sm_mhz=self.sm_mhz),) * protocol.blocks,
        )
        return SessionResult(timed, failures, before=DeviceState(utilization_percent=busy))

    def _samples(self, case_id: str, name: str, protocol: Protocol) -> Samples:
        """Return samples that scatter by 10 ns from session to session, in all cases alike."""
        session = len(self.measured)
        start, factor = self.drifts
        moved = (factor if session >= start else 1.0) * (1 + (session % 3 - 1) * 0.00125)
        flat = (self.device_ns.get(name, 2000),) * protocol.blocks
        device_ns = tuple(round(moved * one) for one in self.blocks.get(name, flat))
        count = protocol.completions_per_block * protocol.blocks
        completions = (self.completion_ns.get(name, 20_000),) * count
        return Samples(case_id, 100, device_ns, completions)

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def selftest_on(settings: Settings, instrument: Scripted, **changes: Any) -> tuple[list[str], bool]:
    """Run the selftest on a scripted instrument, with some settings changed."""
    return selftest(instrument, replace(settings, **changes), lambda _: None)
