"""The clocks that a run was measured at, in one line: they are recorded, and never set."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rmsperf.measurement import HARMLESS_REASONS, Conditions


def clocks_line(sessions: Sequence[Conditions]) -> str | None:
    """Say at which clocks, heat and power the sessions ran; None where NVML did not tell.

    A clock that somebody holds below the highest is named as locked, what lowered it otherwise by
    the words of NVML.
    """
    told = [one for one in sessions if one.least_sm_mhz is not None]
    if not told:
        return None
    least = min(one.least_sm_mhz or 0 for one in told)
    most = max(one.most_sm_mhz or 0 for one in told)
    span = f"{most} MHz" if least == most else f"{least} to {most} MHz"
    highest = max(one.max_sm_mhz or 0 for one in told)
    parts = [f"clocks: SM {span}{f' of {highest}' if highest else ''}{_locked(told)}"]
    heat = [one.most_temperature_c for one in told if one.most_temperature_c is not None]
    power = [one.most_power_mw for one in told if one.most_power_mw is not None]
    parts += [f"at most {max(heat)} C"] if heat else []
    parts += [f"{max(power) / 1000:.0f} W"] if power else []
    reasons = {reason for one in told for reason in one.clocks_event_reasons or ()}
    lowered = sorted(reasons - HARMLESS_REASONS)
    parts += [f"lowered by {', '.join(lowered)}"] if lowered else []
    return ", ".join(parts)


def _locked(sessions: Sequence[Conditions]) -> str:
    """Say that all sessions stood at one clock below the highest, if they did."""
    clocks = {one.locked_sm_mhz for one in sessions}
    return ", locked" if None not in clocks and len(clocks) == 1 else ""
