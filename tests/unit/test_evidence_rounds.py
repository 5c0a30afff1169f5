"""Evidence: what a second round clears or confirms, no numbers, and pairs from samples."""

from __future__ import annotations

from math import inf, isnan, nan

import pytest

from pytest_rmsperf.judge.evidence import (
    Paired,
    Unpaired,
    Weighed,
    paired_share,
    paired_shares,
    weigh,
)
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.samples import Samples

LIMIT = 0.01


# ---- a second round ------------------------------------------------------------------


def test_second_round_that_leaves_no_room_for_a_change_clears_the_first() -> None:
    found = weigh(Unpaired((10_000,) * 6, (12_000,) * 3, (10_010,) * 3), LIMIT)

    assert found == Weighed(
        Status.UNCHANGED,
        0.001,
        LIMIT,
        "cleared by a second round of sessions: +20.0 % in the first, +0.1 % in the second",
        first=0.2,
        is_cleared=True,
    )


def test_gain_that_does_not_repeat_is_cleared_too() -> None:
    found = weigh(Paired((-0.2,) * 3, (0.0,) * 3), LIMIT)

    assert (found.status, found.share, found.first) == (Status.UNCHANGED, 0, -0.2)


def test_second_round_that_could_hide_a_change_clears_nothing() -> None:
    before = (10_000,) * 3

    found = weigh(Unpaired(before, (12_000,) * 3, (10_000, 10_100, 9900)), LIMIT)

    assert (found.status, found.why) == (
        Status.INCONCLUSIVE,
        "two rounds of sessions disagree: +20.0 % in the first, +0.0 % in the second",
    )


def test_second_round_beyond_the_limit_clears_nothing() -> None:
    found = weigh(Unpaired((10_000,) * 6, (10_000,) * 3, (12_000,) * 3), LIMIT)

    assert (found.status, found.is_cleared) == (Status.INCONCLUSIVE, False)


def test_rounds_beyond_the_limit_on_two_sides_are_in_doubt() -> None:
    found = weigh(Unpaired((10_000,) * 6, (12_000,) * 3, (9000,) * 3), LIMIT)

    assert (found.status, found.why) == (
        Status.INCONCLUSIVE,
        "two rounds of sessions disagree: +20.0 % in the first, -10.0 % in the second",
    )


def test_sessions_of_a_cleared_figure_are_those_of_the_second_round() -> None:
    shift = Unpaired((10_000,) * 6, (12_000,) * 3, (10_000, 15_000, 10_000, 10_010))

    assert weigh(shift, LIMIT).outlying == (1,)


def test_change_that_lasts_is_confirmed() -> None:
    found = weigh(Unpaired((10_000,) * 6, (12_000,) * 3, (11_900,) * 3), LIMIT)

    assert (found.status, found.first) == (Status.SLOWER, 0.2)


# ---- figures that are no numbers -----------------------------------------------------


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_change_that_is_no_number_is_refused_and_never_a_verdict(value: float) -> None:
    with pytest.raises(ValueError, match="a change must be finite"):
        weigh(Paired((value,) * 3), LIMIT)


# ---- pairs from samples --------------------------------------------------------------


def test_pair_is_the_median_of_the_blocks_which_took_turns() -> None:
    assert paired_share((110, 400, 190), (100, 200, 200)) == pytest.approx(0.1)


@pytest.mark.parametrize("other", [(100, 0), (100, -5)])
def test_pair_with_a_figure_that_no_clock_gives_is_no_number(other: tuple[int, ...]) -> None:
    assert isnan(paired_share((100, 100), other))


def test_blocks_without_a_partner_are_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired_share((100, 100), (100,))


def test_session_gives_a_pair_of_both_figures() -> None:
    current = Samples("a", 8, (102, 204, 306), (110, 120, 220, 220, 330, 340))
    other = Samples("a@1a2b3c4", 8, (100, 200, 300), (100, 100, 200, 200, 300, 300))

    assert paired_shares(current, other) == pytest.approx((0.02, 335 / 300 - 1))


@pytest.mark.parametrize("launches", [1, 10, 100])
def test_pair_does_not_depend_on_launches_in_a_graph(launches: int) -> None:
    # Figures are per launch, whatever number of launches each build's graph has.
    current, other = Samples("a", launches, (102,), (110,)), Samples("b", 7, (100,), (100,))

    assert paired_shares(current, other) == pytest.approx((0.02, 0.1))
