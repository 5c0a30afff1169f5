"""Quartiles of few, many, equal and odd samples; blocks; and what no clock can have given."""

from __future__ import annotations

from math import inf, nan

import pytest

from pytest_rmsperf.samples import Quartiles, Samples, impossible, quartiles


@pytest.mark.parametrize(
    ("samples_ns", "kept"),
    [
        ((7,), Quartiles(7, 7, 7)),
        ((7, 9), Quartiles(7, 7, 9)),
        ((9, 7, 8), Quartiles(7, 8, 9)),
        ((4, 1, 3, 2), Quartiles(2, 3, 3)),
        ((5, 1, 4, 2, 3), Quartiles(2, 3, 4)),
        ((8, 8, 8, 8), Quartiles(8, 8, 8)),
    ],
    ids=["one", "two", "three", "four", "five", "equal"],
)
def test_few_samples_have_quartiles(samples_ns: tuple[int, ...], kept: Quartiles) -> None:
    assert quartiles(samples_ns) == kept


def test_quartiles_are_samples_and_not_values_between_them() -> None:
    samples_ns = (10, 20, 40, 80, 160, 320)

    kept = quartiles(samples_ns)

    assert {kept.q1_ns, kept.median_ns, kept.q3_ns} <= set(samples_ns)


def test_one_outlier_of_five_leaves_the_median() -> None:
    assert quartiles((100, 101, 60, 102, 100)).median_ns == 100


def test_no_samples_are_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        quartiles(())


@pytest.mark.parametrize(
    ("device_ns", "completion_ns", "text"),
    [
        ((), (5,), "no device samples"),
        ((5,), (), "no completion samples"),
        ((5, 0), (5,), "a device sample of 0 ns"),
        ((5,), (5, -3, 7), "a completion sample of -3 ns"),
        ((5, nan, 7), (5,), "a device sample of nan ns"),
        ((5, inf), (5,), "a device sample of inf ns"),
        ((5, 6, 7), (5, 6), "2 completion samples in 3 blocks"),
        ((5, 6), (5, 6), None),
        ((1,), (1,), None),
    ],
)
def test_samples_that_no_clock_can_take_are_named(
    device_ns: tuple[int, ...], completion_ns: tuple[int, ...], text: str | None
) -> None:
    assert impossible(Samples("a", 8, device_ns, completion_ns)) == text


# ---- blocks ------------------------------------------------------------------------


def test_completions_are_given_block_by_block() -> None:
    samples = Samples("a", 8, (5, 6, 7), (1, 2, 3, 4, 5, 6))

    assert samples.completion_blocks() == ((1, 2), (3, 4), (5, 6))


def test_completions_of_an_unfinished_block_belong_to_none() -> None:
    samples = Samples("a", 8, (5, 6), (1, 2, 3, 4, 5))

    assert samples.completion_blocks() == ((1, 2), (3, 4))


@pytest.mark.parametrize(("device_ns", "completion_ns"), [((), ()), ((), (1, 2))])
def test_session_without_blocks_has_no_completions_by_block(
    device_ns: tuple[int, ...], completion_ns: tuple[int, ...]
) -> None:
    assert Samples("a", 8, device_ns, completion_ns).completion_blocks() == ()
