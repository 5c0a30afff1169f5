"""The judge on host completion: its own limits, beside device time, and a host that moved."""

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

# 25 % of 20 us are 5000 ns, above the floor.
BEFORE = (10_000, 10_000, 10_000)
HOST_BEFORE = (20_000, 20_000, 20_000)


# ---- two figures -------------------------------------------------------------------


def test_slower_device_time_fails_though_the_host_got_faster(judged: Judged) -> None:
    verdict = judged(BEFORE, (11_000,) * 3, host=(HOST_BEFORE, (10_000,) * 3))

    assert (verdict.status, verdict.reason) == (Status.SLOWER, "device time")


def test_faster_device_time_does_not_pay_for_a_slower_host(judged: Judged) -> None:
    verdict = judged(BEFORE, (9000,) * 3, host=(HOST_BEFORE, (40_000,) * 3))

    assert (verdict.status, verdict.figure) == (Status.SLOWER, "host completion")


def test_faster_device_time_stands_when_the_host_moved_by_itself(judged: Judged) -> None:
    host = (HOST_BEFORE, (40_000,) * 3)

    verdict = judged(BEFORE, (9000,) * 3, host=host, null=(6000, 26_000))

    assert (verdict.status, verdict.reason) == (Status.FASTER, "device time")


def test_doubt_about_one_figure_does_not_hide_the_loss_of_the_other(judged: Judged) -> None:
    host = ((20_000, 20_000, 30_000), (26_000, 29_000, 31_000))

    assert judged(BEFORE, (11_000,) * 3, host=host).status is Status.SLOWER


# ---- host completion ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("after_ns", "status", "reason"),
    [
        (25_000, Status.UNCHANGED, "within the threshold, near its limit"),
        (25_001, Status.SLOWER, "host completion"),
    ],
)
def test_host_completion_counts_beyond_its_own_share(
    judged: Judged, after_ns: int, status: Status, reason: str
) -> None:
    verdict = judged(BEFORE, BEFORE, host=(HOST_BEFORE, (after_ns,) * 3))

    assert (verdict.status, verdict.reason) == (status, reason)


@pytest.mark.parametrize(("after_ns", "status"), [(3000, Status.UNCHANGED), (3001, Status.SLOWER)])
def test_short_host_completion_counts_beyond_its_floor(
    judged: Judged, after_ns: int, status: Status
) -> None:
    assert judged(BEFORE, BEFORE, host=((2000,) * 3, (after_ns,) * 3)).status is status


@pytest.mark.parametrize(
    ("null_after_ns", "status"), [(8999, Status.SLOWER), (9000, Status.INCONCLUSIVE)]
)
def test_rise_of_which_the_null_kernel_has_half_is_the_hosts(
    judged: Judged, null_after_ns: int, status: Status
) -> None:
    host = (HOST_BEFORE, (26_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(6000, null_after_ns)).status is status


def test_host_that_moved_is_named_and_asks_for_no_second_round(judged: Judged) -> None:
    verdict = judged(BEFORE, BEFORE, host=(HOST_BEFORE, (26_000,) * 3), null=(6000, 12_000))

    assert (verdict.reason, verdict.more_sessions) == (
        "host completion: it moved, and the null kernel's with it",
        0,
    )


@pytest.mark.parametrize("null", [(None, 60_000), (6000, None)])
def test_rise_without_null_kernels_on_both_sides_is_the_cases(
    judged: Judged, null: tuple[int | None, int | None]
) -> None:
    host = (HOST_BEFORE, (26_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=null).status is Status.SLOWER


def test_overlapping_host_completions_leave_doubt(judged: Judged) -> None:
    host = ((20_000, 20_000, 30_000), (26_000, 29_000, 30_000))

    assert judged(BEFORE, BEFORE, host=host).status is Status.INCONCLUSIVE


def test_host_completion_that_fell_beyond_its_share_is_faster(judged: Judged) -> None:
    verdict = judged(BEFORE, BEFORE, host=(HOST_BEFORE, (14_000,) * 3))

    assert (verdict.status, verdict.reason) == (Status.FASTER, "host completion")


@pytest.mark.parametrize(
    ("null_after_ns", "status"), [(3001, Status.FASTER), (3000, Status.INCONCLUSIVE)]
)
def test_fall_of_which_the_null_kernel_has_half_is_the_hosts(
    judged: Judged, null_after_ns: int, status: Status
) -> None:
    host = (HOST_BEFORE, (14_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(6000, null_after_ns)).status is status


def test_null_kernel_that_moved_the_other_way_explains_nothing(judged: Judged) -> None:
    host = (HOST_BEFORE, (26_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(9000, 1000)).status is Status.SLOWER


def test_sessions_apart_are_numbered_in_the_round_that_is_shown(measured: Measured) -> None:
    before = measured(BEFORE, completion_ns=HOST_BEFORE)
    first = measured((12_000,) * 3, completion_ns=(20_000, 60_000, 20_000))
    second = measured(BEFORE, completion_ns=(20_000, 20_000, 60_000))

    verdict = judge("case", [Round(first), Round(second)], before, THRESHOLDS)

    assert verdict.completion is not None
    assert (verdict.current, verdict.completion.outlying) == (second, (2,))
