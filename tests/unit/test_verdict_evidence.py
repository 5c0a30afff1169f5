"""The judge's evidence: both sides of each threshold, and doubt where sessions overlap."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_rmsperf.verdict import Status, Verdict

Judged = Callable[..., Verdict]

# 3 % of 10 us are 300 ns and 25 % of 20 us are 5000 ns, both above their floors.
BEFORE = (10_000, 10_000, 10_000)
HOST_BEFORE = (20_000, 20_000, 20_000)


# ---- device time -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ((10_300, 10_300, 10_300), Status.UNCHANGED),
        ((10_301, 10_301, 10_301), Status.SLOWER),
        ((9700, 9700, 9700), Status.UNCHANGED),
        ((9699, 9699, 9699), Status.FASTER),
    ],
)
def test_a_change_counts_beyond_the_share(
    judged: Judged, after: tuple[int, ...], status: Status
) -> None:
    assert judged(BEFORE, after).status is status


@pytest.mark.parametrize(
    ("before_ns", "after_ns", "status"),
    [
        (1000, 1050, Status.UNCHANGED),
        (1000, 1051, Status.SLOWER),
        (1000, 950, Status.UNCHANGED),
        (1000, 949, Status.FASTER),
    ],
)
def test_a_short_kernels_change_counts_beyond_the_floor(
    judged: Judged, before_ns: int, after_ns: int, status: Status
) -> None:
    assert judged((before_ns,), (after_ns,)).status is status


def test_sessions_that_only_touch_leave_doubt(judged: Judged) -> None:
    assert judged((10_000, 10_000, 11_000), (11_000, 12_000, 12_000)).status is Status.INCONCLUSIVE


def test_sessions_that_just_part_leave_none(judged: Judged) -> None:
    assert judged((10_000, 10_000, 11_000), (11_001, 12_000, 12_000)).status is Status.SLOWER


def test_faster_sessions_that_only_touch_leave_doubt(judged: Judged) -> None:
    assert judged((12_000, 12_000, 11_000), (11_000, 10_000, 10_000)).status is Status.INCONCLUSIVE


def test_faster_sessions_that_just_part_leave_none(judged: Judged) -> None:
    assert judged((12_000, 12_000, 11_001), (11_000, 10_000, 10_000)).status is Status.FASTER


def test_widely_spread_sessions_are_neither_a_pass_nor_a_fail(judged: Judged) -> None:
    verdict = judged((6000, 10_000, 30_000), (7000, 14_000, 29_000))

    assert (verdict.status, verdict.reason) == (
        Status.INCONCLUSIVE,
        "beyond the threshold, but the sessions overlap",
    )


def test_one_session_in_a_clock_drop_changes_nothing(judged: Judged) -> None:
    assert judged((10_000,) * 5, (10_000, 10_020, 6000, 9990, 10_010)).status is Status.UNCHANGED


def test_one_tick_between_sessions_without_any_scatter_is_no_change(judged: Judged) -> None:
    assert judged((1000, 1000, 1000), (1001, 1001, 1001)).status is Status.UNCHANGED


@pytest.mark.parametrize("sessions", [1, 2, 4])
def test_few_sessions_are_judged(judged: Judged, sessions: int) -> None:
    assert judged((10_000,) * sessions, (11_000,) * sessions).status is Status.SLOWER


def test_a_baseline_of_zero_divides_nothing(judged: Judged) -> None:
    verdict = judged((0,), (10_000,))

    assert (verdict.status, verdict.change) == (Status.SLOWER, None)


def test_slower_device_time_fails_though_the_host_got_faster(judged: Judged) -> None:
    verdict = judged(BEFORE, (11_000,) * 3, host=(HOST_BEFORE, (10_000,) * 3))

    assert (verdict.status, verdict.reason) == (Status.SLOWER, "device time")


def test_faster_device_time_does_not_pay_for_a_slower_host(judged: Judged) -> None:
    verdict = judged(BEFORE, (9000,) * 3, host=(HOST_BEFORE, (40_000,) * 3))

    assert (verdict.status, verdict.reason) == (Status.SLOWER, "host completion")


def test_faster_device_time_stands_when_the_host_moved_by_itself(judged: Judged) -> None:
    host = (HOST_BEFORE, (40_000,) * 3)

    verdict = judged(BEFORE, (9000,) * 3, host=host, null=(6000, 26_000))

    assert (verdict.status, verdict.reason) == (Status.FASTER, "device time")


@pytest.mark.parametrize(
    ("after_ns", "status"),
    [(11_000, Status.INVALID), (9000, Status.FASTER), (10_000, Status.UNCHANGED)],
)
def test_a_kernel_on_an_unfit_machine_is_never_called_slower(
    judged: Judged, after_ns: int, status: Status
) -> None:
    verdict = judged(BEFORE, (after_ns,) * 3, unfit="the clocks were lowered")

    assert verdict.status is status


def test_an_unfit_machine_is_named_in_the_reason(judged: Judged) -> None:
    verdict = judged(BEFORE, (11_000,) * 3, unfit="the clocks were lowered")

    assert verdict.reason == "slower device time, but the clocks were lowered"


# ---- host completion ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("after_ns", "status", "reason"),
    [
        (25_000, Status.UNCHANGED, "within the threshold"),
        (25_001, Status.SLOWER, "host completion"),
    ],
)
def test_host_completion_counts_beyond_its_own_share(
    judged: Judged, after_ns: int, status: Status, reason: str
) -> None:
    verdict = judged(BEFORE, BEFORE, host=(HOST_BEFORE, (after_ns,) * 3))

    assert (verdict.status, verdict.reason) == (status, reason)


@pytest.mark.parametrize(("after_ns", "status"), [(3000, Status.UNCHANGED), (3001, Status.SLOWER)])
def test_a_short_host_completion_counts_beyond_its_floor(
    judged: Judged, after_ns: int, status: Status
) -> None:
    assert judged(BEFORE, BEFORE, host=((2000,) * 3, (after_ns,) * 3)).status is status


@pytest.mark.parametrize(
    ("null_after_ns", "status"), [(8999, Status.SLOWER), (9000, Status.INCONCLUSIVE)]
)
def test_a_rise_of_which_the_null_kernel_has_half_is_the_hosts(
    judged: Judged, null_after_ns: int, status: Status
) -> None:
    host = (HOST_BEFORE, (26_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(6000, null_after_ns)).status is status


@pytest.mark.parametrize(
    ("null_after_ns", "status"), [(6999, Status.SLOWER), (7000, Status.INCONCLUSIVE)]
)
def test_a_null_kernel_that_rose_by_less_than_the_floor_explains_nothing(
    judged: Judged, null_after_ns: int, status: Status
) -> None:
    host = ((4000,) * 3, (5100,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(6000, null_after_ns)).status is status


@pytest.mark.parametrize("null", [(None, 60_000), (6000, None)])
def test_a_rise_without_null_kernels_on_both_sides_is_the_cases(
    judged: Judged, null: tuple[int | None, int | None]
) -> None:
    assert judged(BEFORE, BEFORE, host=(HOST_BEFORE, (26_000,) * 3), null=null).fails


def test_overlapping_host_completions_leave_doubt(judged: Judged) -> None:
    host = ((20_000, 20_000, 30_000), (26_000, 29_000, 30_000))

    assert judged(BEFORE, BEFORE, host=host).status is Status.INCONCLUSIVE


def test_a_host_completion_that_fell_beyond_its_share_is_faster(judged: Judged) -> None:
    verdict = judged(BEFORE, BEFORE, host=(HOST_BEFORE, (14_000,) * 3))

    assert (verdict.status, verdict.reason) == (Status.FASTER, "host completion")


@pytest.mark.parametrize(
    ("null_after_ns", "status"), [(3001, Status.FASTER), (3000, Status.INCONCLUSIVE)]
)
def test_a_fall_of_which_the_null_kernel_has_half_is_the_hosts(
    judged: Judged, null_after_ns: int, status: Status
) -> None:
    host = (HOST_BEFORE, (14_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(6000, null_after_ns)).status is status


def test_a_null_kernel_that_moved_the_other_way_explains_nothing(judged: Judged) -> None:
    host = (HOST_BEFORE, (26_000,) * 3)

    assert judged(BEFORE, BEFORE, host=host, null=(9000, 1000)).status is Status.SLOWER
