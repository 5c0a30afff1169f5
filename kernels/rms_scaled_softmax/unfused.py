"""The launch plan of unfused.cu: nine launches, each over the whole input."""

from __future__ import annotations

from pathlib import Path

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.launch import (
    Argument,
    Buffer,
    KernelLaunch,
    LaunchPlan,
    Role,
    buffer,
    float32,
    int32,
)
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

from . import common

WARP_THREADS = 32


def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One block per tile, and one warp per row for the three kernels that finish a row."""
    rows, columns = problem["rows"], common.check_columns(problem)
    tiles = common.tiles_per_row(problem)

    def per_tile(kernel: str, *arguments: Argument) -> KernelLaunch:
        return KernelLaunch(kernel, rows * tiles, common.THREADS_PER_BLOCK, (*arguments, *shape))

    def per_row(kernel: str, *arguments: Argument) -> KernelLaunch:
        return KernelLaunch(kernel, rows, WARP_THREADS, arguments)

    x, squares, values, y = map(buffer, ("x", "squares", "values", "y"))
    sums, inverse, maxima, row_max, row_total = map(
        buffer, ("tile_sums", "row_inverse_rms", "tile_maxima", "row_maxima", "row_sums")
    )
    shape = (int32(columns), int32(tiles))
    return LaunchPlan(
        launches=(
            per_tile("square_elements", x, squares),
            per_tile("tile_sums", squares, sums),
            per_row("row_inverse_rms", sums, inverse, *shape, float32(common.EPS)),
            per_tile("tile_maxima", x, maxima),
            per_row("row_maxima", maxima, row_max, int32(tiles)),
            per_tile("exponentials", x, inverse, row_max, values),
            per_tile("tile_sums", values, sums),
            per_row("row_sums", sums, row_total, int32(tiles)),
            per_tile("normalize", values, row_total, y),
        ),
        buffers=(
            Buffer("squares", Role.SCRATCH, (rows, columns)),
            Buffer("values", Role.SCRATCH, (rows, columns)),
            common.tile_floats("tile_sums", rows, tiles),
            common.tile_floats("tile_maxima", rows, tiles),
            common.row_floats("row_inverse_rms", problem),
            common.row_floats("row_maxima", problem),
            common.row_floats("row_sums", problem),
        ),
        facts=(("tile", common.TILE), ("rows_per_launch", rows)),
        why="launch order is the only synchronization, so one launch takes any number of rows",
    )


VARIANT = Variant(
    name="unfused",
    source=Path(__file__).with_suffix(".cu"),
    plan=plan,
    constants=common.TILE_CONSTANTS,
)
