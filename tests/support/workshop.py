"""A session that prepares cases on a device that is none: memory, modules and launches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fake_cuda import FakeContext
from pytest_rmsperf.cases import Case, Submission, Variant
from pytest_rmsperf.device import rotation, session
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.device.session import Session, TimedCase
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.protocol import Cache, Protocol
from pytest_rmsperf.resources import Capacity, CompiledKernel, CompiledModule
from scripted_session import OUTPUT

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

COLD = Protocol(cache=Cache.COLD)
SMALL = Problem.of(rows=1, columns=4096)  # x and y are 16 KiB each
L2_BYTES = 40_000  # twice of it are touched by three launches, but not by two


def case_of(*, launch_ns: int = 8000, counters: int = 1) -> Case:
    """One launch over x and y, and counters of 4 bytes each."""

    def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
        launch = KernelLaunch("small", 1, 32, (buffer("x"), buffer("y"), buffer("counters")))
        state = Buffer("counters", Role.STATE, (counters,), "uint32")
        return LaunchPlan((launch,), (state,), (("launch_ns", launch_ns),), "a test asks for it")

    variant = replace(OPERATOR.variants[0], plan=plan)
    return Case(OPERATOR, variant, Submission.DIRECT, SMALL)


def twin_of(case: Case) -> Case:
    """The same case in another folder, as of another commit."""
    operator = replace(case.operator, folder=Path("/elsewhere"))
    return replace(case, operator=operator, origin="1a2b3c4")


@dataclass(frozen=True)
class Placed:
    """A buffer in the scratch of this number, and at which place of it; both count from 0."""

    name: str
    scratch: int
    place: int = 0


@dataclass
class FakeMemory:
    """Memory of some buffers, and what it shares with other cases."""

    buffers: tuple[object, ...]
    shared: FakeMemory | None = None
    renewed: bool = False
    poisoned: bool = False

    @classmethod
    def of(cls, buffers: Iterable[Buffer], _: object) -> FakeMemory:
        return cls(tuple(buffers))

    def with_placed(self, own: list[Placed]) -> FakeMemory:
        return FakeMemory(tuple(own), shared=self)

    def upload(self, _: Arrays) -> None:
        return

    def renew(self) -> None:
        self.renewed = True

    def poison(self) -> None:
        self.poisoned = True

    def outputs(self) -> dict[str, Any]:
        return {"y": OUTPUT}


@dataclass
class FakeModule:
    """A module of one kernel, of which eight blocks fit each of 132 SMs."""

    kernel: str
    context: FakeContext
    device: str = "fake device"
    sms: int = 132
    capacity_source: str = "driver"

    @property
    def module(self) -> CompiledModule:
        kernel = CompiledKernel(self.kernel, 32, 0, 0, 0, 0)
        return CompiledModule("k.cu", (), "key", b"", (kernel,), from_cache=False)

    def blocks_per_sm(self, *_: object) -> int:
        return 8

    def active_clusters(self, *_: object) -> int | None:
        return None


@dataclass
class FakeInvocation:
    """An invocation whose launches take as long as its plan says."""

    plan: LaunchPlan
    submission: Submission
    module: FakeModule
    memory: FakeMemory

    @property
    def context(self) -> FakeContext:
        return self.module.context

    def run(self) -> None:
        assert self.memory.renewed, "launched on scratch that another case had used"
        assert self.memory.poisoned, "launched on memory that was not poisoned"

    @property
    def launch_ns(self) -> int:
        return dict(self.plan.facts).get("launch_ns", 8000)

    def submit(self, count: int, _: object = None) -> None:
        self.context.stream.now_ns += self.launch_ns * count

    def complete(self, count: int) -> list[int]:
        return [self.launch_ns + 6000] * count


@dataclass
class Workshop:
    """Prepares cases on a device that is none; `compiled` are the sources that were asked for."""

    context: FakeContext = field(default_factory=lambda: FakeContext(L2_BYTES))
    compiled: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, monkeypatch: pytest.MonkeyPatch) -> Workshop:
        """Return a workshop whose launches can be captured."""

        def capture(context: FakeContext, submit: Callable[[int], None]) -> SimpleNamespace:
            return SimpleNamespace(launch=lambda _: submit(1), close=lambda: None)

        numbers = count()

        def scratch(context: FakeContext, places: int) -> SimpleNamespace:
            number = next(numbers)

            def place(own: Iterable[Buffer], which: int = 0) -> list[Placed]:
                assert which < places
                return [Placed(one.name, number, which) for one in own]

            return SimpleNamespace(place=place)

        monkeypatch.setattr(DeviceMemory, "of", FakeMemory.of)
        monkeypatch.setattr(session, "Scratch", scratch)
        monkeypatch.setattr(session, "Invocation", FakeInvocation)
        monkeypatch.setattr(rotation, "captured", capture)
        return cls()

    def on_cuda(self, variant: Variant) -> FakeModule:
        self.compiled.append(variant.source.name)
        kernels = {"null": "null_kernel", "copy": "copy_kernel"}
        return FakeModule(kernels.get(variant.name, "small"), self.context)

    @property
    def cuda_context(self) -> FakeContext:
        return self.context

    def prepare(self, *cases: Case, protocol: Protocol = COLD) -> list[TimedCase]:
        """Return the cases as one session prepares them."""
        checker: Any = self
        preparing = Session(checker, protocol, lambda *_: None)
        preparing._reserve(1)
        return [preparing._prepare(case) for case in cases]


def memories_of(one: TimedCase) -> list[FakeMemory]:
    """The memory of each copy of a case."""
    parts: Any = one.rotation.parts
    return [part.memory for part in parts]
