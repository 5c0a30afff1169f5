"""Orderings: one case is faster than another, by a ratio, on pairs of the same run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_rmsperf.cases import Case
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.judge.ordering import (
    OrderedFigure,
    Ordering,
    OrderStatus,
    judge_ordering,
    session_ratio,
)
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.samples import Samples

FAST, SLOW = OPERATOR.cases()[:2]
FASTER = Ordering(FAST, SLOW)


def status_of(ratio: float, *rounds: Sequence[float]) -> OrderStatus:
    return judge_ordering(Ordering(FAST, SLOW, ratio), *rounds).status


# ---- the statement -------------------------------------------------------------------


def test_ordering_of_a_case_with_itself_is_refused() -> None:
    with pytest.raises(OperatorError, match=f"needs two cases, got {FAST.id} twice"):
        Ordering(FAST, FAST)


@pytest.mark.parametrize("ratio", [0.99, 0, -1, float("nan"), float("inf")])
def test_ratio_that_states_nothing_is_refused(ratio: float) -> None:
    with pytest.raises(OperatorError, match=f"must be at least 1, got {ratio}"):
        Ordering(FAST, SLOW, ratio)


@pytest.mark.parametrize("ratio", [1, 1.5])
def test_ratio_is_at_least_one(ratio: float) -> None:
    assert Ordering(FAST, SLOW, ratio).ratio == ratio


@pytest.mark.parametrize("figure", OrderedFigure)
def test_id_names_both_cases_and_the_figure(figure: OrderedFigure) -> None:
    assert Ordering(FAST, SLOW, figure=figure).id == f"{FAST.id} < {SLOW.id} ({figure.value})"


# ---- one session ---------------------------------------------------------------------


def samples_of(case: Case, device_ns: tuple[int, ...], completion_ns: tuple[int, ...]) -> Samples:
    return Samples(case.id, 8, device_ns, completion_ns)


def test_ratio_of_device_time_is_the_median_over_blocks() -> None:
    ordering = Ordering(FAST, SLOW, figure=OrderedFigure.DEVICE)
    fast, slow = (
        samples_of(FAST, (100, 100, 10), (1,) * 3),
        samples_of(SLOW, (150, 160, 99), (1,) * 3),
    )

    assert session_ratio(ordering, fast, slow) == 1.6


def test_ratio_of_host_completion_is_the_median_over_blocks_of_medians() -> None:
    fast = samples_of(FAST, (1, 1), (100, 100, 900, 200, 200, 900))
    slow = samples_of(SLOW, (1, 1), (150, 150, 1, 340, 340, 1))

    assert session_ratio(FASTER, fast, slow) == pytest.approx(1.6)


def test_blocks_without_a_partner_are_an_error() -> None:
    fast, slow = samples_of(FAST, (1, 1), (5, 5)), samples_of(SLOW, (1,), (5,))

    with pytest.raises(ValueError, match="zip"):
        session_ratio(FASTER, fast, slow)


# ---- a first round -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratios", "status"),
    [
        ((1.2, 1.3, 1.25), OrderStatus.HOLDS),
        ((1.2, 1.3, 1.19), OrderStatus.INCONCLUSIVE),
        ((1.1, 1.0, 1.15), OrderStatus.INCONCLUSIVE),
        ((1.2,), OrderStatus.HOLDS),
        ((1.19,), OrderStatus.INCONCLUSIVE),
    ],
    ids=["all above", "one below", "all below", "one session above", "one session below"],
)
def test_first_round_of_three_settles_only_what_no_session_contradicts(
    ratios: tuple[float, ...], status: OrderStatus
) -> None:
    assert status_of(1.2, ratios) is status


@pytest.mark.parametrize(
    ("ratios", "status"),
    [
        ((1.1, 1.12, 1.13, 1.11, 1.1), OrderStatus.VIOLATED),
        ((1.1, 1.12, 1.13, 1.11, 1.3), OrderStatus.INCONCLUSIVE),
        ((1.1, 1.12, 1.13, 1.11, 1.1999, 1.2002), OrderStatus.VIOLATED),
    ],
    ids=["all below", "one above", "one hardly above"],
)
def test_first_round_of_many_sessions_may_be_clear(
    ratios: tuple[float, ...], status: OrderStatus
) -> None:
    assert status_of(1.2, ratios) is status


@pytest.mark.parametrize(
    ("ratios", "more"),
    [((1.3, 1.3, 1.3), 0), ((1.3, 1.3, 1.1), 3), ((1.1, 1.1, 1.1), 3), ((1.1,), 4)],
    ids=["clear", "one contradicts", "all contradict", "one session"],
)
def test_what_is_in_doubt_asks_for_a_second_round(ratios: tuple[float, ...], more: int) -> None:
    assert judge_ordering(Ordering(FAST, SLOW, 1.2), ratios).more_sessions == more


# ---- a second round ------------------------------------------------------------------

BELOW, ABOVE = (1.1, 1.1, 1.1), (1.3, 1.3, 1.3)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (BELOW, BELOW, OrderStatus.VIOLATED),
        (BELOW, ABOVE, OrderStatus.INCONCLUSIVE),
        (ABOVE, BELOW, OrderStatus.INCONCLUSIVE),
        ((1.3, 1.1, 1.3), (1.1, 1.3, 1.3), OrderStatus.HOLDS),
        ((1.3, 1.1, 1.3), (1.1, 1.1, 1.3), OrderStatus.INCONCLUSIVE),
        ((1.1, 1.1, 1.3), (1.1, 1.1, 1.3), OrderStatus.INCONCLUSIVE),
        ((1.1, 1.1, 1.201), (1.1, 1.1, 1.1), OrderStatus.VIOLATED),
    ],
    ids=[
        "below twice",
        "once below",
        "once above",
        "most above twice",
        "medians disagree",
        "most below, not clear",
        "one hardly above",
    ],
)
def test_both_rounds_must_say_the_same(
    first: tuple[float, ...], second: tuple[float, ...], status: OrderStatus
) -> None:
    assert status_of(1.2, first, second) is status


def test_second_round_that_bears_it_out_is_no_violation_though_all_together_lie_below() -> None:
    second = (1.2001, 1.2002, 1.2003, 1.2004, 1.0, 1.0)

    assert status_of(1.2, (1.0,) * 6, second) is OrderStatus.INCONCLUSIVE


def test_second_round_asks_for_no_third() -> None:
    assert judge_ordering(Ordering(FAST, SLOW, 1.2), BELOW, ABOVE).more_sessions == 0


def test_ratio_that_is_just_reached_holds() -> None:
    assert status_of(1.2, (1.2,) * 3) is OrderStatus.HOLDS


def test_cases_that_are_equally_fast_are_no_violation() -> None:
    assert status_of(1.0, (0.999, 1.001, 0.999), (0.999, 1.0, 0.998)) is OrderStatus.INCONCLUSIVE


def test_median_session_is_the_ratio_that_is_shown() -> None:
    found = judge_ordering(Ordering(FAST, SLOW, 1.2), BELOW, ABOVE)

    assert found.ratio == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("rounds", "verb"),
    [((ABOVE,), "holds"), ((BELOW, BELOW), "violated"), ((BELOW, ABOVE), "inconclusive")],
)
def test_text_begins_with_the_answer_and_gives_both_ratios(
    rounds: tuple[tuple[float, ...], ...], verb: str
) -> None:
    found = judge_ordering(Ordering(FAST, SLOW, 1.2), *rounds)

    assert str(found).splitlines()[0] == (
        f"{verb}: {SLOW.id} takes {found.ratio:.2f} times the host completion of {FAST.id}, "
        "stated is at least 1.20"
    )


def test_text_gives_the_ratio_of_every_session() -> None:
    found = judge_ordering(FASTER, (1.1, 1.2, 1.3), (1.4,))

    assert str(found).splitlines()[1] == "  sessions   1.10, 1.20, 1.30, 1.40"
