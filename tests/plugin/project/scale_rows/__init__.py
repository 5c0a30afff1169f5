"""y = 2 * x of each element: an operator of a user's own, as small as one can be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf import (
    Buffer,
    Capacity,
    InputSet,
    KernelLaunch,
    LaunchPlan,
    Operator,
    Precision,
    Problem,
    Role,
    Tolerance,
    Variant,
    buffer,
    int32,
)

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

THREADS_PER_BLOCK = 128


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    """x and y, both float32 of shape (rows, columns)."""
    shape = (problem["rows"], problem["columns"])
    return (Buffer("x", Role.INPUT, shape), Buffer("y", Role.OUTPUT, shape))


def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One block per row."""
    arguments = (buffer("x"), buffer("y"), int32(problem["columns"]))
    launch = KernelLaunch("scale_rows", problem["rows"], THREADS_PER_BLOCK, arguments)
    return LaunchPlan((launch,), buffers=(), facts=(("rows", problem["rows"]),), why="rows are few")


def inputs(problem: Problem) -> Arrays:
    """x counts up from 0."""
    import numpy

    shape = tensors(problem)[0].shape
    return {"x": numpy.arange(shape[0] * shape[1], dtype=numpy.float32).reshape(shape)}


def reference(arrays: Arrays, precision: Precision) -> Arrays:
    """y in float32: doubling is exact."""
    return {"y": arrays["x"] * 2}


FOLDER = Path(__file__).parent

OPERATOR = Operator(
    name="scale_rows",
    folder=FOLDER,
    variants=(
        Variant("scalar", FOLDER / "scalar.cu", plan),
        Variant("vector", FOLDER / "vector.cu", plan),
    ),
    problems=(Problem.of(rows=16, columns=1024),),
    tensors=tensors,
    reference=reference,
    input_sets=(InputSet("counting", inputs),),
    tolerance=Tolerance(relative=1e-6, floor=1e-6),
)
