"""Evidence: what few sessions can prove at all, both sides of a limit, ties and overlap."""

from __future__ import annotations

import pytest

from pytest_rmsperf.judge.evidence import (
    MOST_SESSIONS,
    Paired,
    Shift,
    Unpaired,
    confirming_sessions,
    weigh,
)
from pytest_rmsperf.judge.policy import Status

LIMIT = 0.01


def apart(stored: int, first: int, second: int = 0) -> Unpaired:
    """So many sessions, wholly apart: 10 us stored, 11 us in each round."""
    return Unpaired((10_000,) * stored, (11_000,) * first, (11_000,) * second)


def status_of(shift: Shift, limit: float = LIMIT) -> Status:
    return weigh(shift, limit).status


# ---- what so many sessions can prove -------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "first", "second", "status"),
    [
        (3, 3, 0, Status.SLOWER),
        (2, 3, 0, Status.INCONCLUSIVE),
        (3, 2, 0, Status.INCONCLUSIVE),
        (6, 1, 0, Status.INCONCLUSIVE),
        (6, 2, 0, Status.SLOWER),
        (3, 3, 3, Status.SLOWER),
        (6, 3, 3, Status.SLOWER),
        (6, 1, 1, Status.INCONCLUSIVE),
        (6, 1, 2, Status.SLOWER),
        (2, 3, 4, Status.SLOWER),
        (2, 3, 3, Status.INCONCLUSIVE),
        (1, 12, 12, Status.INCONCLUSIVE),
    ],
)
def test_sessions_wholly_apart_prove_a_change_when_there_are_enough(
    stored: int, first: int, second: int, status: Status
) -> None:
    assert status_of(apart(stored, first, second)) is status


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (3, 0, Status.INCONCLUSIVE),
        (4, 0, Status.INCONCLUSIVE),
        (5, 0, Status.SLOWER),
        (2, 2, Status.INCONCLUSIVE),
        (3, 2, Status.SLOWER),
        (3, 3, Status.SLOWER),
    ],
)
def test_pairs_all_on_one_side_prove_a_change_when_there_are_enough(
    first: int, second: int, status: Status
) -> None:
    assert status_of(Paired((0.02,) * first, (0.02,) * second)) is status


def test_too_few_sessions_say_so() -> None:
    assert (
        weigh(apart(1, 1), LIMIT).why == "beyond the threshold, but so few sessions prove nothing"
    )


@pytest.mark.parametrize(
    ("stored", "first", "sessions"),
    [
        (6, 3, 3),
        (3, 3, 3),
        (6, 1, 2),
        (3, 1, 3),
        (2, 3, 4),
        (2, 1, 6),
        (6, 12, 12),
        (6, 15, 12),
        (1, 3, None),
        (1, 15, None),
    ],
)
def test_second_round_is_as_large_as_the_first_or_as_proof_needs(
    stored: int, first: int, sessions: int | None
) -> None:
    assert confirming_sessions(apart(stored, first)) == sessions


@pytest.mark.parametrize(("first", "sessions"), [(1, 4), (3, 3), (12, 12), (20, 12)])
def test_second_round_of_pairs_is_as_large_as_proof_needs(first: int, sessions: int) -> None:
    assert confirming_sessions(Paired((0.02,) * first)) == sessions


@pytest.mark.parametrize("stored", range(2, 13))
@pytest.mark.parametrize("first", [1, 2, 3, 5, 12])
def test_second_round_that_is_asked_for_is_enough_to_settle(stored: int, first: int) -> None:
    more = confirming_sessions(apart(stored, first))

    assert more is not None
    assert more <= MOST_SESSIONS
    assert status_of(apart(stored, first, more)) is Status.SLOWER


@pytest.mark.parametrize("first", [1, 2, 3, 5, 12])
def test_second_round_of_pairs_that_is_asked_for_is_enough_to_settle(first: int) -> None:
    more = confirming_sessions(Paired((0.02,) * first))

    assert more is not None
    assert status_of(Paired((0.02,) * first, (0.02,) * more)) is Status.SLOWER


@pytest.mark.parametrize(
    "shift",
    [apart(6, 3), apart(1, 1), Paired((0.02,) * 3), Unpaired((9, 8, 7), (7, 9, 12))],
    ids=["clear", "single", "pairs", "overlapping"],
)
def test_first_round_beyond_its_limit_wants_a_second_whatever_it_proves(shift: Shift) -> None:
    assert weigh(shift, 1e-6).wants_confirmation


@pytest.mark.parametrize(
    "shift",
    [apart(6, 3, 3), apart(1, 1, 1), Unpaired((100,) * 3, (100,) * 3)],
    ids=["confirmed", "hopeless", "within"],
)
def test_second_round_and_a_figure_within_its_limit_want_no_more(shift: Shift) -> None:
    assert not weigh(shift, LIMIT).wants_confirmation


# ---- both sides of the limit ---------------------------------------------------------


@pytest.mark.parametrize(
    ("after_ns", "status"),
    [
        (10_100, Status.UNCHANGED),
        (10_101, Status.SLOWER),
        (9900, Status.UNCHANGED),
        (9899, Status.FASTER),
    ],
)
def test_change_counts_beyond_its_limit(after_ns: int, status: Status) -> None:
    assert status_of(Unpaired((10_000,) * 3, (after_ns,) * 3), 0.01) is status


