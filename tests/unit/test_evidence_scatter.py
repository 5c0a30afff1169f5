"""Evidence: constants, scatter, and sessions in another state."""

from __future__ import annotations

from math import inf, isfinite

import pytest

from pytest_rmsperf.judge.evidence import (
    SURE,
    Paired,
    Shift,
    Unpaired,
    weigh,
)
from pytest_rmsperf.judge.policy import Status

LIMIT = 0.01


def status_of(shift: Shift, limit: float = LIMIT) -> Status:
    return weigh(shift, limit).status


# ---- scatter -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((10_000,) * 3, (10_000,) * 3),
        ((10_000,) * 3, (10_000, 10_010, 9990)),
        ((10_000, 10_010, 9990), (10_000,) * 3),
        ((10_000, 10_000, 10_001), (10_000, 10_000, 9999)),
    ],
    ids=["both", "stored", "new", "neither"],
)
def test_constant_sessions_are_judged_without_a_warning(
    before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    assert status_of(Unpaired(before, after)) is Status.UNCHANGED


@pytest.mark.parametrize(
    ("before", "after", "hidden"),
    [
        ((10_000,) * 3, (12_000,) * 3, 0.0),
        ((10_000,), (10_000,) * 3, inf),
        ((10_000,) * 3, (10_000,), inf),
    ],
    ids=["constant", "one stored", "one new"],
)
def test_what_could_hide_is_nothing_for_constants_and_anything_for_one_session(
    before: tuple[int, ...], after: tuple[int, ...], hidden: float
) -> None:
    assert Unpaired(before, after).hidden(LIMIT) == hidden


def test_one_pair_could_hide_anything() -> None:
    assert Paired((0.001,)).hidden(LIMIT) == inf


def test_what_could_hide_is_finite_however_far_sessions_are_apart() -> None:
    assert isfinite(Unpaired((1, 10**30), (1, 10**30)).hidden(LIMIT, SURE))


def test_sessions_wider_apart_than_any_clock_are_weighed_all_the_same() -> None:
    found = weigh(Unpaired((1, 10**9), (1, 10**9)), LIMIT)

    assert found.why == "within the threshold, but the sessions scatter: over 100 % could hide"


@pytest.mark.parametrize(
    ("spread_ns", "status"), [(60, Status.UNCHANGED), (160, Status.INCONCLUSIVE)]
)
def test_unchanged_figure_whose_sessions_scatter_beyond_three_limits_is_in_doubt(
    spread_ns: int, status: Status
) -> None:
    sessions = (10_000 - spread_ns, 10_000, 10_000 + spread_ns)

    assert status_of(Unpaired(sessions, sessions)) is status


@pytest.mark.parametrize(("spread_ns", "status"), [(20, Status.SLOWER), (120, Status.INCONCLUSIVE)])
def test_change_that_scatter_alone_could_make_is_in_doubt(spread_ns: int, status: Status) -> None:
    before = (10_000 - spread_ns, 10_000, 10_000 + spread_ns)
    after = tuple(one + 300 for one in before)

    assert status_of(Unpaired(before, after, after)) is status


def test_doubt_by_scatter_says_by_how_much() -> None:
    before = (9880, 10_000, 10_120)
    after = tuple(one + 300 for one in before)

    assert weigh(Unpaired(before, after, after), LIMIT).why == (
        "beyond the threshold, but the sessions scatter by 3.8 % either way"
    )


def test_three_widely_spread_stored_sessions_are_neither_a_pass_nor_a_fail() -> None:
    assert status_of(Unpaired((6000, 10_000, 30_000), (10_000,) * 3)) is Status.INCONCLUSIVE


def test_three_widely_spread_stored_sessions_prove_no_loss() -> None:
    after = (14_000,) * 3

    assert status_of(Unpaired((6000, 10_000, 30_000), after, after)) is Status.INCONCLUSIVE


def test_sessions_that_agree_inside_and_not_between_each_other_prove_nothing() -> None:
    # Each of these is the median of blocks that hardly differ; only sessions are counted.
    shift = Unpaired((10_000, 13_900, 9900), (13_900, 10_050, 13_800), (13_900, 10_000, 13_900))

    assert status_of(shift) is Status.INCONCLUSIVE


# ---- sessions in another state -------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "outlying"),
    [
        ((10_000, 10_010, 6000), (2,)),
        ((10_000, 12_000, 10_010), (1,)),
        ((10_000, 10_020, 6000, 9990, 10_010), (2,)),
        ((10_000, 10_010, 10_020), ()),
    ],
)
def test_session_in_another_state_changes_nothing_and_is_named(
    after: tuple[int, ...], outlying: tuple[int, ...]
) -> None:
    found = weigh(Unpaired((10_000, 10_010, 9990), after), LIMIT)

    assert (found.status, found.outlying) == (Status.UNCHANGED, outlying)


def test_stored_session_in_another_state_changes_nothing() -> None:
    found = weigh(Unpaired((10_000, 10_010, 6000), (10_000, 10_010, 9990)), LIMIT)

    assert (found.status, found.outlying) == (Status.UNCHANGED, ())


def test_pair_in_another_state_changes_nothing_and_is_named() -> None:
    found = weigh(Paired((0.0001, 0.2, -0.0001)), LIMIT)

    assert (found.status, found.outlying) == (Status.UNCHANGED, (1,))


def test_sessions_in_another_state_are_numbered_through_both_rounds() -> None:
    shift = Unpaired((10_000,) * 6, (11_000,) * 3, (11_000, 15_000, 11_000))

    assert weigh(shift, LIMIT).outlying == (4,)
