"""Whether the machine was fit: each reason alone, and silence about what is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_rmsperf.checks import SessionResult
from pytest_rmsperf.environment import DeviceState, Tenant
from pytest_rmsperf.judge.health import BUSY_PERCENT, TENANT_PERCENT, why_unfit
from readings import AFTER, DESKTOP, IDLE, LOADED, TRAIN, at_clocks, session, session_of

UNKNOWN = DeviceState()


def beside(*others: Tenant) -> DeviceState:
    return replace(IDLE, other_processes=others)


def test_a_device_that_is_idle_before_and_at_its_clocks_during_a_session_is_fit() -> None:
    assert why_unfit(session()) is None


def test_what_nvml_does_not_tell_says_nothing_against_the_machine() -> None:
    assert why_unfit(session(before=UNKNOWN, during=[UNKNOWN] * 15, after=UNKNOWN)) is None


def test_a_session_without_readings_is_not_unfit() -> None:
    assert why_unfit(session(before=None, during=[], after=None)) is None


# ---- contention ------------------------------------------------------------------------------


@pytest.mark.parametrize(("percent", "unfit"), [(BUSY_PERCENT - 1, False), (BUSY_PERCENT, True)])
def test_a_device_busy_before_a_session_is_contended_whatever_its_name(
    percent: int, *, unfit: bool
) -> None:
    reason = why_unfit(session(before=replace(IDLE, utilization_percent=percent)))

    assert (reason is not None) == unfit


def test_a_process_that_loops_a_kernel_is_named_as_contention() -> None:
    before = replace(beside(DESKTOP, TRAIN), utilization_percent=97)

    assert why_unfit(session(before=before)) == (
        "the device was 97 % busy before a session: "
        "train.py (pid 4711, 96 % of the SMs' time), Xorg (pid 1200)"
    )


def test_more_processes_than_a_line_holds_are_counted() -> None:
    others = [Tenant(pid, f"job-{pid}") for pid in range(1, 6)]
    before = replace(beside(*others), utilization_percent=97)

    assert why_unfit(session(before=before)) == (
        "the device was 97 % busy before a session: "
        "job-1 (pid 1), job-2 (pid 2), job-3 (pid 3) and 2 more"
    )


@pytest.mark.parametrize(
    "before",
    [
        beside(),
        replace(IDLE, other_processes=None),
        replace(beside(Tenant(3_000_000)), ours_unlisted=True),
    ],
    ids=["empty list", "no list", "only ourselves under a pid of the host"],
)
def test_a_busy_device_without_another_process_in_the_list_has_a_hidden_one(
    before: DeviceState,
) -> None:
    assert why_unfit(session(before=replace(before, utilization_percent=97))) == (
        "the device was 97 % busy before a session: "
        "no other process is listed, so the one at work is hidden from this one"
    )


def test_pids_of_the_host_are_named_with_the_doubt_that_one_is_ours() -> None:
    before = replace(beside(Tenant(70_001), Tenant(70_002)), ours_unlisted=True)

    reason = why_unfit(session(before=replace(before, utilization_percent=97)))

    assert reason is not None
    assert reason.endswith(
        "(pid 70001), a process whose name is hidden (pid 70002), one of which may be our own"
    )


def test_memory_in_use_without_a_process_is_not_contention_by_itself() -> None:
    assert why_unfit(session(before=replace(IDLE, used_memory_mib=9000))) is None


def test_a_device_busy_after_a_session_was_busy_with_us() -> None:
    assert why_unfit(session(after=replace(AFTER, utilization_percent=100))) is None


def with_shares(*percent: int | None) -> SessionResult:
    """Beside a desktop that has these shares of the SMs' time before, during and after."""
    return session_of(*(beside(replace(DESKTOP, sm_percent=one)) for one in percent))


PLACES = {"before": 0, "during": 7, "after": 16}
each_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


def test_another_process_that_does_nothing_all_the_while_is_no_contention() -> None:
    assert why_unfit(with_shares(*[None] * 17)) is None


@each_place
@pytest.mark.parametrize(
    ("percent", "unfit"), [(TENANT_PERCENT - 1, False), (TENANT_PERCENT, True)]
)
def test_another_process_that_takes_its_share_of_the_device_is_contention(
    place: int, percent: int, *, unfit: bool
) -> None:
    shares = [percent if number == place else None for number in range(17)]

    assert (why_unfit(with_shares(*shares)) is not None) == unfit


def test_a_process_that_takes_its_share_is_named_with_it() -> None:
    assert why_unfit(with_shares(None, None, 31, None)) == (
        "another process used the device around a session: Xorg (pid 1200, 31 % of the SMs' time)"
    )


def test_our_own_share_under_a_pid_of_the_host_is_no_contention() -> None:
    ours = replace(beside(Tenant(70_001, None, 96)), ours_unlisted=True)

    assert why_unfit(session_of(*[ours] * 17)) is None


def test_another_process_that_comes_is_contention() -> None:
    alone, shared = beside(), beside(Tenant(4711, "train.py"))

    assert why_unfit(session_of(*[alone] * 8, *[shared] * 9)) == (
        "another process came onto the device during a session: train.py (pid 4711)"
    )


