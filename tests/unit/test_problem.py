"""A problem: named sizes of at least 1, their order, and the label that ends a case id."""

from __future__ import annotations

import pytest

from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.problem import Problem


def test_label_joins_the_sizes_in_the_order_given() -> None:
    assert Problem.of(rows=16, columns=131072).label == "16x131072"


def test_a_size_is_found_by_its_name() -> None:
    assert Problem.of(rows=16, columns=4)["columns"] == 4


def test_an_unknown_size_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OperatorError, match="16x4 has no size 'width'; it has rows, columns"):
        Problem.of(rows=16, columns=4)["width"]


def test_a_size_of_one_is_accepted() -> None:
    assert Problem.of(rows=1)["rows"] == 1


@pytest.mark.parametrize("size", [0, -1, 1.0, True, "4", None])
def test_a_size_that_is_no_integer_of_at_least_one_is_refused_with_its_value(size: int) -> None:
    with pytest.raises(OperatorError, match=f"rows must be .* at least 1, got {size!r}"):
        Problem.of(rows=size)


def test_a_problem_without_sizes_is_refused() -> None:
    with pytest.raises(OperatorError, match="at least one size, got none"):
        Problem.of()


def test_resizing_replaces_a_size_in_its_place() -> None:
    assert Problem.of(rows=16, columns=4).resized(rows=2) == Problem.of(rows=2, columns=4)


def test_resizing_an_unknown_size_is_refused() -> None:
    with pytest.raises(OperatorError, match="has no size 'width'"):
        Problem.of(rows=16).resized(width=2)


def test_resizing_to_nothing_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"rows must be .*, got 0"):
        Problem.of(rows=16).resized(rows=0)


def test_problems_of_the_same_sizes_are_equal_and_hash_alike() -> None:
    assert len({Problem.of(rows=1, columns=2), Problem.of(rows=1, columns=2)}) == 1
