"""Tolerances, and what a comparison with the reference says and demands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision, Tolerance
from pytest_rmsperf.emulation import AddressCheck, Emulation, Schedules
from pytest_rmsperf.errors import GateFailure, OperatorError

RIGHT = Comparison(
    input_set="random rows",
    output="y",
    precision=Precision.FLOAT64,
    largest_error=2e-7,
    index=(3, 17),
    got=0.5,
    want=0.5000001,
    allowed=1e-5,
    wrong=0,
    elements=4096,
    problem=None,
)
WRONG = replace(
    RIGHT, input_set="edge rows", largest_error=0.25, wrong=2, problem="2 elements outside"
)


def numerics(*comparisons: Comparison) -> Numerics:
    return Numerics(comparisons, launches=1, reference_error=None)


@pytest.mark.parametrize(("relative", "floor"), [(1e-12, 1e-30), (0.999, 1e30)])
def test_a_tolerance_between_zero_and_one_is_accepted(relative: float, floor: float) -> None:
    assert Tolerance(relative, floor).relative == relative


@pytest.mark.parametrize(
    ("relative", "floor"),
    [
        (0.0, 1e-30),
        (1.0, 1e-30),
        (-1e-5, 1e-30),
        (1e-5, 0.0),
        (1e-5, -1.0),
        (float("nan"), 1e-30),
        (1e-5, float("nan")),
    ],
)
def test_a_tolerance_that_accepts_nothing_or_anything_is_refused(
    relative: float, floor: float
) -> None:
    with pytest.raises(OperatorError, match=f"0 < relative < 1 and floor > 0, got {relative}"):
        Tolerance(relative, floor)


def test_right_outputs_let_the_gate_pass() -> None:
    numerics(RIGHT, RIGHT).require()


def test_one_wrong_output_of_many_fails_the_gate() -> None:
    with pytest.raises(GateFailure):
        numerics(RIGHT, WRONG, RIGHT).require()


def test_numerics_that_compared_nothing_are_refused() -> None:
    with pytest.raises(OperatorError, match="no output was compared"):
        numerics()


def test_the_worst_of_right_outputs_has_the_largest_error() -> None:
    larger = replace(RIGHT, largest_error=9e-6)

    assert numerics(RIGHT, larger, RIGHT).worst is larger


def test_a_wrong_output_is_worse_than_any_right_one() -> None:
    assert numerics(replace(RIGHT, largest_error=1e9), WRONG).worst is WRONG


def test_the_first_wrong_output_is_the_one_shown() -> None:
    later = replace(WRONG, largest_error=float("inf"))

    assert numerics(WRONG, later).worst is WRONG


def test_a_failure_says_verdict_evidence_remedy() -> None:
    assert str(numerics(WRONG)).splitlines() == [
        "wrong: 2 elements outside in y (edge rows)",
        "  largest    relative error 0.25 at index (3, 17): got 0.5, want 0.5000001",
        "  allowed    1e-05 against the float64 reference; 2 of 4096 elements are outside",
        (
            "mend the kernel (compute-sanitizer finds races and stray accesses), then: "
            "pytest --rmsperf --lf"
        ),
    ]


EMULATION = Emulation("64x12292", Schedules(0, 4), AddressCheck(("16400x131072",), 3))
HOW = "emulated at 64x12292, 4 schedules, seeds 0 to 3; addresses at 16400x131072"


def test_an_emulated_success_says_what_was_emulated() -> None:
    found = replace(numerics(RIGHT), emulation=EMULATION)

    assert str(found) == f"{numerics(RIGHT)} ({HOW})"


def test_an_emulated_failure_says_what_was_emulated_and_names_no_tool_of_the_gpu() -> None:
    text = str(replace(numerics(WRONG), emulation=EMULATION))

    verdict, *_, remedy = text.splitlines()
    assert verdict == f"wrong: 2 elements outside in y (edge rows) ({HOW})"
    assert remedy == "mend the kernel, then: pytest --rmsperf --lf"


def test_success_says_the_largest_error_and_its_place() -> None:
    assert str(numerics(RIGHT)) == (
        "right: largest relative error 2.00e-07 at y[3x17] (random rows), allowed 1e-05"
    )