def test_another_process_that_leaves_is_contention() -> None:
    shared, alone = beside(DESKTOP), beside()

    assert why_unfit(session_of(*[shared] * 8, *[alone] * 9)) == (
        "another process left the device during a session: Xorg (pid 1200)"
    )


def test_a_reading_without_a_list_says_nothing_of_who_stays() -> None:
    shared, silent = beside(DESKTOP), replace(IDLE, other_processes=None)

    assert why_unfit(session_of(shared, silent, silent, shared)) is None


# ---- throttling ------------------------------------------------------------------------------

HOT = replace(LOADED, clocks_event_reasons=("sw_thermal_slowdown",), temperature_c=88, sm_mhz=1410)


@each_place
def test_lowered_clocks_are_named_with_the_reading(place: int) -> None:
    readings = [HOT if number == place else LOADED for number in range(17)]

    assert why_unfit(session_of(*readings)) == (
        "the clocks were lowered: sw_thermal_slowdown at 88 C, SM clock 1410 of 1980 MHz"
    )


def test_lowered_clocks_are_named_though_nothing_else_is_told() -> None:
    state = DeviceState(clocks_event_reasons=("hw_slowdown", "hw_thermal_slowdown"))

    assert why_unfit(session(after=state)) == (
        "the clocks were lowered: hw_slowdown, hw_thermal_slowdown"
    )


@pytest.mark.parametrize("reason", ["gpu_idle", "sw_power_cap", "0x200"])
def test_idle_clocks_a_power_cap_and_bits_without_a_name_are_no_throttling(reason: str) -> None:
    state = replace(LOADED, clocks_event_reasons=(reason,))

    assert why_unfit(session(during=[state] * 15)) is None


# ---- clocks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clocks", "path"),
    [
        ((1980,) * 7 + (1188,) * 8, "fell from 1980 to 1188"),
        ((1188,) * 8 + (1980,) * 7, "rose from 1188 to 1980"),
        ((1980,) * 5 + (1188,) * 5 + (1980,) * 5, "fell from 1980 to 1188"),
        ((1980, 1188), "fell from 1980 to 1188"),
    ],
    ids=["second half", "first half", "in between", "two readings"],
)
def test_blocks_at_another_clock_than_others_are_named_with_both_clocks(
    clocks: Sequence[int], path: str
) -> None:
    assert why_unfit(session(during=at_clocks(*clocks))) == (
        f"the SM clock {path} MHz during a session"
    )


@pytest.mark.parametrize(("last", "unfit"), [(1900, False), (1899, True)])
def test_a_clock_may_move_by_a_twentieth(last: int, *, unfit: bool) -> None:
    reason = why_unfit(session(during=at_clocks(*[2000] * 10, *[last] * 5)))

    assert (reason is not None) == unfit


def test_one_short_downclock_is_no_drift() -> None:
    assert why_unfit(session(during=at_clocks(*[1980] * 7, 1188, *[1980] * 7))) is None


def test_the_idle_clock_before_the_first_launch_does_not_count() -> None:
    assert why_unfit(session(before=replace(IDLE, sm_mhz=345))) is None


def test_blocks_whose_clock_is_unknown_are_left_out() -> None:
    assert why_unfit(session(during=at_clocks(None, *[1980] * 7, None))) is None


def test_a_memory_clock_that_moves_is_named_too() -> None:
    slow = replace(LOADED, memory_mhz=2619)

    assert why_unfit(session(during=[LOADED] * 8 + [slow] * 7)) == (
        "the memory clock fell from 3201 to 2619 MHz during a session"
    )


# ---- power -----------------------------------------------------------------------------------

CAPPED = replace(IDLE, power_limit_mw=500_000)


def test_a_power_limit_below_the_devices_own_default_is_named_with_the_remedy() -> None:
    assert why_unfit(session(before=CAPPED)) == (
        "the power limit is 500 W, below the device's default of 700 W; raise it "
        "(nvidia-smi -pl 700), or, if the device is meant to be capped: --rmsperf-power-limit=500"
    )


@pytest.mark.parametrize(("meant_mw", "unfit"), [(500_000, False), (500_001, True)])
def test_a_device_meant_to_be_capped_is_fit_at_that_limit(meant_mw: int, *, unfit: bool) -> None:
    reason = why_unfit(session(before=CAPPED, after=None), power_limit_mw=meant_mw)

    assert (reason is not None) == unfit


def test_a_limit_below_the_one_that_was_asked_for_is_named_with_the_option() -> None:
    state = replace(IDLE, power_limit_mw=449_500)

    reason = why_unfit(session(before=state), power_limit_mw=600_000)

    assert reason is not None
    assert reason.startswith("the power limit is 449.5 W, below --rmsperf-power-limit of 600 W; ")
    assert reason.endswith("--rmsperf-power-limit=449.5")


def test_a_power_limit_above_the_default_is_nobodys_harm() -> None:
    assert why_unfit(session(before=replace(IDLE, default_power_limit_mw=600_000))) is None
