"""Sessions of timing with made-up readings of the device around and during them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rmsperf.checks import SessionResult, TimedSession, Turn
from pytest_rmsperf.environment import DeviceState, Tenant
from pytest_rmsperf.protocol import StopReason
from pytest_rmsperf.samples import Samples

CASE_ID = "softmax/online-graph/16x1024"
TRAIN = Tenant(4711, "train.py", 96)
DESKTOP = Tenant(1200, "Xorg")

# An H200 that nobody else uses, before a session and between its blocks.
IDLE = DeviceState(
    driver="580.159",
    power_limit_mw=700_000,
    default_power_limit_mw=700_000,
    power_mw=90_000,
    sm_mhz=345,
    max_sm_mhz=1980,
    memory_mhz=3201,
    max_memory_mhz=3201,
    temperature_c=31,
    utilization_percent=2,
    clocks_event_reasons=("gpu_idle",),
    used_memory_mib=526,
    other_processes=(),
)
LOADED = DeviceState(
    power_mw=126_000,
    sm_mhz=1980,
    max_sm_mhz=1980,
    memory_mhz=3201,
    temperature_c=34,
    clocks_event_reasons=(),
    other_processes=(),
)
AFTER = replace(IDLE, sm_mhz=1980, power_mw=125_000, temperature_c=36, clocks_event_reasons=())


def session(
    *,
    before: DeviceState | None = IDLE,
    during: Sequence[DeviceState] = (LOADED,) * 15,
    after: DeviceState | None = AFTER,
    device_ns: Sequence[int] = (8000,) * 15,
    unfit: str | None = None,
) -> SessionResult:
    """One session over one case; a healthy one but for what is given."""
    samples = Samples(CASE_ID, 100, tuple(device_ns), (14_000,) * len(device_ns))
    turns = tuple(Turn(0, backwards=bool(number % 2)) for number in range(len(device_ns)))
    timed = TimedSession({CASE_ID: samples}, (CASE_ID,), turns, StopReason.PRECISION, tuple(during))
    return SessionResult(timed, before=before, after=after, unfit=unfit)


def at_clocks(*sm_mhz: int | None) -> tuple[DeviceState, ...]:
    """Readings between blocks at these SM clocks."""
    return tuple(replace(LOADED, sm_mhz=one) for one in sm_mhz)


def session_of(*states: DeviceState) -> SessionResult:
    """One session with these readings: before, during and after it."""
    before, *during, after = states
    return session(before=before, during=during, after=after)
