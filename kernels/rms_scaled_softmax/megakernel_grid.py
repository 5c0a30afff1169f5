"""The launch plan of megakernel_grid.cu, and the three settings of its run-time switches."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.launch import Buffer, LaunchPlan, Role, buffer, float32, int32, int64
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

from . import common, retained_tile

KERNEL = "megakernel_grid"


def plan(
    problem: Problem,
    capacity: Capacity,
    *,
    reload_input: bool = False,
    reload_exponentials: bool = False,
) -> LaunchPlan:
    """Group the rows by what is resident; the groups share scratch, for they run in order."""
    columns, tiles = common.check_columns(problem), common.tiles_per_row(problem)
    most_rows = retained_tile.rows_that_fit(KERNEL, problem, capacity)
    groups = tuple(common.row_groups(problem, most_rows=most_rows))
    rows_per_launch = max(rows for _, rows in groups)
    memory = tuple(map(buffer, ("x", "y", "tile_statistics", "tile_sums", "spilled")))
    shape = (int32(columns), int32(tiles), float32(common.EPS))
    switches = (int32(reload_input), int32(reload_exponentials))
    return LaunchPlan(
        launches=tuple(
            retained_tile.cooperative(
                KERNEL, rows, tiles, (*memory, int64(first_row), *shape, *switches)
            )
            for first_row, rows in groups
        ),
        buffers=(
            common.tile_floats("tile_statistics", rows_per_launch, tiles, floats=2),
            common.tile_floats("tile_sums", rows_per_launch, tiles),
            Buffer("spilled", Role.SCRATCH, (problem["rows"], columns)),
        ),
        facts=(
            ("tile", common.TILE),
            ("rows_per_launch", rows_per_launch),
            ("reload_input", int(reload_input)),
            ("reload_exponentials", int(reload_exponentials)),
        ),
        why=retained_tile.reason(most_rows, tiles, capacity),
    )


def _variant(name: str, *, reload_input: bool, reload_exponentials: bool) -> Variant:
    return Variant(
        name=name,
        source=Path(__file__).with_suffix(".cu"),
        plan=partial(plan, reload_input=reload_input, reload_exponentials=reload_exponentials),
        constants=retained_tile.CONSTANTS,
    )


VARIANT = _variant("megakernel_grid", reload_input=False, reload_exponentials=False)
RELOAD_INPUT = _variant(
    "megakernel_grid_reload_input", reload_input=True, reload_exponentials=False
)
RELOAD_EXPONENTIALS = _variant(
    "megakernel_grid_reload_exponentials", reload_input=False, reload_exponentials=True
)
RELOAD_BOTH = _variant("megakernel_grid_reload_both", reload_input=True, reload_exponentials=True)
