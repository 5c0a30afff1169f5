"""Two accesses of one place that nothing orders are found, whichever of them comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.faults import Fault

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "races.cu"

IN_BLOCK = (
    "read_after_write",
    "write_after_read",
    "write_after_write",
    "set_bytes",
    "read_in_warp",
    "read_in_other_warp",
    "count_up",
    "write_bytes",
    "write_by_last_reader",
    "read_half",
    "read_byte_of_many",
)
AMONG_BLOCKS = (
    "read_other_block",
    "read_behind_flag",
    "read_behind_half_of_word",
    "read_behind_arrival",
    "read_beside_counter",
)
IN_CLUSTER = ("read_behind_flag_of_peer",)

each_kernel = pytest.mark.parametrize("kernel", [*IN_BLOCK, *AMONG_BLOCKS, *IN_CLUSTER])
some_seeds = pytest.mark.parametrize("seed", [0, 1, 2, 3])


def launch(program: Program, kernel: str, n: int, seed: int) -> Fault | None:
    """Launch a block of two warps, or two of them, on memory that is zero."""
    y, blocks = program.counters(64), 1 + (kernel not in IN_BLOCK)
    return program.launch(
        kernel,
        y,
        n,
        blocks=blocks,
        threads=64,
        cooperative=kernel in AMONG_BLOCKS,
        blocks_per_cluster=1 + (kernel in IN_CLUSTER),
        seed=seed,
    )


@each_kernel
@some_seeds
def test_accesses_that_nothing_orders_are_a_race(program: Program, kernel: str, seed: int) -> None:
    fault = launch(program, kernel, 1, seed)

    assert fault is not None
    assert fault.kind == "race"


@each_kernel
@some_seeds
def test_accesses_that_are_ordered_are_none(program: Program, kernel: str, seed: int) -> None:
    assert launch(program, kernel, 0, seed) is None


@each_kernel
def test_race_is_told_at_the_later_of_its_accesses(program: Program, kernel: str) -> None:
    fault = launch(program, kernel, 1, seed=0)

    assert fault is not None
    assert fault.frames[0].line == program.line(f"race: {kernel}")


def test_race_is_told_with_both_threads_and_the_place(program: Program) -> None:
    fault = launch(program, "read_after_write", 1, seed=0)

    assert str(fault).startswith(
        "race in read_after_write: thread 32 of block 0 reads element 0 of box, which thread 0 of "
        "block 0 wrote with no barrier in between\n"
    )