@pytest.mark.parametrize(
    ("share", "why"),
    [
        (0.0090, "within the threshold"),
        (0.0091, "within the threshold, near its limit"),
        (-0.0099, "within the threshold"),
    ],
)
def test_figure_close_below_its_limit_is_said_to_be_near_it(share: float, why: str) -> None:
    assert weigh(Paired((share,) * 3), 0.01).why == why


@pytest.mark.parametrize(
    ("second", "status"),
    [
        ((10_301, 10_301, 10_301), Status.SLOWER),
        ((10_300, 10_300, 10_300), Status.UNCHANGED),
        ((10_290, 10_300, 10_310), Status.INCONCLUSIVE),
    ],
    ids=["confirmed", "not confirmed", "in doubt"],
)
def test_second_round_by_itself_must_be_beyond_the_limit(
    second: tuple[int, ...], status: Status
) -> None:
    assert status_of(Unpaired((10_000,) * 6, (10_400,) * 3, second), 0.03) is status


# ---- order: ties and overlap ---------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ((10_300, 10_310, 10_320), Status.SLOWER),
        ((10_100, 10_310, 10_320), Status.INCONCLUSIVE),
        ((10_000, 10_310, 10_320), Status.INCONCLUSIVE),
    ],
    ids=["apart", "touching", "overlapping"],
)
def test_three_sessions_must_be_wholly_apart_from_three(
    after: tuple[int, ...], status: Status
) -> None:
    assert status_of(Unpaired((10_000, 10_050, 10_100), after)) is status


@pytest.mark.parametrize(
    ("before", "status"),
    [
        ((10_000,) * 5 + (12_000,), Status.SLOWER),
        ((10_000,) * 4 + (12_000,) * 2, Status.INCONCLUSIVE),
    ],
    ids=["one", "two"],
)
def test_one_stored_session_in_a_bad_state_does_not_prevent_a_verdict(
    before: tuple[int, ...], status: Status
) -> None:
    assert status_of(Unpaired(before, (11_000,) * 3, (11_000,) * 3)) is status


@pytest.mark.parametrize(
    ("second", "status"),
    [
        ((11_000, 9000, 11_000), Status.SLOWER),
        ((11_000, 10_000, 11_000), Status.SLOWER),
        ((11_000, 9000, 9100), Status.INCONCLUSIVE),
    ],
    ids=["below", "as before", "two"],
)
def test_one_new_session_in_another_state_does_not_prevent_a_verdict(
    second: tuple[int, ...], status: Status
) -> None:
    assert status_of(Unpaired((10_000,) * 6, (11_000,) * 3, second)) is status


def test_one_session_of_each_round_in_a_bad_state_makes_no_verdict() -> None:
    shift = Unpaired((10_000,) * 6, (10_000, 12_000, 10_010), (13_000, 10_000, 9990))

    assert status_of(shift) is Status.UNCHANGED


@pytest.mark.parametrize(
    ("other", "chance"),
    [(-0.019, 2 / 64), (-0.020, 3 / 64), (-0.021, 3 / 64)],
    ids=["nearer", "as far off", "further"],
)
@pytest.mark.parametrize("side", [1, -1], ids=["slower", "faster"])
def test_pair_on_the_other_side_as_far_off_as_another_counts_as_further(
    other: float, chance: float, side: int
) -> None:
    shares = [side * one for one in (0.05, 0.04, 0.03, other, 0.06, 0.02)]

    assert Paired(tuple(shares)).chance(slower=side > 0) == chance


@pytest.mark.parametrize("value", [0.0, 0.02, -0.02])
def test_equal_pairs_are_judged_without_a_warning(value: float) -> None:
    expected = Status.SLOWER if value > 0 else Status.FASTER if value < 0 else Status.UNCHANGED

    assert status_of(Paired((value,) * 3, (value,) * 3)) is expected


def test_pairs_without_any_difference_have_no_side() -> None:
    assert Paired((0.0,) * 3, (0.0,) * 3).chance(slower=True) == 1


def test_pair_without_a_difference_proves_nothing_for_either_side() -> None:
    with_zero, without = Paired((0.02, 0.02, 0.0, 0.02)), Paired((0.02, 0.02, 0.02))

    assert with_zero.chance(slower=True) == without.chance(slower=True)


@pytest.mark.parametrize(
    ("second", "status"),
    [((0.02, 0.02, -0.001), Status.SLOWER), ((0.02, 0.02, -0.021), Status.INCONCLUSIVE)],
    ids=["slightly", "as far"],
)
def test_pair_on_the_other_side_counts_by_how_far_it_is(
    second: tuple[float, ...], status: Status
) -> None:
    assert status_of(Paired((0.02, 0.02, 0.02), second)) is status


@pytest.mark.parametrize("side", [True, False])
def test_stored_and_new_sessions_that_are_all_equal_have_no_side(*, side: bool) -> None:
    assert Unpaired((5, 5, 5), (5, 5, 5)).chance(slower=side) > 0.5
