"""Outputs against the reference: what counts as an error, and what a check must not overlook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_rmsperf import numerics
from pytest_rmsperf.accuracy import Numerics, Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.numerics import References, check_numerics, compare, relative_error
from pytest_rmsperf.problem import Problem

INF, NAN = float("inf"), float("nan")
Values = npt.NDArray[np.float32]
Outputs = Mapping[str, Values]
PLAN = LaunchPlan((KernelLaunch("row", 1, 32, ()),), (), (), "a test asks for it")
PROBLEM = Problem.of(rows=1, columns=4)
ONES = InputSet("ones", lambda _: {"x": np.ones((1, 4), np.float32)})
COPY = Operator(
    name="copy",
    folder=Path("copy"),
    variants=(Variant("plain", Path("copy.cu"), lambda *_: PLAN),),
    problems=(PROBLEM,),
    tensors=lambda _: (),
    reference=lambda arrays, _: {"y": arrays["x"]},
    input_sets=(ONES,),
    tolerance=Tolerance(relative=0.125, floor=1.0),
)


def case_of(operator: Operator) -> Case:
    return Case(operator, operator.variants[0], Submission.DIRECT, PROBLEM)


def values(*numbers: float) -> Values:
    return np.array([numbers], np.float32)


class ScriptedCase:
    """Gives the outputs of a script: the first after one launch, one more after each batch of 3."""

    def __init__(
        self, first: Outputs, later: Sequence[Outputs], damaged: list[str], overwritten: list[str]
    ) -> None:
        self._outputs, self._later = first, later
        self._launches = 0
        self.memory = SimpleNamespace(
            outputs=lambda: self._outputs,
            damaged=lambda: damaged if self._launches > 1 else [],
            overwritten=lambda _: overwritten,
        )

    def run(self) -> None:
        self._launches += 1

    def repeats(self) -> Iterator[int]:
        for outputs in self._later:
            self._outputs = outputs
            self._launches += 3
            yield 3


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checks scripted outputs: `checked({"y": values(1, 1, 1, 1)})`."""

    def check(
        first: Outputs,
        *later: Outputs,
        damaged: tuple[str, ...] = (),
        overwritten: tuple[str, ...] = (),
        operator: Operator = COPY,
    ) -> Numerics:
        prepared = ScriptedCase(first, later or (first,), list(damaged), list(overwritten))
        monkeypatch.setattr(numerics, "prepare", lambda *_: prepared)
        loaded: Any = None
        return check_numerics(case_of(operator), loaded, References(), lambda _: None)

    return check


# ---- the error of an element -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("got", "want", "error"),
    [
        (2.5, 2.0, 0.25),
        (1.5, 2.0, 0.25),
        (-2.0, 2.0, 2.0),
        (0.0, 0.0, 0.0),
        (0.25, 0.0, 0.25),
        (0.5, 0.25, 0.25),
        (NAN, NAN, 0.0),
        (INF, INF, 0.0),
        (-INF, -INF, 0.0),
        (NAN, 1.0, INF),
        (1.0, NAN, INF),
        (INF, 1.0, INF),
        (1.0, INF, INF),
        (INF, -INF, INF),
        (NAN, INF, INF),
    ],
)
def test_an_error_is_relative_above_the_floor_and_absolute_below_it(
    got: float, want: float, error: float
) -> None:
    assert relative_error(values(got), values(want), 1.0).tolist() == [[error]]


def test_an_error_is_computed_in_double_precision() -> None:
    largest = values(3e38)

    assert relative_error(-largest, largest, 1.0).tolist() == [[2.0]]


# ---- one output ------------------------------------------------------------------------------


@pytest.mark.parametrize(("got", "passes"), [(2.25, True), (2.2500002, False)])
def test_an_error_passes_up_to_the_tolerance(got: float, *, passes: bool) -> None:
    found = compare("y", values(got), values(2.0), case=case_of(COPY), inputs=ONES)

    assert (found.problem is None) is passes


def test_the_largest_error_is_found_at_its_place() -> None:
    got, want = values(1, 9, 1, 2), values(1, 1, 1, 1)

    found = compare("y", got, want, case=case_of(COPY), inputs=ONES)

    assert (found.index, found.got, found.want, found.largest_error) == ((0, 1), 9.0, 1.0, 8.0)


