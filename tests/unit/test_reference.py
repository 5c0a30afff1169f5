"""The torch reference and its seeded inputs, and that the tolerance catches planted faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from pytest_rmsperf.accuracy import Comparison, Precision
from pytest_rmsperf.cases import Case, InputSet, Submission
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR, inputs
from pytest_rmsperf.numerics import compare
from pytest_rmsperf.problem import Problem

Rows = npt.NDArray[Any]
Kernel = Callable[[Rows], Rows]

EPS = np.float32(1e-5)
# Two tiles and a vector: long enough that exp overflows where the maximum is not subtracted.
PROBLEM = Problem.of(rows=16, columns=8196)
CASE = Case(OPERATOR, OPERATOR.variants[0], Submission.DIRECT, PROBLEM)
RANDOM, EDGE, SPECIAL = OPERATOR.input_sets
UNIFORM_SPECIAL_ROWS = 3  # x^2 overflows, so that the scale is zero and every exponent too

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def made(input_set: InputSet) -> Rows:
    x: Rows = input_set.make(input_set.problem(PROBLEM))["x"]
    return x


def wanted(input_set: InputSet) -> Rows:
    y: Rows = OPERATOR.reference({"x": made(input_set)}, input_set.precision)["y"]
    return y


def compared(kernel: Kernel, input_set: InputSet) -> Comparison:
    return compare("y", kernel(made(input_set)), wanted(input_set), case=CASE, inputs=input_set)


def softmax(x: Rows, *, eps: np.floating = EPS) -> Rows:
    """The operator by NumPy, in the precision of x: the control of every mutant below."""
    inverse_rms = 1 / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + eps)
    return normalized(np.exp((x - x.max(axis=1, keepdims=True)) * inverse_rms))


def normalized(exponentials: Rows) -> Rows:
    y: Rows = exponentials / exponentials.sum(axis=1, keepdims=True)
    return y


# ---- inputs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("input_set", OPERATOR.input_sets, ids=lambda one: str(one.name))
def test_inputs_are_the_same_for_the_same_problem(input_set: InputSet) -> None:
    assert np.array_equal(made(input_set), made(input_set), equal_nan=True)


@pytest.mark.parametrize("input_set", OPERATOR.input_sets, ids=lambda one: str(one.name))
@pytest.mark.parametrize("columns", [4, 8196])
def test_inputs_have_the_shape_and_type_of_their_tensor(input_set: InputSet, columns: int) -> None:
    problem = input_set.problem(Problem.of(rows=2, columns=columns))
    tensor = OPERATOR.tensors(problem)[0]

    x = input_set.make(problem)["x"]

    assert (x.shape, x.dtype.name) == (tensor.shape, tensor.dtype)


def test_random_inputs_differ_from_row_to_row() -> None:
    assert len(np.unique(made(RANDOM)[:, 0])) == PROBLEM["rows"]


def test_edge_inputs_are_finite() -> None:
    assert np.isfinite(made(EDGE)).all()


@pytest.mark.parametrize("edge", ["zeros", "denormals", "outlier", "large mean", "large squares"])
def test_edge_inputs_reach_every_edge(edge: str) -> None:
    x = made(EDGE).astype(np.float64)
    largest, spread = np.abs(x).max(axis=1), x.max(axis=1) - x.min(axis=1)

    reached = {
        "zeros": (x == 0).all(axis=1),
        "denormals": (largest > 0) & (largest < 1.1e-38),
        "outlier": (x == 1e3).sum(axis=1) == 1,
        "large mean": (largest > 9e3) & (spread > 0) & (spread < 0.1),
        "large squares": largest > 1e15,
    }

    assert reached[edge].any()


def test_special_inputs_hold_every_special_value() -> None:
    x = made(SPECIAL)

    assert [np.isnan(x).any(), np.isposinf(x).any(), np.isneginf(x).any()] == [True] * 3


# ---- the reference ---------------------------------------------------------------------------


def test_the_reference_is_the_formula_in_double_precision() -> None:
    x = made(RANDOM)

    y = OPERATOR.reference({"x": x}, Precision.FLOAT64)["y"]

    np.testing.assert_allclose(y, softmax(x.astype(np.float64), eps=np.float64(1e-5)), rtol=1e-12)


@pytest.mark.parametrize("precision", Precision)
def test_the_reference_computes_in_the_precision_asked_for(precision: Precision) -> None:
    assert OPERATOR.reference({"x": made(RANDOM)}, precision)["y"].dtype.name == precision.value


@pytest.mark.parametrize("input_set", [RANDOM, EDGE], ids=["random", "edge"])
def test_every_row_of_ordinary_values_sums_to_one(input_set: InputSet) -> None:
    np.testing.assert_allclose(wanted(input_set).sum(axis=1), 1.0, rtol=1e-12)


def test_rows_whose_squares_overflow_are_uniform() -> None:
    rows = wanted(SPECIAL)[:UNIFORM_SPECIAL_ROWS]

    np.testing.assert_allclose(rows, 1 / PROBLEM["columns"], rtol=1e-6)


def test_rows_with_an_infinity_or_nan_are_nan_as_a_whole() -> None:
    assert np.isnan(wanted(SPECIAL)[UNIFORM_SPECIAL_ROWS:]).all()


def test_special_rows_start_with_those_whose_values_are_finite() -> None:
    finite = np.isfinite(made(SPECIAL)).all(axis=1)

    assert finite.tolist() == [True] * UNIFORM_SPECIAL_ROWS + [False] * 9


def test_a_row_of_one_column_is_one() -> None:
    assert OPERATOR.reference({"x": np.array([[7.0]], np.float32)}, Precision.FLOAT64)["y"] == 1.0


def test_reduced_precision_switched_on_by_others_leaves_the_reference(
    request: pytest.FixtureRequest,
) -> None:
    before = torch.get_float32_matmul_precision()
    request.addfinalizer(lambda: torch.set_float32_matmul_precision(before))
    exact = wanted(replace(RANDOM, precision=Precision.FLOAT32))

    torch.set_float32_matmul_precision("medium")

    assert np.array_equal(wanted(replace(RANDOM, precision=Precision.FLOAT32)), exact)


def test_the_reference_leaves_its_input_as_it_was() -> None:
    x = made(EDGE)

    OPERATOR.reference({"x": x}, Precision.FLOAT32)

    assert np.array_equal(x, made(EDGE))


def test_the_input_that_is_timed_is_the_first_and_random() -> None:
    assert OPERATOR.input_sets[0].make is inputs.random_rows


# ---- the tolerance against planted faults ----------------------------------------------------


@pytest.mark.parametrize("input_set", OPERATOR.input_sets, ids=lambda one: str(one.name))
def test_the_formula_in_single_precision_is_within_the_tolerance(input_set: InputSet) -> None:
    assert compared(softmax, input_set).problem is None


def without_eps(x: Rows) -> Rows:
    return softmax(x, eps=np.float32(0))


def without_last_column(x: Rows) -> Rows:
    y = np.zeros_like(x)
    y[:, :-1] = softmax(x[:, :-1])
    return y


def without_last_column_in_the_sum(x: Rows) -> Rows:
    inverse_rms = 1 / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + EPS)
    exponentials = np.exp((x - x.max(axis=1, keepdims=True)) * inverse_rms)
    y: Rows = exponentials / exponentials[:, :-1].sum(axis=1, keepdims=True)
    return y


def without_maximum(x: Rows) -> Rows:
    return normalized(np.exp(x / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + EPS)))


def without_root(x: Rows) -> Rows:
    mean_square = np.square(x).mean(axis=1, keepdims=True) + EPS
    return normalized(np.exp((x - x.max(axis=1, keepdims=True)) / mean_square))


def without_scale(x: Rows) -> Rows:
    return normalized(np.exp(x - x.max(axis=1, keepdims=True)))


def never_written(x: Rows) -> Rows:
    return np.full_like(x, np.nan)


def one_vector_never_written(x: Rows) -> Rows:
    y = softmax(x)
    y[-1, -4:] = np.nan
    return y


def zeros_for_nan(x: Rows) -> Rows:
    return np.nan_to_num(softmax(x), nan=0.0)


def in_half_precision(x: Rows) -> Rows:
    return softmax(x).astype(np.float16).astype(np.float32)


def one_scale_for_all_rows(x: Rows) -> Rows:
    inverse_rms = 1 / np.sqrt(np.square(x).mean() + EPS)
    return normalized(np.exp((x - x.max(axis=1, keepdims=True)) * inverse_rms))


def rows_exchanged(x: Rows) -> Rows:
    return softmax(x)[::-1]


@pytest.mark.parametrize(
    ("mutant", "input_set"),
    [
        (without_eps, RANDOM),
        (without_eps, EDGE),
        (without_last_column, RANDOM),
        (without_last_column_in_the_sum, RANDOM),
        (without_maximum, EDGE),
        (without_root, RANDOM),
        (without_scale, RANDOM),
        (never_written, RANDOM),
        (one_vector_never_written, RANDOM),
        (zeros_for_nan, SPECIAL),
        (in_half_precision, RANDOM),
        (one_scale_for_all_rows, RANDOM),
        (rows_exchanged, RANDOM),
    ],
)
def test_a_planted_fault_is_outside_the_tolerance(mutant: Kernel, input_set: InputSet) -> None:
    assert compared(mutant, input_set).problem is not None
