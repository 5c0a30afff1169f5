"""What is known about a case before it is timed, and what a session of timing brought."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from pytest_rmsperf.accuracy import Numerics
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.launch import LaunchPlan
from pytest_rmsperf.protocol import StopReason
from pytest_rmsperf.residency import Residency
from pytest_rmsperf.resources import CompiledModule
from pytest_rmsperf.samples import Samples


class Stage(str, Enum):
    """The order of work on a case; each stage presupposes the ones before it."""

    COMPILE = "compile"
    PLAN = "plan"
    RESIDENCY = "residency"
    NUMERICS = "numerics"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a case went no further than `stage`.

    `fatal` says that the process it happened in can no longer be trusted with the device.
    """

    stage: Stage
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """A case after the stages before timing; a stage that was not reached is None.

    `static` holds it against the devices of interest, one entry per arch, whatever this run's own
    device says of it.
    """

    case_id: str
    compiled: CompiledModule | None = None
    plan: LaunchPlan | None = None
    residency: Residency | None = None
    numerics: Numerics | None = None
    failure: Failure | None = None
    static: tuple[StaticCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class EmulatedMachine:
    """The emulated device of a run: which one it stands for, and what runs the kernels."""

    identity: DeviceIdentity  # of a profile: nothing here was asked of a device
    compiler: str
    schedules: Schedules


@dataclass(frozen=True, slots=True)
class Machine:
    """What the worker found to run on: a device, or the reasons why there is none.

    `emulated` is None beside a device. `why_no_emulation` is None too where nobody looked for it.
    """

    device: DeviceRecord | None
    why_no_device: str | None
    compiler: tuple[tuple[str, str], ...] = ()
    packages: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()  # what a person should know, though the work goes on
    emulated: EmulatedMachine | None = None
    why_no_emulation: str | None = None

    @property
    def why_not_timed(self) -> str | None:
        """Why no latency can be taken here; None where one can."""
        return None if self.device else f"no CUDA device ({self.why_no_device})"

    @property
    def why_not_launched(self) -> str | None:
        """Why nothing can be launched here, not even emulated; None where it can."""
        if self.device or self.emulated:
            return None
        if self.why_no_emulation is None:
            return self.why_not_timed
        return f"{self.why_not_timed}, and no emulated one ({self.why_no_emulation})"


@dataclass(frozen=True, slots=True)
class Turn:
    """In which order a block went through the cases: `start` and on, or back to it from its end."""

    start: int
    backwards: bool


@dataclass(frozen=True, slots=True)
class TimedSession:
    """What a worker brings back of one session.

    `order` are the ids of all cases and probes, from which `turns`, one per block, say where each
    block began. `during` holds one reading of the device per block.
    """

    samples: dict[str, Samples]
    order: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    stop_reason: StopReason = StopReason.BLOCKS
    during: tuple[DeviceState, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionResult:
    """One session: what was timed, the cases it lost, and the device before and after it.

    `unfit` says what was wrong with the machine, and `drifting` with the samples of single cases.
    """

    timed: TimedSession
    failures: dict[str, Failure] = field(default_factory=dict)
    before: DeviceState | None = None
    after: DeviceState | None = None
    unfit: str | None = None
    drifting: dict[str, str] = field(default_factory=dict)

    @property
    def samples(self) -> dict[str, Samples]:
        return self.timed.samples

    def why_unfit(self, *case_ids: str) -> str | None:
        """Say what was wrong with the machine, or with the samples of one of these cases, or None.

        Without an id: with the samples of any case.
        """
        drifts = (self.drifting.get(one) for one in case_ids or self.drifting)
        return next((text for text in (self.unfit, *drifts) if text), None)

    @property
    def states(self) -> tuple[DeviceState, ...]:
        """All readings of the device, in order of time."""
        ends = (self.before, *self.timed.during, self.after)
        return tuple(one for one in ends if one is not None)
