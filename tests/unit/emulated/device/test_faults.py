"""Each fault of a kernel is found, and told with kernel, block, thread, line and remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.faults import REMEDIES, Fault

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "faults.cu"

WRITES = "writes element {} of y, which has 32 elements"
READS = "atomically reads element 32 of y, which has 32 elements"
UPDATES = "atomically updates element 32 of y, which has 32 elements"


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel, its `n` with the fault and without, and how the fault is told."""

    kernel: str
    bad: int
    good: int
    kind: str
    text: str
    thread: int = 0
    block: int = 0
    blocks: int = 1
    cluster: int = 1
    dynamic_smem_bytes: int = 0
    marker: str | None = None  # another function's than the kernel's

    def __str__(self) -> str:
        return self.kernel

    def launch(self, program: Program, n: int) -> Fault | None:
        return program.launch(
            self.kernel,
            program.floats(32),
            program.output(32),
            n,
            blocks=self.blocks,
            blocks_per_cluster=self.cluster,
            dynamic_smem_bytes=self.dynamic_smem_bytes,
        )


BOUNDS, UNWRITTEN, OVERFLOW = "out of bounds", "uninitialized read", "integer overflow"
WARP, INVALID = "divergent warp", "invalid operation"
ROWS = (
    Row("read_behind", 1, 0, BOUNDS, "reads element 32 of x, which has 32 elements", thread=31),
    Row("write_behind", 1, 0, BOUNDS, WRITES.format(32), thread=31),
    Row("write_before", 1, 0, BOUNDS, WRITES.format(-1)),
    Row("read_null", 1, 0, BOUNDS, "reads 4 bytes at address (nil): a null pointer"),
    Row("count_behind", 1, 0, BOUNDS, UPDATES, thread=31),
    Row("add_behind", 1, 0, BOUNDS, READS, thread=31),
    Row(
        "fill_shared",
        1,
        0,
        BOUNDS,
        "writes 4 bytes at byte 128 of tile, which has 128 bytes",
        thread=31,
    ),
    Row("index_shared", 1, 0, BOUNDS, "uses index 32 of an array 'float [32]'", thread=31),
    Row(
        "fill_dynamic",
        1,
        0,
        BOUNDS,
        "writes 4 bytes at byte 128 of the dynamic shared memory, which has 128 bytes",
        thread=31,
        dynamic_smem_bytes=128,
    ),
    Row("index_local", 4, 3, BOUNDS, "uses index 4 of an array 'float [4]'"),
    Row(
        "map_peer",
        2,
        1,
        BOUNDS,
        "maps shared memory of block 2 of a cluster of 2",
        thread=31,
        block=1,
        blocks=2,
        cluster=2,
    ),
    Row(
        "walk_out_of_cluster",
        4096,
        0,
        BOUNDS,
        "reads the shared memory of a block that is not in its cluster",
        thread=31,
        block=1,
        blocks=64,
        cluster=2,
    ),
    Row(
        "write_to_leaver",
        1,
        0,
        "peer has left",
        "writes the shared memory of block 1 of its cluster, all of whose threads have left",
        blocks=2,
        cluster=2,
    ),
    Row("add_to_output", 1, 0, UNWRITTEN, "reads 4 bytes of y that nobody wrote (element 0)"),
    Row("read_shared", 1, 0, UNWRITTEN, "reads 4 bytes of unset that nobody wrote (element 0)"),
    Row("reverse", 1, 0, UNWRITTEN, "reads 4 bytes of reversed that nobody wrote (element 31)"),
    Row(
        "split_warp",
        1,
        0,
        WARP,
        "calls __syncwarp with mask 0xffffff00, while lanes 0x0000ffff of its warp wait with mask "
        "0xffffffff: each waits for the other",
        thread=16,
    ),
    Row(
        "mixed_warp",
        1,
        0,
        WARP,
        "calls a vote, while lanes 0x0000ffff of its warp wait in a shuffle with the same mask",
        thread=16,
    ),
    Row(
        "leave_out",
        1,
        0,
        WARP,
        "is lane 0 and calls __syncwarp with mask 0xfffffffe, which leaves it out",
    ),
    Row(
        "shuffle_from",
        16,
        15,
        INVALID,
        "reads lane 16 by __shfl_sync, a lane that is not in the mask (mask 0x0000ffff)",
    ),
    Row(
        "subtract_integers",
        2**31 - 1,
        2**31 - 2,
        OVERFLOW,
        "computes -2 - 2147483647, which does not fit 'int'",
    ),
    Row(
        "multiply_integers",
        32768,
        32767,
        OVERFLOW,
        "computes 32768 * 65536, which does not fit 'int'",
    ),
    Row("divide_integers", 0, 1, "division by zero", "computes 32 / 0"),
    Row("shift_integer", 32, 31, OVERFLOW, "shifts 'unsigned int' 1 by 32 bits"),
    Row("trap", 1, 0, INVALID, "executes __trap()", thread=3),
    Row("assert_below", 31, 32, INVALID, "fails assert(threadIdx.x < n)", thread=31),
    Row(
        "descend_far",
        200,
        10,
        "stack overflow",
        "takes more than 126976 bytes of stack for its variables and calls",
        marker="descend",
    ),
)

