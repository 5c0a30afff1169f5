"""Row-wise RMS-scaled softmax: y = softmax((x - max(x)) * rsqrt(mean(x^2) + eps)) of each row.

x and y are float32 arrays of shape (rows, columns). Two synchronization points per row separate
its statistics from its exponentials, and their sum from the quotients. `OPERATOR` is the table of
contents: one line per variant, in the order of the optimizations.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.accuracy import Precision, Tolerance
from pytest_rmsperf.cases import InputSet, Operator
from pytest_rmsperf.launch import Buffer, Role
from pytest_rmsperf.problem import Problem

from . import common, inputs, local_fusion, megakernel_grid, megakernel_row, unfused

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

COLUMNS = 131_072
ROWS = (1, 16, 32, 64)

# Three tiles and one vector of a fourth: whole tiles, a short one, and barriers that several blocks
# of a row meet at. One row is emulated in full, because only there a row has all of its 32 tiles.
EMULATED_COLUMNS = 3 * common.TILE + common.VECTOR
# 16 and 32 rows become 2, and 64 become 4; the rows of edge and special values are all kept.
ROWS_PER_EMULATED_ROW = 16
MOST_EMULATED_ROWS = max(len(inputs.EDGE_ROWS), len(inputs.SPECIAL_ROWS))
# 2^31 + 2^21 elements: an offset in 32 bits is negative in the last rows.
LARGE = Problem.of(rows=16_400, columns=COLUMNS)


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    """x and y, both float32 of shape (rows, columns)."""
    shape = (problem["rows"], problem["columns"])
    return (Buffer("x", Role.INPUT, shape), Buffer("y", Role.OUTPUT, shape))


def emulate_as(problem: Problem) -> Problem:
    """A few rows, and columns enough for each kind of tile; one row stays as it is."""
    rows, columns = problem["rows"], problem["columns"]
    if rows == 1:
        return problem
    few = rows if rows <= MOST_EMULATED_ROWS else max(2, rows // ROWS_PER_EMULATED_ROW)
    return problem.resized(rows=few, columns=min(columns, EMULATED_COLUMNS))


def reference(arrays: Arrays, precision: Precision) -> Arrays:
    """Run the torch module; imported late, because only a numerics check should pay for torch."""
    from .reference import run

    return run(arrays, precision)


OPERATOR = Operator(
    name="rms_scaled_softmax",
    folder=Path(__file__).parent,
    variants=(
        unfused.VARIANT,
        local_fusion.VARIANT,
        megakernel_row.VARIANT,
        megakernel_grid.VARIANT,
        megakernel_grid.RELOAD_INPUT,
        megakernel_grid.RELOAD_EXPONENTIALS,
        megakernel_grid.RELOAD_BOTH,
    ),
    problems=tuple(Problem.of(rows=rows, columns=COLUMNS) for rows in ROWS),
    tensors=tensors,
    reference=reference,
    input_sets=(
        InputSet("random rows", inputs.random_rows),
        InputSet("edge rows", inputs.edge_rows, problem=inputs.edge_problem),
        InputSet(
            "special rows",
            inputs.special_rows,
            precision=Precision.FLOAT32,
            problem=inputs.special_problem,
        ),
    ),
    # float32 rounds an exponent of -46 by about 4e-6 alone, and exp(-46) is 1e-20: what is smaller
    # counts as an absolute error. Without an outlier the kernels are within 1.5e-6 (H200).
    tolerance=Tolerance(relative=1e-5, floor=1e-20),
    emulate_as=emulate_as,
    address_problems=(LARGE,),
)
