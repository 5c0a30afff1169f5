"""What a variant wants launched: buffers, typed arguments, kernel launches, and the plan of them.

The words follow CUDA: a grid has `blocks` blocks of `threads_per_block` threads. All records are
plain data, so a plan can be made, printed and tested where there is no GPU.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum
from math import prod

from pytest_rmsperf.errors import PlanError

# The largest one-dimensional grid of every compute capability from 3.0 on (CUDA C++ Programming
# Guide, table of technical specifications).
MAX_BLOCKS = 2**31 - 1
MAX_THREADS_PER_BLOCK = 1024

ELEMENT_BYTES = {"float32": 4, "float16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint8": 1}


class Role(str, Enum):
    """What a buffer is for, which decides how it is filled before a checked launch."""

    INPUT = "input"  # filled from the problem's inputs
    OUTPUT = "output"  # poisoned, then compared with the reference
    SCRATCH = "scratch"  # poisoned: a kernel must write it before reading it
    STATE = "state"  # zeroed once, then kept from launch to launch (barrier counters)


@dataclass(frozen=True, slots=True)
class Buffer:
    """One device array: row-major, contiguous, of `shape` elements of `dtype`."""

    name: str
    role: Role
    shape: tuple[int, ...]
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.dtype not in ELEMENT_BYTES:
            raise PlanError(
                f"buffer {self.name} has dtype {self.dtype!r}; known are {', '.join(ELEMENT_BYTES)}"
            )
        if any(size < 1 for size in self.shape):
            raise PlanError(f"buffer {self.name} has an empty shape {self.shape}")

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * ELEMENT_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class BufferArgument:
    """A kernel parameter that is the address of a named buffer."""

    name: str


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A kernel parameter passed by value with the exact C type of the kernel's signature.

    `layout` is a `struct` code: the value is packed by it, so a Python float bound to a C `float`
    travels as 4 bytes and never as a double.
    """

    layout: str
    value: int | float

    def __post_init__(self) -> None:
        try:
            struct.pack(self.layout, self.value)
        except (struct.error, OverflowError) as error:
            raise PlanError(f"argument {self.value!r} does not fit its C type: {error}") from error

    def packed(self) -> bytes:
        return struct.pack(self.layout, self.value)


Argument = BufferArgument | ScalarArgument


def buffer(name: str) -> BufferArgument:
    """The address of the buffer called `name`."""
    return BufferArgument(name)


def int32(value: int) -> ScalarArgument:
    """A C `int`; a value outside its range raises PlanError."""
    return ScalarArgument("<i", value)


def int64(value: int) -> ScalarArgument:
    """A C `long long`; a value outside its range raises PlanError."""
    return ScalarArgument("<q", value)


def float32(value: float) -> ScalarArgument:
    """A C `float`; a value outside its range raises PlanError."""
    return ScalarArgument("<f", value)


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """One launch of one kernel.

    `waits_on_blocks` says that blocks wait for other blocks of the same launch, whether through a
    cooperative grid barrier or a hand-made one: such a launch must be resident as a whole.
    `blocks_per_unit` blocks work on one unit of the plan (a row), so that a refusal can say how
    many units per launch would fit. Blocks of a cluster, `blocks_per_cluster` of them, run at the
    same time and see each other's shared memory.
    """

    kernel: str
    blocks: int
    threads_per_block: int
    arguments: tuple[Argument, ...]
    dynamic_smem_bytes: int = 0
    cooperative: bool = False
    waits_on_blocks: bool = False
    blocks_per_unit: int = 1
    blocks_per_cluster: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.blocks <= MAX_BLOCKS:
            raise PlanError(f"{self.kernel}: blocks must be 1 to {MAX_BLOCKS}, got {self.blocks}")
        if not 1 <= self.threads_per_block <= MAX_THREADS_PER_BLOCK:
            raise PlanError(
                f"{self.kernel}: threads_per_block must be 1 to {MAX_THREADS_PER_BLOCK}, "
                f"got {self.threads_per_block}"
            )
        if self.dynamic_smem_bytes < 0:
            raise PlanError(
                f"{self.kernel}: dynamic_smem_bytes must not be negative, "
                f"got {self.dynamic_smem_bytes}"
            )
        if self.blocks_per_unit < 1:
            raise PlanError(
                f"{self.kernel}: blocks_per_unit must be at least 1, got {self.blocks_per_unit}"
            )
        if self.blocks_per_cluster < 1 or self.blocks % self.blocks_per_cluster:
            raise PlanError(
                f"{self.kernel}: blocks must be whole clusters of blocks_per_cluster, at least 1; "
                f"got {self.blocks} blocks in clusters of {self.blocks_per_cluster}"
            )

    @property
    def must_be_resident(self) -> bool:
        return self.cooperative or self.waits_on_blocks


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The launches of one invocation, in stream order, and the memory they need.

    `buffers` are the plan's own scratch and state; inputs and outputs belong to the operator.
    `facts` are the numbers a reader wants (tile, rows_per_launch), `why` the reason for them.
    """

    launches: tuple[KernelLaunch, ...]
    buffers: tuple[Buffer, ...]
    facts: tuple[tuple[str, int], ...]
    why: str
    unit: str = "row"

    def __post_init__(self) -> None:
        if not self.launches:
            raise PlanError("a plan needs at least one launch, got none")

    def describe(self) -> str:
        """One line: launches, threads, shared bytes, facts, reason."""
        threads = sorted({launch.threads_per_block for launch in self.launches})
        smem = max(launch.dynamic_smem_bytes for launch in self.launches)
        parts = (
            f"{len(self.launches)} launch{'es' if len(self.launches) > 1 else ''}",
            f"{'/'.join(map(str, threads))} threads per block",
            f"{smem} dynamic shared bytes",
            *(f"{name} {value}" for name, value in self.facts),
        )
        return f"{', '.join(parts)}: {self.why}"
