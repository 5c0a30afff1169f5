"""The kernels of a test file, compiled once, and launches of them by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_rmsperf.cases import Submission, Variant
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.emulated.device import EmulatedDevice, why_no_emulation
from pytest_rmsperf.emulated.faults import Fault
from pytest_rmsperf.emulated.launcher import EmulatedInvocation
from pytest_rmsperf.emulated.library import BlockCapacity, Conditions, Grid
from pytest_rmsperf.emulated.memory import Allocation
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.launch import (
    Buffer,
    KernelLaunch,
    LaunchPlan,
    Role,
    ScalarArgument,
    float32,
    int32,
)
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array

pytest.register_assert_rewrite("zoo")  # which holds the tests of the test_zoo files

DATA = Path(__file__).parent / "data"
KERNEL = r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\('
PLENTY = BlockCapacity(blocks_per_sm=8, sms=132)

Constants = tuple[tuple[str, int], ...]
Argument = Allocation | ScalarArgument | int | float


class Program:
    """The kernels of one source, loaded, and buffers to launch them on.

    For occupancy a kernel takes 32 registers and no static shared memory, whatever it needs.
    """

    def __init__(self, source: Path, device: EmulatedDevice, constants: Constants = ()) -> None:
        self.source = source
        self.text = source.read_text(encoding="utf-8")
        names = re.findall(KERNEL, self.text)
        kernels = tuple(CompiledKernel(name, 32, 0, 0, 0, 0) for name in names)
        compiled = CompiledModule(str(source), (), "key", b"", kernels, from_cache=False)
        self.module = device.load(compiled, Variant("variant", source, _no_plan, constants))

    def line(self, marker: str) -> str:
        """Return the number of the one line that ends in this comment."""
        lines = enumerate(self.text.splitlines(), 1)
        (found,) = (number for number, line in lines if line.endswith(f"// {marker}"))
        return str(found)

    # ---- buffers -----------------------------------------------------------------------------

    def output(self, elements: int, dtype: str = "float32") -> Allocation:
        """A poisoned buffer called y."""
        return Allocation(Buffer("y", Role.OUTPUT, (elements,), dtype))

    def counters(self, elements: int = 1) -> Allocation:
        """A zeroed buffer of unsigned integers called counters."""
        return Allocation(Buffer("counters", Role.STATE, (elements,), "uint32"))

    def input(self, array: Array) -> Allocation:
        """A buffer called x with these elements."""
        made = Allocation(Buffer("x", Role.INPUT, array.shape, array.dtype.name))
        made.upload(array)
        return made

    def floats(self, elements: int) -> Allocation:
        """The input 0, 1, 2 and so on."""
        return self.input(np.arange(elements, dtype=np.float32))

    # ---- launches ----------------------------------------------------------------------------

    def launch(
        self,
        kernel: str,
        *arguments: Argument,
        threads: int = 32,
        seed: int = 0,
        capacity: BlockCapacity = PLENTY,
        **shape: int | tuple[int, ...],
    ) -> Fault | None:
        """Launch one block, or what `shape` says in the words of Grid."""
        grid = Grid(**{"blocks": 1, "threads_per_block": threads} | shape)  # type: ignore[arg-type]
        values = [_bytes_of(one) for one in arguments]
        self.module.library.require_arguments(kernel, values)
        return self.module.library.launch(kernel, grid, values, Conditions(capacity, seed))

    def prepare(
        self,
        *launches: KernelLaunch,
        buffers: tuple[Buffer, ...],
        submission: Submission = Submission.DIRECT,
    ) -> EmulatedInvocation:
        """Make a plan of these launches ready to run."""
        plan = LaunchPlan(launches, (), (), "a test asks for it")
        return self.module.prepare(plan, submission, buffers)


def _no_plan(*_: object) -> LaunchPlan:
    raise AssertionError("a test makes its launches by hand")


def _bytes_of(argument: Argument) -> bytes:
    if isinstance(argument, Allocation):
        return argument.address.to_bytes(8, "little")
    if isinstance(argument, ScalarArgument):
        return argument.packed()
    return (int32(argument) if isinstance(argument, int) else float32(argument)).packed()


@pytest.fixture(scope="session")
def device() -> EmulatedDevice:
    """An emulated H100 that launches by three schedules."""
    reason = why_no_emulation()
    if reason is not None:
        pytest.skip(f"nothing can be emulated: {reason}")
    return EmulatedDevice.open(profile_for_arch("sm_90"), Schedules(first_seed=0, count=3))


@pytest.fixture(scope="session")
def compile_source(device: EmulatedDevice) -> Callable[[Path], Program]:
    """Compile a source that needs no constants."""
    return partial(Program, device=device)


@pytest.fixture(scope="session")
def compile_variant(device: EmulatedDevice) -> Callable[..., Program]:
    """Compile a variant's source, or another in its place."""

    def compiled(variant: Variant, source: Path | None = None) -> Program:
        return Program(source or variant.source, device, variant.constants)

    return compiled


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest, device: EmulatedDevice) -> Program:
    """The kernels of the file in `data` that the test file names as KERNELS."""
    return Program(DATA / request.module.KERNELS, device)
