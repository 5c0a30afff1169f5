"""Offsets of too few bits are found on problems that are never allocated, in seconds."""

from __future__ import annotations

import resource
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.accuracy import Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant
from pytest_rmsperf.emulated.addresses import check_addresses
from pytest_rmsperf.emulation import AddressCheck
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer, int32
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays
    from tests.unit.emulated.device.conftest import Program

KERNELS = "offsets.cu"

COLUMNS, TILE = 131_072, 1024
SMALL = Problem.of(rows=16, columns=COLUMNS)
BEYOND_INT = Problem.of(rows=16_400, columns=COLUMNS)  # 2^31 + 2^21 elements
BEYOND_UNSIGNED = Problem.of(rows=32_784, columns=COLUMNS)  # 2^32 + 2^21


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    shape = (problem["rows"], problem["columns"])
    return (Buffer("x", Role.INPUT, shape), Buffer("y", Role.OUTPUT, shape))


def plan(problem: Problem, capacity: Capacity, *, kernel: str) -> LaunchPlan:
    blocks = problem["rows"] * problem["columns"] // TILE
    arguments = (buffer("x"), buffer("y"), int32(problem["columns"]))
    return LaunchPlan((KernelLaunch(kernel, blocks, 64, arguments),), (), (), "a tile per block")


def nothing(*_: object) -> Arrays:
    raise AssertionError("no input is made and no reference computed")


def check(program: Program, kernel: str, *problems: Problem) -> AddressCheck | None:
    """Check a kernel's addresses at these problems."""
    variant = Variant(kernel, program.source, partial(plan, kernel=kernel))
    operator = Operator(
        name="double",
        folder=program.source.parent,
        variants=(variant,),
        problems=(SMALL,),
        tensors=tensors,
        reference=nothing,
        input_sets=(InputSet("none", nothing, Precision.FLOAT64),),
        tolerance=Tolerance(relative=1e-6, floor=1e-20),
        address_problems=problems,
    )
    return check_addresses(Case(operator, variant, Submission.DIRECT, SMALL), program.module)


def test_offset_in_int_overflows_beyond_its_range_and_the_line_is_told(program: Program) -> None:
    with pytest.raises(GateFailure) as caught:
        check(program, "by_int", BEYOND_INT)

    message = str(caught.value)
    assert message.startswith(
        "wrong address at 16400x131072: integer overflow in by_int: thread 0 of block "
    )
    assert f"offsets.cu:{program.line('the offset')} in double_tile<int>" in message


def test_offset_in_unsigned_that_wraps_leaves_the_last_element_unwritten(program: Program) -> None:
    with pytest.raises(GateFailure, match=r"^wrong address at 32784x131072: the last element of y"):
        check(program, "by_unsigned", BEYOND_UNSIGNED)


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [("by_int", SMALL), ("by_unsigned", BEYOND_INT), ("by_long_long", BEYOND_UNSIGNED)],
    ids=["int", "unsigned", "long long"],
)
def test_offset_of_enough_bits_passes(program: Program, kernel: str, problem: Problem) -> None:
    assert check(program, kernel, problem) == AddressCheck((problem.label,), launches=1)


def test_operator_without_large_problems_is_not_checked(program: Program) -> None:
    assert check(program, "by_int") is None


def test_sixteen_gibibytes_are_checked_in_two_seconds_and_little_memory(program: Program) -> None:
    most_mib_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begin_s = monotonic()

    check(program, "by_long_long", BEYOND_UNSIGNED)

    assert monotonic() - begin_s < 2
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert most_mib - most_mib_before < 300
