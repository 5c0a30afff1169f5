"""An emulated device that a few lines of Python stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from pytest_rmsperf.cases import Case, Submission, Variant
from pytest_rmsperf.emulation import AddressCheck, Schedules
from pytest_rmsperf.errors import CompileError, GateFailure
from pytest_rmsperf.launch import Buffer, LaunchPlan
from pytest_rmsperf.resources import CompiledModule

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array, Arrays

ADDRESSES = AddressCheck(("70000",), launches=2)


@dataclass
class Fake:
    """An emulated device: a launch doubles x, or times `factor`, or ends with `fault`."""

    factor: float = 2.0
    fault: str = ""
    refuses_source: bool = False
    wrong_address: str = ""
    schedules: Schedules = field(default_factory=lambda: Schedules(7, 2))
    asked: list[str] = field(default_factory=list)

    def load(self, compiled: CompiledModule, variant: Variant) -> FakeModule:
        self.asked.append(f"load {variant.name}")
        if self.refuses_source:
            raise CompileError("does not compile: twice.cu for the emulated device")
        return FakeModule(self, compiled)

    def check_addresses(self, case: Case, loaded: FakeModule) -> AddressCheck | None:
        assert loaded.fake is self
        self.asked.append(f"addresses of {case.variant.name}")
        if self.wrong_address:
            raise GateFailure(self.wrong_address)
        return ADDRESSES if case.operator.address_problems else None


@dataclass
class FakeModule:
    """A module of which eight blocks fit each of 132 SMs."""

    fake: Fake
    module: CompiledModule
    device: str = "fake device"
    sms: int = 132
    capacity_source: str = "computed"

    def blocks_per_sm(self, *_: object) -> int:
        return 8

    def active_clusters(self, *_: object) -> int | None:
        return None

    def prepare(
        self,
        plan: LaunchPlan,
        submission: Submission,  # noqa: ARG002
        buffers: Sequence[Buffer],
    ) -> FakeCase:
        rows = "x".join(map(str, buffers[0].shape))
        self.fake.asked.append(f"prepare {plan.launches[0].blocks} blocks for {rows}")
        return FakeCase(self.fake)


@dataclass
class FakeCase:
    """A prepared case that is its own memory."""

    fake: Fake
    arrays: Arrays = field(default_factory=dict)

    @property
    def memory(self) -> FakeCase:
        return self

    def run(self) -> None:
        if self.fake.fault:
            raise GateFailure(self.fake.fault)

    def repeats(self) -> Iterator[int]:
        yield from (1 for _ in self.fake.schedules.seeds[1:])

    def upload(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays

    def outputs(self) -> dict[str, Array]:
        return {"y": numpy.multiply(self.arrays["x"], self.fake.factor)}

    def overwritten(self, *_: object) -> list[str]:
        return []

    def damaged(self) -> list[str]:
        return []
