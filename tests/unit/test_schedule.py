"""Whose turn it is in each block of a session, and when there were blocks enough."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_rmsperf.checks import Turn
from pytest_rmsperf.protocol import LEAST_BLOCKS, Protocol, StopReason
from pytest_rmsperf.schedule import is_precise, places, standard_error_ns, turn_of, why_stop

PAIRED = ("null", "copy", "a", "a@1a2b3c4", "b", "b@1a2b3c4", "c")


def walks(ids: Sequence[str], blocks: int) -> list[str]:
    """The cases of each block in order, one text per block."""
    turns = [turn_of(number, ids, blocks) for number in range(blocks)]
    return [" ".join(ids[place] for place in places(turn, len(ids))) for turn in turns]


# ---- turns -----------------------------------------------------------------------------------


def test_each_start_serves_there_and_back() -> None:
    assert walks("abc", 6) == ["a b c", "c b a", "b c a", "a c b", "c a b", "b a c"]


def test_a_pair_alone_alternates() -> None:
    assert walks(("a", "a@1a2b3c4"), 4) == ["a a@1a2b3c4", "a@1a2b3c4 a"] * 2


def test_two_cases_are_not_always_met_in_the_same_order() -> None:
    assert walks("ab", 4) == ["a b", "b a", "b a", "a b"]


def test_no_turn_starts_between_a_case_and_its_twin() -> None:
    found = walks(PAIRED, 40)

    assert {one.split()[0] for one in found[::2]} == {"null", "copy", "a", "b", "c"}
    assert all(abs(one.split().index("a") - one.split().index("a@1a2b3c4")) == 1 for one in found)


def test_twins_swap_places_from_block_to_block() -> None:
    found = [one.split() for one in walks(PAIRED, 10)]

    assert [one.index("b@1a2b3c4") - one.index("b") for one in found] == [1, -1] * 5


def test_a_case_whose_twin_was_lost_is_a_start_like_any_other() -> None:
    assert {turn_of(number, ("a", "b@1a2b3c4"), 4).start for number in range(4)} == {0, 1}


def test_few_blocks_spread_their_starts_over_many_cases() -> None:
    ids = [f"case {number}" for number in range(40)]

    assert [turn_of(number, ids, 8).start for number in range(8)] == [0, 0, 10, 10, 20, 20, 30, 30]


@pytest.mark.parametrize(
    ("turn", "order"),
    [
        (Turn(0, backwards=False), [0, 1, 2, 3]),
        (Turn(3, backwards=False), [3, 0, 1, 2]),
        (Turn(0, backwards=True), [3, 2, 1, 0]),
        (Turn(3, backwards=True), [2, 1, 0, 3]),
    ],
)
def test_a_recorded_turn_says_the_order_of_its_block(turn: Turn, order: list[int]) -> None:
    assert places(turn, 4) == order


# ---- the end ---------------------------------------------------------------------------------

SPREAD = (8000, 8100, 8200, 8300, 8400)  # quartiles of 8100 and 8300
STEADY = (8000,) * LEAST_BLOCKS


def stop(*device_ns: tuple[int, ...], spent_ms: float = 0, blocks: int = 15) -> StopReason | None:
    protocol = Protocol(blocks=blocks, precision_ppm=500, budget_ms=1000)
    return why_stop(protocol, device_ns, spent_ms)


def test_a_session_goes_on_while_its_medians_are_not_known() -> None:
    assert stop(SPREAD, spent_ms=999) is None


def test_it_ends_with_the_last_block() -> None:
    assert stop(SPREAD, blocks=5) is StopReason.BLOCKS
    assert stop(SPREAD, blocks=6) is None


def test_it_ends_when_the_budget_is_used_up() -> None:
    assert stop(SPREAD, spent_ms=1000) is StopReason.BUDGET


def test_one_block_beyond_the_whole_budget_is_the_last() -> None:
    assert stop((9_000_000_000,), spent_ms=9000) is StopReason.BUDGET


def test_it_ends_when_every_median_is_known() -> None:
    assert stop(STEADY, STEADY) is StopReason.PRECISION


@pytest.mark.parametrize("builds", [(STEADY, SPREAD), (SPREAD, STEADY)])
def test_each_of_two_builds_must_be_known_by_itself(builds: tuple[tuple[int, ...], ...]) -> None:
    assert stop(*builds) is None


def test_fewer_blocks_than_tell_their_own_scatter_never_end_it() -> None:
    assert stop(STEADY[1:]) is None


def test_the_last_block_is_told_before_precision_and_precision_before_the_budget() -> None:
    assert stop(STEADY, spent_ms=2000, blocks=5) is StopReason.BLOCKS
    assert stop(STEADY, spent_ms=2000) is StopReason.PRECISION


# ---- precision -------------------------------------------------------------------------------


def test_the_standard_error_is_that_of_a_median_by_its_quartiles() -> None:
    assert standard_error_ns(SPREAD) == pytest.approx(1.2533 * (200 / 1.349) / 5**0.5)


def test_one_outlier_does_not_hide_that_the_rest_agree() -> None:
    assert is_precise((8000, 8000, 8000, 8000, 800_000), 500)


@pytest.mark.parametrize(("precision_ppm", "known"), [(10_133, False), (10_134, True)])
def test_a_median_is_known_once_its_error_is_within_the_share(
    precision_ppm: int,
    *,
    known: bool,
) -> None:
    assert is_precise(SPREAD, precision_ppm) is known


@pytest.mark.parametrize(("spread_ns", "known"), [(1, True), (2, False)])
def test_no_more_is_asked_of_a_short_kernel_than_whole_nanoseconds_can_tell(
    spread_ns: int,
    *,
    known: bool,
) -> None:
    samples = (500, 500, 500, 500 + spread_ns, 500 + spread_ns)

    assert is_precise(samples, 500) is known


def test_a_precision_of_zero_asks_for_all_blocks() -> None:
    assert not is_precise(STEADY, 0)


def test_no_time_at_all_is_never_known() -> None:
    assert not is_precise((0,) * LEAST_BLOCKS, 500)
