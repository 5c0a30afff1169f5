"""An operator whose variants go wrong in the worker, each in the way its name says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pytest_rmsperf import (
    Buffer,
    Capacity,
    InputSet,
    KernelLaunch,
    LaunchPlan,
    Operator,
    PlanError,
    Precision,
    Problem,
    Role,
    Tolerance,
    Variant,
    buffer,
)

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

FOLDER = Path(__file__).parent
FOR_EVER_S = 600


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    """x and y, both float32 of shape (rows, 32)."""
    shape = (problem["rows"], 32)
    return (Buffer("x", Role.INPUT, shape), Buffer("y", Role.OUTPUT, shape))


def sound(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One warp per row."""
    launch = KernelLaunch("twice", problem["rows"], 32, (buffer("x"), buffer("y")))
    return LaunchPlan((launch,), buffers=(), facts=(), why="a row is a warp wide")


def too_big(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """Blocks that wait on each other, more of them than fit any device."""
    plan = sound(problem, capacity)
    launch = replace(plan.launches[0], blocks=1_000_000, waits_on_blocks=True)
    return replace(plan, launches=(launch,))


def refuses(problem: Problem, capacity: Capacity) -> NoReturn:
    raise PlanError(f"refuses: rows must be even, got {problem['rows']}")


def raises(problem: Problem, capacity: Capacity) -> NoReturn:
    raise LookupError("nobody expected this")


def exits(problem: Problem, capacity: Capacity) -> NoReturn:
    os._exit(3)


def crashes(problem: Problem, capacity: Capacity) -> NoReturn:
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError("still alive")


def sleeps(problem: Problem, capacity: Capacity) -> NoReturn:
    sys.stderr.write("about to sleep\n")
    time.sleep(FOR_EVER_S)
    raise AssertionError("woke up")


def deaf(problem: Problem, capacity: Capacity) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGABRT):
        signal.signal(number, signal.SIG_IGN)
    sleeps(problem, capacity)


def leaves_a_child(problem: Problem, capacity: Capacity) -> NoReturn:
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({FOR_EVER_S})"])
    sys.stderr.write(f"child {child.pid}\n")
    sleeps(problem, capacity)


def inputs(problem: Problem) -> Arrays:
    """x of ones."""
    import numpy

    return {"x": numpy.ones((problem["rows"], 32), numpy.float32)}


def reference(arrays: Arrays, precision: Precision) -> Arrays:
    """y = 2 * x."""
    return {"y": arrays["x"] * 2}


PLANS = (sound, too_big, refuses, raises, exits, crashes, sleeps, deaf, leaves_a_child)

OPERATOR = Operator(
    name="faulty",
    folder=FOLDER,
    variants=(
        *(Variant(plan.__name__, FOLDER / "twice.cu", plan) for plan in PLANS),
        Variant("does_not_compile", FOLDER / "does_not_compile.cu", sound),
    ),
    problems=(Problem.of(rows=3),),
    tensors=tensors,
    reference=reference,
    input_sets=(InputSet("ones", inputs),),
    tolerance=Tolerance(relative=1e-6, floor=1e-6),
)
