"""Whether the machine was fit: each reason alone, and silence about what is unknown."""

from __future__ import annotations

import pytest

from pytest_rmsperf.environment import DeviceState
from pytest_rmsperf.health import why_unfit

FIT = DeviceState(
    utilization_percent=3,
    clocks_event_reasons=("gpu_idle", "sw_power_cap"),
    power_limit_mw=700_000,
    default_power_limit_mw=700_000,
    temperature_c=40,
)
HOT = DeviceState(clocks_event_reasons=("sw_thermal_slowdown",), temperature_c=88)
CAPPED = DeviceState(power_limit_mw=500_000, default_power_limit_mw=700_000)


def test_an_idle_cool_device_at_its_default_power_limit_is_fit() -> None:
    assert why_unfit([FIT], [FIT]) is None


def test_what_nvml_does_not_tell_says_nothing_against_the_machine() -> None:
    assert why_unfit([DeviceState()], [DeviceState()]) is None


@pytest.mark.parametrize(("percent", "unfit"), [(19, False), (20, True)])
def test_a_device_busy_before_a_session_is_unfit(percent: int, *, unfit: bool) -> None:
    reason = why_unfit([FIT, DeviceState(utilization_percent=percent)], [])

    assert (reason is not None) == unfit


def test_a_device_busy_after_a_session_was_busy_with_us() -> None:
    assert why_unfit([FIT], [DeviceState(utilization_percent=100)]) is None


@pytest.mark.parametrize(("before", "after"), [(HOT, FIT), (FIT, HOT)])
def test_lowered_clocks_are_named_with_the_temperature(
    before: DeviceState, after: DeviceState
) -> None:
    assert why_unfit([before], [after]) == ("the clocks were lowered: sw_thermal_slowdown at 88 C")


def test_a_power_limit_below_the_default_is_named_with_both() -> None:
    assert why_unfit([CAPPED], []) == (
        "the power limit is 500000 mW, below the device's default of 700000 mW"
    )
