"""What is kept of a session's readings, clocks that are held, and a clock lower than it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rmsperf.judge.health import conditions_of
from pytest_rmsperf.judge.validity import slower_clock
from pytest_rmsperf.measurement import Conditions
from pytest_rmsperf.protocol import StopReason
from readings import AFTER, LOADED, at_clocks, session


def at(median_sm_mhz: int | None) -> Conditions:
    return Conditions(15, StopReason.BLOCKS, median_sm_mhz=median_sm_mhz)


# ---- readings --------------------------------------------------------------------------------


def test_a_sessions_clocks_power_heat_and_reasons_are_kept() -> None:
    capped = replace(LOADED, sm_mhz=1755, power_mw=700_100, clocks_event_reasons=("sw_power_cap",))
    after = replace(AFTER, temperature_c=61, clocks_event_reasons=("0x200",))

    found = conditions_of(session(during=[LOADED] * 8 + [capped] * 7, after=after))

    assert found == Conditions(
        blocks=15,
        stop_reason=StopReason.PRECISION,
        least_sm_mhz=1755,
        median_sm_mhz=1980,
        most_sm_mhz=1980,
        max_sm_mhz=1980,
        memory_mhz=3201,
        most_power_mw=700_100,
        most_temperature_c=61,
        clocks_event_reasons=("0x200", "sw_power_cap"),
    )


def test_the_idle_clock_and_its_reason_before_the_first_launch_are_not_kept() -> None:
    found = conditions_of(session())

    assert (found.least_sm_mhz, found.clocks_event_reasons) == (1980, ())


def test_what_nvml_did_not_tell_is_unknown() -> None:
    found = conditions_of(session(before=None, during=[], after=None))

    assert found == Conditions(blocks=15, stop_reason=StopReason.PRECISION)


def test_one_sample_at_a_low_clock_is_seen_in_what_is_kept() -> None:
    found = conditions_of(session(during=at_clocks(1980, 1188, 1980, 1980, 1980)))

    assert (found.least_sm_mhz, found.median_sm_mhz) == (1188, 1980)


# ---- locked clocks ---------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["gpu_idle", "applications_clocks_setting", "sync_boost"])
def test_a_clock_that_stands_still_below_the_highest_is_locked(reason: str) -> None:
    state = replace(LOADED, sm_mhz=1410, clocks_event_reasons=(reason,))

    assert conditions_of(session(during=[state] * 15)).locked_sm_mhz == 1410


@pytest.mark.parametrize(
    "clocks",
    [[1980] * 15, [1410] * 14 + [1425], [1410, None, 1425], [None] * 15],
    ids=["at the highest", "one step apart", "apart between unknown ones", "unknown"],
)
def test_a_clock_at_its_highest_or_on_the_move_or_unknown_is_not_locked(
    clocks: list[int | None],
) -> None:
    assert conditions_of(session(during=at_clocks(*clocks))).locked_sm_mhz is None


def test_a_clock_whose_highest_is_unknown_is_not_called_locked() -> None:
    assert replace(at(1410), least_sm_mhz=1410, most_sm_mhz=1410).locked_sm_mhz is None


@pytest.mark.parametrize("reason", ["sw_power_cap", "sw_thermal_slowdown", "hw_slowdown", "0x200"])
def test_a_clock_that_a_limit_may_hold_down_is_not_locked(reason: str) -> None:
    state = replace(LOADED, sm_mhz=1410, clocks_event_reasons=(reason,))

    assert conditions_of(session(during=[state] * 15)).locked_sm_mhz is None


# ---- against a baseline ----------------------------------------------------------------------


def test_a_clock_lower_than_the_baselines_is_told_with_both() -> None:
    current, baseline = [at(1410), at(1980), at(1410)], [at(1980), at(1980), at(1410)]

    assert slower_clock(current, baseline) == "SM clock 1980 -> 1410 MHz"


@pytest.mark.parametrize(("now", "told"), [(1941, False), (1940, True)])
def test_a_clock_is_lower_from_three_percent_on(now: int, *, told: bool) -> None:
    assert (slower_clock([at(now)], [at(2000)]) is not None) == told


def test_a_higher_clock_is_no_slower_one() -> None:
    assert slower_clock([at(1980)], [at(1410)]) is None


@pytest.mark.parametrize(
    ("current", "baseline"), [([], [at(1980)]), ([at(None)], [at(1980)]), ([at(1410)], [])]
)
def test_an_unknown_clock_is_compared_with_nothing(
    current: list[Conditions], baseline: list[Conditions]
) -> None:
    assert slower_clock(current, baseline) is None
