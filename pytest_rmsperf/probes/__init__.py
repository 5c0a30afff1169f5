"""The probes as an operator: measured beside the cases, in every session, by the same submission.

`null` is the shortest launch there is: it shows a moved host. `copy` moves as many bytes as the
case must: it shows a moved machine and the distance to the wall. Neither rescales anything.
`BLOCK` is no probe: it holds a stream while launches are queued behind it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.accuracy import Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer, int64
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

# Four loads in flight for each of 1024 threads.
THREADS_PER_BLOCK = 1024
VECTORS_PER_THREAD = 4
VECTOR_BYTES = 16
CONSTANTS = (("THREADS_PER_BLOCK", THREADS_PER_BLOCK), ("VECTORS_PER_THREAD", VECTORS_PER_THREAD))


def _vectors(problem: Problem) -> int:
    """16-byte vectors to read, and as many to write, so that both together are `bytes`."""
    return max(1, problem["bytes"] // (2 * VECTOR_BYTES))


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    """Half of the problem's bytes as input, half as output."""
    floats = _vectors(problem) * VECTOR_BYTES // 4
    return (Buffer("x", Role.INPUT, (floats,)), Buffer("y", Role.OUTPUT, (floats,)))


def copy_plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """As many blocks as cover the vectors."""
    vectors = _vectors(problem)
    blocks = -(-vectors // (THREADS_PER_BLOCK * VECTORS_PER_THREAD))
    return LaunchPlan(
        launches=(
            KernelLaunch(
                "copy_kernel",
                blocks,
                THREADS_PER_BLOCK,
                (buffer("x"), buffer("y"), int64(vectors)),
            ),
        ),
        buffers=(),
        facts=(("vectors", vectors),),
        why="each byte is read once and written once",
        unit="vector",
    )


def null_plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One warp that does nothing."""
    return LaunchPlan(
        launches=(KernelLaunch("null_kernel", 1, 32, ()),),
        buffers=(),
        facts=(),
        why="nothing is shorter",
        unit="launch",
    )


def block_plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One thread that waits for the first of two words at the address `words`, but not for ever."""
    arguments = (int64(problem["words"]), int64(problem["limit_ns"]))
    return LaunchPlan(
        launches=(KernelLaunch("block_kernel", 1, 1, arguments),),
        buffers=(),
        facts=(),
        why="the host sets the word when all is queued",
        unit="launch",
    )


def inputs(problem: Problem) -> Arrays:
    """x of standard normal float32 values."""
    import numpy as np

    floats = tensors(problem)[0].shape
    return {"x": np.random.default_rng(1).standard_normal(floats, dtype=np.float32)}


def reference(arrays: Arrays, precision: Precision) -> Arrays:
    """A copy is its input."""
    return {"y": arrays["x"]}


_SOURCE = Path(__file__).with_name("probes.cu")

OPERATOR = Operator(
    name="probe",
    folder=Path(__file__).parent,
    variants=(
        Variant("null", _SOURCE, null_plan, CONSTANTS),
        Variant("copy", _SOURCE, copy_plan, CONSTANTS),
    ),
    problems=(),
    tensors=tensors,
    reference=reference,
    input_sets=(InputSet("random", inputs),),
    tolerance=Tolerance(relative=1e-7, floor=1e-30),
)

BLOCK = Variant("block", Path(__file__).with_name("block.cu"), block_plan)


def probe_of(case: Case, variant: str) -> Case:
    """Return the probe that belongs beside `case`: same submission, and for copy same bytes."""
    if variant == "null":
        return null_probe(case.submission)
    moved = case.operator.traffic_bytes(case.problem)
    return Case(OPERATOR, OPERATOR.variant(variant), case.submission, Problem.of(bytes=moved))


def null_probe(submission: Submission) -> Case:
    """Return the kernel that does nothing, submitted in this way."""
    return Case(OPERATOR, OPERATOR.variant("null"), submission, Problem.of(bytes=1))
