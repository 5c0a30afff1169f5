"""What the pytest process and a worker say to each other: plain records, pickled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rmsperf.cases import CaseReference
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.protocol import Protocol

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The first message to a worker, which is not answered: what holds for all its work.

    `arch` is compiled for where there is no CUDA device. `needs_device` says that this run began
    on one, so that its absence is an error. `devices` are the devices of interest, on which every
    case is checked without launching it.
    """

    arch: str
    device: DeviceChoice = DeviceChoice.AUTO
    schedules: Schedules = field(default_factory=Schedules)
    needs_device: bool = False
    devices: tuple[DeviceProfile, ...] = ()


@dataclass(frozen=True, slots=True)
class Describe:
    """Asks for the Machine."""


@dataclass(frozen=True, slots=True)
class ReadState:
    """Asks for the DeviceState of this moment, None where there is no device."""


@dataclass(frozen=True, slots=True)
class Check:
    """Asks for the CheckedCase of a case."""

    case: CaseReference
    numerics: bool


@dataclass(frozen=True, slots=True)
class Measure:
    """Asks for one session: a TimedSession."""

    cases: tuple[CaseReference, ...]
    protocol: Protocol


@dataclass(frozen=True, slots=True)
class Launch:
    """Asks for the outputs of one launch on the given inputs, by name."""

    case: CaseReference
    problem: Problem
    inputs: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Outstanding:
    """Asks for what has to be made before these cases can be checked: a tuple of Chores.

    A chore is a request itself, so that any worker can be asked for it.
    """

    cases: tuple[CaseReference, ...]


@dataclass(frozen=True, slots=True)
class Compile:
    """Asks to compile the variant of a case for an arch, into the cache."""

    case: CaseReference
    arch: str


@dataclass(frozen=True, slots=True)
class Disassemble:
    """Asks to count the instructions of these cases' variants for an arch, into the cache.

    Whatever is not compiled by then is left out.
    """

    cases: tuple[CaseReference, ...]
    arch: str


Chore = Compile | Disassemble
Request = Describe | ReadState | Check | Measure | Launch | Outstanding | Compile | Disassemble


@dataclass(frozen=True, slots=True)
class Progress:
    """Says what the worker is about to do; from here on the deadline of that step runs."""

    case_id: str
    step: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of the request, whose type the request says."""

    value: object


@dataclass(frozen=True, slots=True)
class Refusal:
    """The request failed on `case_id`; `fatal` when this worker must not be asked again.

    `is_verdict` says that the gate said no: the message is whole, and nothing broke on the way.
    """

    case_id: str
    step: str
    message: str
    fatal: bool
    is_verdict: bool = False


Reply = Progress | Answer | Refusal
