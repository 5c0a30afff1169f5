"""How far sessions scatter, and which of them are in another state."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from pytest_rmsperf.judge.scatter import agreeing, half_width, outliers


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ((), ()),
        ((5,), ()),
        ((5, 500), ()),
        ((100, 101, 160), (2,)),
        ((100, 101, 60), (2,)),
        ((100, 100, 100), ()),
        ((60, 100, 300), ()),
        ((100, 101, 102, 160), (3,)),
        ((100, 101, 160, 161), ()),
        ((100, 160, 101, 60, 102), (1, 3)),
    ],
    ids=[
        "none",
        "one",
        "two",
        "one of three above",
        "one of three below",
        "equal",
        "three apart",
        "one of four",
        "two pairs",
        "two of five",
    ],
)
def test_session_that_most_others_disagree_with_is_in_another_state(
    values: tuple[int, ...], places: tuple[int, ...]
) -> None:
    assert outliers(values, 10) == places


@pytest.mark.parametrize(("value", "places"), [(110, ()), (111, (2,))])
def test_session_within_its_limit_is_never_in_another_state(
    value: int, places: tuple[int, ...]
) -> None:
    assert outliers((100, 100, value), 10) == places


# The median absolute deviation is 10, and five of 1.4826 of it are 74.13.
@pytest.mark.parametrize(("value", "places"), [(174, ()), (175, (4,))])
def test_session_as_far_off_as_others_scatter_is_not_in_another_state(
    value: int, places: tuple[int, ...]
) -> None:
    assert outliers((90, 110, 100, 95, value), 10) == places


def test_agreeing_sessions_keep_their_order() -> None:
    assert agreeing((102, 60, 100, 101), 10) == [102, 100, 101]


def test_interval_of_one_mean_is_students() -> None:
    values = (0.5, 0.7, 0.4, 0.9)
    theirs = ttest_1samp(values, 0).confidence_interval(0.95)

    assert half_width([values], 0.95) == pytest.approx((theirs.high - theirs.low) / 2)


def test_interval_of_a_difference_is_students_with_one_variance() -> None:
    groups = ((0.5, 0.7, 0.4), (1.1, 1.9, 1.5, 1.2, 1.3))
    theirs = ttest_ind(*groups, equal_var=True).confidence_interval(0.998)

    assert half_width(groups, 0.998) == pytest.approx((theirs.high - theirs.low) / 2)


@pytest.mark.parametrize("groups", [[(5, 5, 5)], [(5, 5, 5), (7, 7)], [(5, 5), (7,)]])
def test_interval_of_constant_sessions_is_nothing(groups: list[tuple[int, ...]]) -> None:
    assert half_width(groups, 0.95) == 0


def test_interval_of_one_constant_side_is_that_of_the_other() -> None:
    assert half_width([(5, 5, 5), (6, 7, 8)], 0.95) > 0


@pytest.mark.parametrize("groups", [[(5,)], [(5,), (7,)]])
def test_single_sessions_have_no_interval(groups: list[tuple[int, ...]]) -> None:
    assert half_width(groups, 0.95) == inf


def test_interval_holds_the_truth_as_often_as_it_says() -> None:
    draws = np.random.default_rng(1).normal(0, 1, (2000, 9))

    found = [
        abs(draw[:3].mean() - draw[3:].mean()) <= half_width([draw[:3], draw[3:]], 0.95)
        for draw in draws
    ]

    assert np.mean(found) == pytest.approx(0.95, abs=0.015)
