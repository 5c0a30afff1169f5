"""Whether the machine was fit to be measured on, from what NVML said around and during a session.

Pure. A field that NVML did not tell says nothing against the machine, except where a baseline is to
be stored. Clocks need not be locked: what counts is that they stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pytest_rmsperf.checks import SessionResult
from pytest_rmsperf.environment import DeviceState, Tenant
from pytest_rmsperf.judge.host import slow_replay
from pytest_rmsperf.measurement import Conditions, middle
from pytest_rmsperf.samples import Samples

# Before a session nothing of ours runs; an idle H200 read 0 to 3 % there.
BUSY_PERCENT = 20
# Contention only adds time: from here on another process could add a twentieth to any figure.
TENANT_PERCENT = 5
MOST_NAMED = 3

# Clocks event reasons that mean the device ran slower than it can. Idle clocks and a power cap
# under load are ordinary, and no reason to refuse; nor is a bit that nobody knows the meaning of.
THROTTLING = frozenset(
    {
        "hw_slowdown",
        "hw_thermal_slowdown",
        "hw_power_brake_slowdown",
        "sw_thermal_slowdown",
    }
)
# Device time follows the clock, and a change of this size is far above any threshold.
CLOCK_SHARE = 0.05

# A trend of fewer blocks is too likely by chance: five in a row rise or fall once in 60 times.
DRIFT_BLOCKS = 6
DRIFT_SHARE = 0.05
DRIFT_CHANCE = 0.01

# A part may never reach its highest clock; one this far below it is in another state than usual.
STORED_CLOCK_SHARE = 0.75
EXPLAINED = "sw_power_cap"


def why_unfit(session: SessionResult, *, power_limit_mw: int | None = None) -> str | None:
    """Say what makes a session unfit to be judged or stored, or None.

    `power_limit_mw` is the limit that the device is meant to have; None: its own default.
    """
    return (
        _busy(session.before)
        or _shared(session.states)
        or _came_or_left(session.states)
        or _throttled(session.states)
        or _clock_moved(session.timed.during)
        or _capped(session.states, power_limit_mw)
    )


def drifting(session: SessionResult) -> dict[str, str]:
    """Say of each case whose device time moved in one direction all through the session how much.

    A trend is one that Kendall's rank correlation of scipy finds with a chance below DRIFT_CHANCE,
    and by which the last third of the blocks differs from the first by more than DRIFT_SHARE.
    """
    found = {case_id: _drift(samples) for case_id, samples in session.samples.items()}
    return {case_id: text for case_id, text in found.items() if text is not None}


def conditions_of(session: SessionResult) -> Conditions:
    """Reduce a session's readings of the device to what a baseline keeps.

    The clocks are those between the blocks: the clock before the first launch is an idle one.
    """
    timed = session.timed
    loaded = (*timed.during, *(one for one in (session.after,) if one is not None))
    sm_mhz = _told(one.sm_mhz for one in timed.during)
    reasons = [one.clocks_event_reasons for one in loaded if one.clocks_event_reasons is not None]
    return Conditions(
        blocks=len(timed.turns),
        stop_reason=timed.stop_reason,
        least_sm_mhz=min(sm_mhz, default=None),
        median_sm_mhz=middle(sm_mhz),
        most_sm_mhz=max(sm_mhz, default=None),
        max_sm_mhz=max(_told(one.max_sm_mhz for one in session.states), default=None),
        memory_mhz=middle(_told(one.memory_mhz for one in timed.during)),
        most_power_mw=max(_told(one.power_mw for one in loaded), default=None),
        most_temperature_c=max(_told(one.temperature_c for one in loaded), default=None),
        clocks_event_reasons=tuple(sorted({one for some in reasons for one in some}))
        if reasons
        else None,
    )


def why_unfit_to_store(sessions: Sequence[SessionResult]) -> str | None:
    """Say what makes sessions unfit to become a baseline, or None: stricter than `why_unfit`.

    A figure is compared with once, and a baseline many times. So no other process at all may be on
    the device, and what is needed to trust the figures must be known: the driver, whether anything
    else ran, and clocks that are near the highest, locked, or held by the device's own power limit.
    That last is how some parts always run under load, and a limit below the default is refused
    anyway. And the host must replay a graph as fast as it launches a kernel.
    """
    if not sessions:
        return "nothing was measured"
    checks = (_unfit, _unknown, _inhabited, _slow_clocks, slow_replay)
    found = (check(session) for session in sessions for check in checks)
    return next((text for text in found if text is not None), None)


# ---- contention ------------------------------------------------------------------------------


def _busy(before: DeviceState | None) -> str | None:
    percent = before.utilization_percent if before is not None else None
    if before is None or percent is None or percent < BUSY_PERCENT:
        return None
    return f"the device was {percent} % busy before a session: {_suspects(before)}"


def _shared(states: Iterable[DeviceState]) -> str | None:
    for state in states:
        for one in _strangers(state):
            if (one.sm_percent or 0) >= TENANT_PERCENT:
                return f"another process used the device around a session: {one}"
    return None


def _came_or_left(states: Iterable[DeviceState]) -> str | None:
    lists = [one.other_processes for one in states if one.other_processes is not None]
    for earlier, later in pairwise(lists):
        known, still = ({one.pid for one in some} for some in (earlier, later))
        for one in later:
            if one.pid not in known:
                return f"another process came onto the device during a session: {one}"
        for one in earlier:
            if one.pid not in still:
                return f"another process left the device during a session: {one}"
    return None


def _strangers(state: DeviceState) -> tuple[Tenant, ...]:
    """Return the processes that are certainly none of ours."""
    return () if state.ours_unlisted else state.other_processes or ()


def _suspects(state: DeviceState) -> str:
    """Name what may have kept the device busy; the list alone proves nothing."""
    if not state.has_strangers:
        return "no other process is listed, so the one at work is hidden from this one"
    listed = state.other_processes or ()
    doubt = ", one of which may be our own" if state.ours_unlisted else ""
    busiest = sorted(listed, key=lambda one: one.sm_percent or 0, reverse=True)
    more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
    return ", ".join(str(one) for one in busiest[:MOST_NAMED]) + more + doubt


# ---- clocks and power ------------------------------------------------------------------------


def _throttled(states: Iterable[DeviceState]) -> str | None:
    for one in states:
        reasons = sorted(THROTTLING & set(one.clocks_event_reasons or ()))
        if reasons:
            return f"the clocks were lowered: {', '.join(reasons)}{_reading(one)}"
    return None


def _reading(state: DeviceState) -> str:
    degrees = "" if state.temperature_c is None else f" at {state.temperature_c} C"
    if state.sm_mhz is None:
        return degrees
    highest = "" if state.max_sm_mhz is None else f" of {state.max_sm_mhz}"
    return f"{degrees}, SM clock {state.sm_mhz}{highest} MHz"


def _clock_moved(during: Sequence[DeviceState]) -> str | None:
    clocks = {
        "SM": _told(one.sm_mhz for one in during),
        "memory": _told(one.memory_mhz for one in during),
    }
    for name, readings in clocks.items():
        course = _thirds(readings)
        most, least = max(course, default=0), min(course, default=0)
        if most - least > CLOCK_SHARE * most:
            falls = course.index(most) < course.index(least)
            path = f"fell from {most} to {least}" if falls else f"rose from {least} to {most}"
            return f"the {name} clock {path} MHz during a session"
    return None


def _thirds(values: Sequence[int]) -> list[int]:
    """Return the medians of the first, the second and the last third, so that one value is none."""
    size = max(1, len(values) // 3)
    parts = (values[:size], values[size:-size], values[-size:])
    return [found for part in parts if (found := middle(part)) is not None]


def _capped(states: Iterable[DeviceState], meant_mw: int | None) -> str | None:
    for one in states:
        limit, wanted = one.power_limit_mw, meant_mw or one.default_power_limit_mw
        if limit is not None and wanted is not None and limit < wanted:
            whose = "the device's default" if meant_mw is None else "--rmsperf-power-limit"
            return (
                f"the power limit is {_watts(limit)} W, below {whose} of {_watts(wanted)} W; "
                f"raise it (nvidia-smi -pl {_watts(wanted)}), or, if the device is meant to be "
                f"capped: --rmsperf-power-limit={_watts(limit)}"
            )
    return None


def _watts(milliwatts: int) -> str:
    return f"{milliwatts / 1000:.3f}".rstrip("0").rstrip(".")


# ---- drift -----------------------------------------------------------------------------------


def _drift(samples: Samples) -> str | None:
    """Compare the thirds first: a suite has many cases, and scipy need not be loaded for most."""
    blocks = samples.device_ns
    if len(blocks) < DRIFT_BLOCKS:
        return None
    first, *_, last = _thirds(blocks)
    if first <= 0 or abs(last - first) <= DRIFT_SHARE * first:
        return None
    from scipy.stats import kendalltau

    if float(kendalltau(range(len(blocks)), blocks).pvalue) >= DRIFT_CHANCE:
        return None
    verb = "rose" if last > first else "fell"
    return (
        f"figures drift: device time {verb} by {100 * abs(last / first - 1):.0f} % from the first "
        f"to the last third of {len(blocks)} blocks"
    )


# ---- storing ---------------------------------------------------------------------------------


def _unfit(session: SessionResult) -> str | None:
    return session.unfit


def _unknown(session: SessionResult) -> str | None:
    if all(one.driver is None for one in session.states):
        return f"the driver is unknown{_because(session, 'driver')}"
    before = session.before or DeviceState()
    if before.utilization_percent is None and before.other_processes is None:
        fields = ("utilization_percent", "other_processes")
        return f"whether the device was idle is unknown{_because(session, *fields)}"
    return None


def _because(session: SessionResult, *fields: str) -> str:
    notes = {
        note for one in session.states for note in one.notes if note.startswith(("every", *fields))
    }
    return f": NVML does not tell ({'; '.join(sorted(notes))})" if notes else ": nobody asked NVML"


def _inhabited(session: SessionResult) -> str | None:
    for one in session.states:
        if one.has_strangers:
            return f"another process is on the device: {_suspects(one)}"
    return None


def _slow_clocks(session: SessionResult) -> str | None:
    found = conditions_of(session)
    memory_mhz = max(_told(one.max_memory_mhz for one in session.states), default=None)
    clocks = [("memory", found.memory_mhz, memory_mhz)]
    if found.locked_sm_mhz is None and EXPLAINED not in (found.clocks_event_reasons or ()):
        clocks.insert(0, ("SM", found.median_sm_mhz, found.max_sm_mhz))
    for name, clock, highest in clocks:
        if clock is not None and highest is not None and clock < STORED_CLOCK_SHARE * highest:
            return f"{name} clock {clock} MHz of {highest}: far below the highest"
    return None


def _told(values: Iterable[int | None]) -> list[int]:
    return [one for one in values if one is not None]
