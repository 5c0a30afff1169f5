"""The launch plan of local_fusion.cu: three launches, each over the whole input."""

from __future__ import annotations

from pathlib import Path

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.launch import Argument, KernelLaunch, LaunchPlan, buffer, float32, int32
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

from . import common


def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One block per tile in every launch."""
    rows, columns = problem["rows"], common.check_columns(problem)
    tiles = common.tiles_per_row(problem)
    x, y, statistics, sums = map(buffer, ("x", "y", "tile_statistics", "tile_sums"))
    shape = (int32(columns), int32(tiles))

    def per_tile(kernel: str, *arguments: Argument) -> KernelLaunch:
        return KernelLaunch(kernel, rows * tiles, common.THREADS_PER_BLOCK, arguments)

    return LaunchPlan(
        launches=(
            per_tile("tile_statistics", x, statistics, *shape),
            per_tile("exponential_sums", x, statistics, sums, *shape, float32(common.EPS)),
            per_tile("normalize", x, statistics, sums, y, *shape, float32(common.EPS)),
        ),
        buffers=(
            common.tile_floats("tile_statistics", rows, tiles, floats=2),
            common.tile_floats("tile_sums", rows, tiles),
        ),
        facts=(("tile", common.TILE), ("rows_per_launch", rows)),
        why="launch order is the only synchronization, so one launch takes any number of rows",
    )


VARIANT = Variant(
    name="local_fusion",
    source=Path(__file__).with_suffix(".cu"),
    plan=plan,
    constants=common.TILE_CONSTANTS,
)