@pytest.mark.parametrize("place", range(5))
def test_the_largest_error_is_found_in_whichever_chunk_it_is(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(numerics, "CHUNK", 2)
    got, want = values(2, 2, 2, 2, 2), values(1, 1, 1, 1, 1)
    got[0, place] = 5

    found = compare("y", got, want, case=case_of(COPY), inputs=ONES)

    assert (found.index, found.largest_error, found.wrong) == ((0, place), 4.0, 5)


def test_wrong_elements_are_counted() -> None:
    found = compare("y", values(1, 9, 1, 2), values(1, 1, 1, 1), case=case_of(COPY), inputs=ONES)

    assert (found.wrong, found.elements, found.problem) == (
        2,
        4,
        "2 elements outside the tolerance",
    )


@pytest.mark.parametrize(
    ("got", "want", "problem"),
    [
        (
            (NAN, NAN, 1),
            (1, 1, 1),
            "NaN (or never written) at 2 places where the reference has a number",
        ),
        ((1, 1, 1), (1, NAN, 1), "a number at 1 places where the reference has NaN"),
        ((NAN, 1, 1), (1, NAN, 1), "NaN (or never written) at 1 places where the reference has"),
    ],
)
def test_nan_counts_by_its_position(
    got: tuple[float, ...], want: tuple[float, ...], problem: str
) -> None:
    found = compare("y", values(*got), values(*want), case=case_of(COPY), inputs=ONES)

    assert found.problem is not None
    assert found.problem.startswith(problem)


def test_nan_where_the_reference_has_nan_is_right() -> None:
    found = compare("y", values(NAN, 1), values(NAN, 1), case=case_of(COPY), inputs=ONES)

    assert (found.problem, found.largest_error) == (None, 0.0)


def test_another_shape_is_refused_and_not_broadcast() -> None:
    with pytest.raises(OperatorError, match=r"gives y the shape \(1, 1\), its tensor has \(1, 4\)"):
        compare("y", values(1, 1, 1, 1), values(1), case=case_of(COPY), inputs=ONES)


# ---- a whole check ---------------------------------------------------------------------------


def test_right_outputs_that_stay_the_same_pass(checked: Any) -> None:
    assert checked({"y": values(1, 1, 1, 1)}).passed


def test_a_check_counts_its_launches(checked: Any) -> None:
    same = {"y": values(1, 1, 1, 1)}

    assert checked(same, same, same).launches == 1 + 3 + 3


def test_a_wrong_output_fails(checked: Any) -> None:
    assert not checked({"y": values(1, 1, 1, 9)}).passed


def test_a_later_launch_that_gives_other_bits_fails_though_within_the_tolerance(
    checked: Any,
) -> None:
    found = checked({"y": values(1, 1, 1, 1)}, {"y": values(1, 1, 1, 1.0000001)})

    assert (found.worst.index, found.worst.problem) == (
        (0, 3),
        "after 3 more launches on the same input other bits",
    )


def test_outputs_are_compared_after_every_batch_of_launches(checked: Any) -> None:
    same, other = {"y": values(1, 1, 1, 1)}, {"y": values(1, 1, 1, 1.0000001)}

    found = checked(same, same, other, same)

    assert found.worst.problem == "after 6 more launches on the same input other bits"


def test_another_nan_is_other_bits(checked: Any) -> None:
    nan = replace(COPY, reference=lambda *_: {"y": values(NAN, 1, 1, 1)})
    first = values(NAN, 1, 1, 1)
    later = first.copy()
    later.view(np.uint32)[0, 0] ^= 1

    assert not checked({"y": first}, {"y": later}, operator=nan).passed


def test_a_write_outside_of_a_buffer_fails_though_only_later_launches_do_it(checked: Any) -> None:
    found = checked({"y": values(1, 1, 1, 1)}, damaged=("x",))

    assert (found.worst.output, found.worst.problem) == ("x", "a write just outside the buffer")


def test_a_write_to_the_input_fails(checked: Any) -> None:
    found = checked({"y": values(1, 1, 1, 1)}, overwritten=("x",))

    assert (found.worst.output, found.worst.problem) == ("x", "a write to the input")


def test_a_write_to_the_input_is_told_before_the_bits_that_it_changes(checked: Any) -> None:
    same, other = {"y": values(1, 1, 1, 1)}, {"y": values(1, 1, 1, 1.001)}

    found = checked(same, other, overwritten=("x",))

    assert found.worst.problem == "a write to the input"


@pytest.mark.parametrize("names", [(), ("y", "z")], ids=["too few", "too many"])
def test_a_reference_of_other_outputs_than_the_kernels_is_refused(
    checked: Any, names: tuple[str, ...]
) -> None:
    other = replace(COPY, reference=lambda arrays, _: dict.fromkeys(names, arrays["x"]))

    with pytest.raises(OperatorError, match=r"reference of copy gives \[.*\], its outputs are"):
        checked({"y": values(1, 1, 1, 1)}, operator=other)


def test_every_input_set_is_checked(checked: Any) -> None:
    twice = InputSet("twos", lambda _: {"x": values(2, 2, 2, 2)})

    found = checked({"y": values(1, 1, 1, 1)}, operator=replace(COPY, input_sets=(ONES, twice)))

    assert [(one.input_set, one.problem is None) for one in found.comparisons] == [
        ("ones", True),
        ("twos", False),
    ]


def test_the_references_own_error_is_reported(checked: Any) -> None:
    def rough_in_single_precision(_: object, precision: Precision) -> Outputs:
        return {"y": values(*[1.0 if precision is Precision.FLOAT64 else 1.0625] * 4)}

    operator = replace(COPY, reference=rough_in_single_precision)

    assert checked({"y": values(1, 1, 1, 1)}, operator=operator).reference_error == 0.0625
