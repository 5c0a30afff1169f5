"""What the launch plans of this operator share; the Python twin of common.cuh."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.launch import Buffer, Role
from pytest_rmsperf.problem import Problem

EPS = 1e-5
VECTOR = 4  # floats per access

# 4096 floats are 16 KiB of shared memory and 4 float4 for each of 256 threads. At N = 131072 a
# row is 32 tiles, so 16 rows give 512 blocks: about four for each SM of an H100 or H200.
TILE = 4096
THREADS_PER_BLOCK = 256
TILE_CONSTANTS = (("TILE", TILE), ("THREADS_PER_BLOCK", THREADS_PER_BLOCK))


def check_columns(problem: Problem) -> int:
    """Return the columns; PlanError unless they are a multiple of one vector."""
    columns = problem["columns"]
    if columns % VECTOR:
        raise PlanError(
            f"columns must be a multiple of {VECTOR}, because every access is a float4 and each "
            f"row must start on 16 bytes; got {columns}"
        )
    return columns


def tiles_per_row(problem: Problem) -> int:
    """Return the tiles of one row, the last of which may be short."""
    return -(-check_columns(problem) // TILE)


def row_groups(problem: Problem, *, most_rows: int) -> Iterator[tuple[int, int]]:
    """Yield (first row, rows) of as few groups as hold at most `most_rows`, evenly filled.

    Even groups, because 33 + 31 rows would make one launch wait longer than 32 + 32 does.
    """
    rows = problem["rows"]
    groups = -(-rows // most_rows)
    start = 0
    for group in range(groups):
        end = rows * (group + 1) // groups
        yield start, end - start
        start = end


def row_floats(name: str, problem: Problem) -> Buffer:
    """Scratch of one float per row."""
    return Buffer(name, Role.SCRATCH, (problem["rows"],))


def tile_floats(name: str, rows: int, tiles: int, *, floats: int = 1) -> Buffer:
    """Scratch of `floats` floats per tile of `rows` rows."""
    return Buffer(name, Role.SCRATCH, (rows, tiles, floats))
