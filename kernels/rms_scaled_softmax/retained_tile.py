"""What the plans of the two megakernels share: cooperative launches of as many rows as fit."""

from __future__ import annotations

from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.launch import Argument, KernelLaunch
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity, resident_blocks

from . import common

TILE_BYTES = common.TILE * 4

# Eight blocks of 256 threads fill an SM (2048 threads), which caps registers at 32 per thread.
# With 132 SMs that holds 1056 blocks: 32 rows of 131072 columns in one launch, 64 in two.
BLOCKS_PER_SM = 8
CONSTANTS = (*common.TILE_CONSTANTS, ("BLOCKS_PER_SM", BLOCKS_PER_SM))


def rows_that_fit(kernel: str, problem: Problem, capacity: Capacity) -> int:
    """Return how many rows one cooperative launch holds; PlanError when not even one fits."""
    tiles = common.tiles_per_row(problem)
    limit = resident_blocks(capacity, kernel, common.THREADS_PER_BLOCK, TILE_BYTES)
    if tiles > limit:
        raise PlanError(
            f"{kernel}: the blocks of one row must be resident together on {capacity.device}; "
            f"a row of {problem['columns']} columns is {tiles} blocks and {limit} fit, so columns "
            f"may be at most {limit * common.TILE}"
        )
    return limit // tiles


def cooperative(
    kernel: str, rows: int, tiles: int, arguments: tuple[Argument, ...]
) -> KernelLaunch:
    """One cooperative launch with one block per tile of `rows` rows."""
    return KernelLaunch(
        kernel,
        blocks=rows * tiles,
        threads_per_block=common.THREADS_PER_BLOCK,
        arguments=arguments,
        dynamic_smem_bytes=TILE_BYTES,
        cooperative=True,
        waits_on_blocks=True,
        blocks_per_unit=tiles,
    )


def reason(most_rows: int, tiles: int, capacity: Capacity) -> str:
    """Say why the rows are grouped as they are."""
    return (
        f"{tiles} blocks per row wait for each other, and {capacity.device} holds {most_rows} "
        "rows of them at a time"
    )
