"""Whether the machine was fit to be measured on, from what NVML said around the sessions.

Pure. A field that NVML did not tell says nothing against the machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rmsperf.checks import SessionResult
from pytest_rmsperf.environment import DeviceState

# Before a session nothing of ours runs; an idle H200 read 1 to 3 % there.
BUSY_PERCENT = 20

# Clocks event reasons that mean the device ran slower than it can. Idle clocks and a power cap
# under load are ordinary, and no reason to refuse.
THROTTLING = frozenset(
    {
        "hw_slowdown",
        "hw_thermal_slowdown",
        "hw_power_brake_slowdown",
        "sw_thermal_slowdown",
    }
)


def why_unfit_in(sessions: Iterable[SessionResult]) -> str | None:
    """Say what makes these sessions unfit to be a baseline or to blame a kernel by, or None."""
    found = list(sessions)
    return why_unfit(
        [one.before for one in found if one.before is not None],
        [one.after for one in found if one.after is not None],
    )


def why_unfit(before: Iterable[DeviceState], after: Iterable[DeviceState]) -> str | None:
    """Say what makes figures of these sessions unfit to be a baseline, or None.

    `before` was read before each session's first launch, `after` behind its last.
    """
    before, after = list(before), list(after)
    busiest = max((one.utilization_percent or 0 for one in before), default=0)
    if busiest >= BUSY_PERCENT:
        return f"the device was {busiest} % busy before a session: something else runs on it"
    for one in (*before, *after):
        reasons = sorted(THROTTLING & set(one.clocks_event_reasons or ()))
        if reasons:
            return f"the clocks were lowered: {', '.join(reasons)} at {one.temperature_c} C"
        limit, default = one.power_limit_mw, one.default_power_limit_mw
        if limit is not None and default is not None and limit < default:
            return f"the power limit is {limit} mW, below the device's default of {default} mW"
    return None
