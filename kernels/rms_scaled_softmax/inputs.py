"""Seeded inputs: random rows, rows at the edges of ordinary arithmetic, and special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pytest_rmsperf.cases import Arrays

    Row = npt.NDArray[np.float32]
    Rows = tuple[Callable[[Row], None], ...]

SEED = 20260212


def random_rows(problem: Problem) -> Arrays:
    """x of standard normal float32 values, the same for the same problem."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    shape = (problem["rows"], problem["columns"])
    return {"x": generator.standard_normal(shape, dtype=np.float32)}


def _random_rows_with(rows: Rows, problem: Problem) -> Arrays:
    """Random rows, each then changed in place by one of `rows`."""
    arrays = random_rows(problem)
    for change, row in zip(rows, arrays["x"], strict=True):
        change(row)
    return arrays


def _filled(value: float) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        row[:] = value

    return change


def _one(value: float, *more: float) -> Callable[[Row], None]:
    """Put values into a random row at its last places, where a short tile or vector ends."""

    def change(row: Row) -> None:
        for place, special in enumerate((value, *more)):
            row[-1 - place % len(row)] = special

    return change


def _scaled(factor: float, offset: float = 0.0) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        row *= factor
        row += offset

    return change


# The truth of these is the float64 module's.
EDGE_ROWS: Rows = (
    _filled(0.0),
    _filled(1234.0),
    _filled(-3.0),
    _one(1e3),  # one outlier takes all the weight
    _filled(1e-40),  # denormal
    _scaled(1e-42),  # denormals of both signs
    _scaled(1e-3, 1e4),  # large mean, small spread
    _scaled(1e15),  # squares near 1e30 still sum without overflow
)

INFINITY, NAN = float("inf"), float("nan")

# x^2 overflows or is not finite: the semantics are those of the float32 module.
SPECIAL_ROWS: Rows = (
    _scaled(1e19),
    _filled(1e38),
    _one(3e38),
    _one(INFINITY),
    _one(INFINITY, INFINITY),
    _one(-INFINITY),
    _one(INFINITY, -INFINITY),
    _filled(INFINITY),
    _filled(-INFINITY),
    _one(NAN),
    _one(NAN, INFINITY),
    _filled(NAN),
)


def edge_problem(problem: Problem) -> Problem:
    """The case's columns with one row per edge."""
    return problem.resized(rows=len(EDGE_ROWS))


def edge_rows(problem: Problem) -> Arrays:
    """x with the rows of EDGE_ROWS."""
    return _random_rows_with(EDGE_ROWS, problem)


def special_problem(problem: Problem) -> Problem:
    """The case's columns with one row per special value."""
    return problem.resized(rows=len(SPECIAL_ROWS))


def special_rows(problem: Problem) -> Arrays:
    """x with the rows of SPECIAL_ROWS."""
    return _random_rows_with(SPECIAL_ROWS, problem)
