"""The judge's evidence: both figures, both rounds, and a host that moved by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.judge.verdict import Round, Verdict, judge
from pytest_rmsperf.measurement import Measurement

Measured = Callable[..., Measurement]
Judged = Callable[..., Verdict]

THRESHOLDS = Thresholds(Limit(0.03, 50), Limit(0.25, 1000))

# 3 % of 10 us are 300 ns and 25 % of 20 us are 5000 ns, both above their floors.
BEFORE = (10_000, 10_000, 10_000)
HOST_BEFORE = (20_000, 20_000, 20_000)


@pytest.fixture
def judged_short(measured: Measured) -> Judged:
    """Judges constant sessions of a kernel that moves next to nothing: `(1000, 1050)`."""

    def judge_short(before_ns: int, after_ns: int) -> Verdict:
        before, after = (measured((one,) * 3, copy_ns=None) for one in (before_ns, after_ns))
        return judge("case", [Round(after)], before, THRESHOLDS)

    return judge_short


# ---- device time -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after_ns", "status"),
    [
        (10_300, Status.UNCHANGED),
        (10_301, Status.SLOWER),
        (9700, Status.UNCHANGED),
        (9699, Status.FASTER),
    ],
)
def test_change_counts_beyond_the_share(judged: Judged, after_ns: int, status: Status) -> None:
    assert judged(BEFORE, (after_ns,) * 3).status is status


@pytest.mark.parametrize(
    ("after_ns", "status"),
    [
        (1050, Status.UNCHANGED),
        (1051, Status.SLOWER),
        (950, Status.UNCHANGED),
        (949, Status.FASTER),
    ],
)
def test_short_kernels_change_counts_beyond_the_floor(
    judged_short: Judged, after_ns: int, status: Status
) -> None:
    assert judged_short(1000, after_ns).status is status


@pytest.mark.parametrize("after_ns", [999, 1001])
def test_one_tick_between_sessions_without_any_scatter_is_no_change(
    judged_short: Judged, after_ns: int
) -> None:
    assert judged_short(1000, after_ns).status is Status.UNCHANGED


def test_unchanged_figure_says_so(judged: Judged) -> None:
    verdict = judged(BEFORE, BEFORE)

    assert (verdict.reason, verdict.figure) == ("within the threshold", None)


def test_unchanged_figure_near_its_limit_says_so(judged: Judged) -> None:
    assert judged(BEFORE, (10_290,) * 3).reason == "within the threshold, near its limit"


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (
            (10_000, 11_000, 11_200),
            "device time: beyond the threshold, but the sessions overlap",
        ),
        (
            (11_000,),
            "device time: beyond the threshold, but so few sessions prove nothing",
        ),
        (
            (10_000,),
            "device time: within the threshold, but one session does not tell",
        ),
    ],
    ids=["overlap", "few", "one"],
)
def test_doubt_names_its_figure_and_its_cause(
    judged: Judged, after: tuple[int, ...], reason: str
) -> None:
    host = (HOST_BEFORE, (20_000,) * len(after))

    verdict = judged((10_000, 10_000, 10_050), after, host=host)

    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, reason)


def test_widely_spread_sessions_are_neither_a_pass_nor_a_fail(judged: Judged) -> None:
    verdict = judged((6000, 10_000, 30_000), (7000, 14_000, 29_000))

    assert (verdict.status, verdict.reason) == (
        Status.INCONCLUSIVE,
        "device time: beyond the threshold, but the sessions overlap",
    )


def test_widely_spread_baseline_is_no_pass_though_the_medians_agree(judged: Judged) -> None:
    assert judged((6000, 10_000, 30_000), BEFORE).status is Status.INCONCLUSIVE


@pytest.mark.parametrize(
    "after",
    [(10_000, 6000, 10_010), (10_000, 10_020, 6000, 9990, 10_010)],
    ids=["of three", "of five"],
)
def test_one_session_in_a_clock_drop_changes_nothing_and_is_named(
    judged: Judged, after: tuple[int, ...]
) -> None:
    verdict = judged((10_000,) * len(after), after)

    assert verdict.device is not None
    assert (verdict.status, verdict.device.outlying) == (Status.UNCHANGED, (after.index(6000),))


@pytest.mark.parametrize(("sessions", "more"), [(2, 5), (3, 3), (4, 4)])
def test_few_sessions_are_settled_by_the_second_round_that_they_ask_for(
    measured: Measured, sessions: int, more: int
) -> None:
    baseline = measured((10_000,) * sessions)
    rounds = [Round(measured((11_000,) * count)) for count in (sessions, more)]

    first, both = (judge("case", rounds[:count], baseline, THRESHOLDS) for count in (1, 2))

    assert (first.more_sessions, both.status) == (more, Status.SLOWER)


# ---- a second round ----------------------------------------------------------------


def test_loss_in_a_first_round_asks_for_a_second(judged: Judged) -> None:
    verdict = judged(BEFORE, (12_000,) * 3)

    assert (verdict.status, verdict.more_sessions, verdict.confirming) == (Status.SLOWER, 3, 0)


def test_loss_that_lasts_is_confirmed(judged: Judged) -> None:
    verdict = judged(BEFORE, (12_000,) * 3, (12_010,) * 3)

    assert (verdict.status, verdict.more_sessions, verdict.confirming) == (Status.SLOWER, 0, 3)


def test_loss_in_one_round_only_is_cleared_and_noted(judged: Judged) -> None:
    verdict = judged(BEFORE, (12_000,) * 3, (10_010,) * 3)

    assert (verdict.status, verdict.reason, verdict.cleared) == (
        Status.UNCHANGED,
        "cleared by a second round of sessions: +20.0 % in the first, +0.1 % in the second",
        0.2,
    )


def test_figures_of_a_cleared_case_are_those_of_the_second_round(judged: Judged) -> None:
    verdict = judged(BEFORE, (12_000,) * 3, (10_010,) * 3)

    assert verdict.current is not None
    assert (verdict.current.device_ns, verdict.change) == (10_010, 0.001)


def test_cleared_device_time_does_not_excuse_a_slower_host(judged: Judged) -> None:
    host = (HOST_BEFORE, (40_000,) * 3)

    verdict = judged(BEFORE, (12_000,) * 3, (10_000,) * 3, host=host)

    assert verdict.current is not None
    assert (verdict.status, verdict.figure, len(verdict.current.sessions)) == (
        Status.SLOWER,
        "host completion",
        6,
    )


def test_rounds_that_disagree_are_in_doubt(judged: Judged) -> None:
    verdict = judged(BEFORE, (12_000,) * 3, (10_000, 10_290, 10_295))

    assert (verdict.status, verdict.reason) == (
        Status.INCONCLUSIVE,
        "device time: two rounds of sessions disagree: +20.0 % in the first, +2.9 % in the second",
    )


def test_unchanged_figures_ask_for_no_second_round(judged: Judged) -> None:
    assert judged(BEFORE, BEFORE).more_sessions == 0


def test_doubt_beyond_the_limit_asks_for_a_second_round(judged: Judged) -> None:
    assert judged(BEFORE, (10_000, 11_000, 11_000)).more_sessions == 3


def test_slower_host_asks_for_a_second_round(judged: Judged) -> None:
    assert judged(BEFORE, BEFORE, host=(HOST_BEFORE, (30_000,) * 3)).more_sessions == 3
