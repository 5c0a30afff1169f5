"""The line of clocks: what it says of floating, lowered and locked ones."""

from __future__ import annotations

from dataclasses import replace

from pytest_rmsperf.measurement import Conditions
from pytest_rmsperf.protocol import StopReason
from pytest_rmsperf.report.conditions import clocks_line

QUIET = Conditions(
    blocks=15,
    stop_reason=StopReason.BLOCKS,
    least_sm_mhz=1980,
    median_sm_mhz=1980,
    most_sm_mhz=1980,
    max_sm_mhz=1980,
    most_power_mw=183_302,
    most_temperature_c=39,
    clocks_event_reasons=("gpu_idle",),
)
LOCKED = replace(QUIET, least_sm_mhz=1410, median_sm_mhz=1410, most_sm_mhz=1410)


def test_a_device_at_its_highest_clock_is_not_called_locked() -> None:
    assert clocks_line([QUIET]) == "clocks: SM 1980 MHz of 1980, at most 39 C, 183 W"


def test_clocks_of_all_sessions_are_in_the_span() -> None:
    floating = replace(QUIET, least_sm_mhz=1755, most_temperature_c=61)

    assert clocks_line([QUIET, floating]) == (
        "clocks: SM 1755 to 1980 MHz of 1980, at most 61 C, 183 W"
    )


def test_a_clock_that_stands_below_the_highest_is_recognized_as_locked() -> None:
    line = clocks_line([LOCKED, LOCKED])

    assert line == "clocks: SM 1410 MHz of 1980, locked, at most 39 C, 183 W"


def test_a_clock_held_in_one_session_alone_is_not_locked() -> None:
    line = clocks_line([LOCKED, QUIET])

    assert line is not None
    assert "locked" not in line


def test_what_lowered_the_clocks_is_named() -> None:
    capped = replace(LOCKED, clocks_event_reasons=("gpu_idle", "sw_power_cap"))

    line = clocks_line([capped])

    assert line == "clocks: SM 1410 MHz of 1980, at most 39 C, 183 W, lowered by sw_power_cap"


def test_nothing_is_said_where_nvml_does_not_tell() -> None:
    silent = Conditions(blocks=15, stop_reason=StopReason.BLOCKS)

    assert clocks_line([silent, silent]) is None
