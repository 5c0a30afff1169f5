"""The launch plan of megakernel_row.cu: as few cooperative launches as hold all rows."""

from __future__ import annotations

from pathlib import Path

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.launch import Buffer, LaunchPlan, Role, buffer, float32, int32, int64
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

from . import common, retained_tile

KERNEL = "megakernel_row"

# 128 bytes: a line of memory for each counter (row_barrier.cuh has the measurement).
COUNTER_STRIDE = 32


def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """Group the rows by what is resident; the groups share scratch, for they run in order."""
    columns, tiles = common.check_columns(problem), common.tiles_per_row(problem)
    most_rows = retained_tile.rows_that_fit(KERNEL, problem, capacity)
    groups = tuple(common.row_groups(problem, most_rows=most_rows))
    rows_per_launch = max(rows for _, rows in groups)
    memory = tuple(map(buffer, ("x", "y", "tile_statistics", "tile_sums", "row_counters")))
    return LaunchPlan(
        launches=tuple(
            retained_tile.cooperative(
                KERNEL,
                rows,
                tiles,
                (*memory, int64(first_row), int32(columns), int32(tiles), float32(common.EPS)),
            )
            for first_row, rows in groups
        ),
        buffers=(
            common.tile_floats("tile_statistics", rows_per_launch, tiles, floats=2),
            common.tile_floats("tile_sums", rows_per_launch, tiles),
            Buffer("row_counters", Role.STATE, (rows_per_launch, 2, COUNTER_STRIDE), "uint32"),
        ),
        facts=(("tile", common.TILE), ("rows_per_launch", rows_per_launch)),
        why=retained_tile.reason(most_rows, tiles, capacity),
    )


VARIANT = Variant(
    name="megakernel_row",
    source=Path(__file__).with_suffix(".cu"),
    plan=plan,
    constants=(*retained_tile.CONSTANTS, ("COUNTER_STRIDE", COUNTER_STRIDE)),
)