each_fault = pytest.mark.parametrize("row", ROWS, ids=str)


# ---- one thread, one place -------------------------------------------------------------------


@each_fault
def test_fault_is_told_with_kind_kernel_thread_block_and_what_it_did(
    program: Program, row: Row
) -> None:
    fault = row.launch(program, row.bad)

    assert str(fault).splitlines()[0] == (
        f"{row.kind} in {row.kernel}: thread {row.thread} of block {row.block} {row.text}"
    )


@each_fault
def test_fault_is_found_at_its_line(program: Program, row: Row) -> None:
    fault = row.launch(program, row.bad)

    assert fault is not None
    assert fault.frames[0].line == program.line(f"fault: {row.marker or row.kernel}")


@each_fault
def test_kernel_without_the_fault_is_clean(program: Program, row: Row) -> None:
    assert row.launch(program, row.good) is None


def test_address_far_from_every_buffer_is_a_fault_at_its_line(program: Program) -> None:
    fault = program.launch("write_far_away", program.floats(32), program.output(32), 1)

    assert fault is not None
    assert (fault.kind, fault.frames[0].line) == (BOUNDS, program.line("fault: write_far_away"))


@pytest.mark.parametrize("distance", [-1, 1])
def test_shared_variable_s_neighbours_are_out_of_its_bounds(
    program: Program, distance: int
) -> None:
    fault = program.launch("fill_one_of_three", program.floats(32), program.output(32), distance)

    assert fault is not None
    assert fault.kind == BOUNDS


def test_shared_variable_between_neighbours_is_clean(program: Program) -> None:
    fault = program.launch("fill_one_of_three", program.floats(32), program.output(32), 0)

    assert fault is None


def test_misaligned_vector_is_told_with_its_type_and_what_it_must_be_a_multiple_of(
    program: Program,
) -> None:
    fault = program.launch("store_vector", program.floats(32), program.output(32), 1)

    assert fault is not None
    assert fault.kind == "misaligned access"
    assert fault.text.startswith("accesses 'struct float4' at address 0x")
    assert fault.text.endswith("4, which must be a multiple of 16")


def test_aligned_vector_is_clean(program: Program) -> None:
    fault = program.launch("store_vector", program.floats(32), program.output(32), 4)

    assert fault is None


# ---- the message as a whole ------------------------------------------------------------------


def test_message_has_verdict_place_schedule_and_remedy(program: Program) -> None:
    fault = program.launch("trap", program.floats(32), program.output(32), 1, seed=7)

    line = program.line("fault: trap")
    assert str(fault).splitlines()[1:] == [
        f"  at         tests/unit/emulated/device/data/faults.cu:{line} in trap",
        "  schedule   seed 7 of the emulated device",
        (
            "mend the line that is named; then: pytest --rmsperf --lf --rmsperf-device=emulated "
            "--rmsperf-emulated-seed=7"
        ),
    ]


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind in REMEDIES], ids=str)
def test_remedy_fits_the_kind_of_fault(program: Program, row: Row) -> None:
    fault = row.launch(program, row.bad)

    assert str(fault).splitlines()[-1].startswith(REMEDIES[row.kind])
