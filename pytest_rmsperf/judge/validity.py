"""Figures that no working clock and kernel can give, and a clock that explains slower ones."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rmsperf.measurement import Conditions, Measurement, SessionFigures, middle

# A kernel that moves the same bytes cannot take less than this share of the copy's time.
LEAST_SHARE_OF_COPY = 0.5
# Nor less than this share of the time of one that does nothing.
LEAST_SHARE_OF_NULL = 0.5
# A clock lower by this share explains more than any threshold lets pass.
SLOWER_CLOCK_SHARE = 0.03


def impossible_figures(current: Measurement) -> str | None:
    """Name the first figure that no working clock and kernel can give, or None."""
    found = (_impossible_in(session) for session in current.sessions)
    return next((text for text in found if text is not None), None)


def slower_clock(current: Sequence[Conditions], baseline: Sequence[Conditions]) -> str | None:
    """Say that the SM clock is lower than the baseline's, in the median over sessions, or None.

    Whatever is slower then may owe it to the clock. Where either clock is unknown nothing is said.
    """
    now, before = _median_clock(current), _median_clock(baseline)
    if now is None or before is None or before - now < SLOWER_CLOCK_SHARE * before:
        return None
    return f"SM clock {before} -> {now} MHz"


def _median_clock(sessions: Sequence[Conditions]) -> int | None:
    return middle([one.median_sm_mhz for one in sessions if one.median_sm_mhz is not None])


def _impossible_in(session: SessionFigures) -> str | None:
    if session.device is None:
        return "no device time"
    if session.device.q1_ns <= 0:
        return f"device time of {session.device.q1_ns} ns"
    if session.completion.q1_ns <= 0:
        return f"host completion of {session.completion.q1_ns} ns"
    return _implausibly_fast(session, session.device.median_ns)


def _implausibly_fast(session: SessionFigures, device_ns: int) -> str | None:
    null, copy = session.null, session.copy
    if null is not None and device_ns < LEAST_SHARE_OF_NULL * null.device_ns:
        return (
            f"implausibly fast: device time {device_ns} ns, but a kernel that "
            f"does nothing takes {null.device_ns} ns; is the work on another stream?"
        )
    if copy is not None and device_ns < LEAST_SHARE_OF_COPY * copy.device_ns:
        return (
            f"implausibly fast: device time {device_ns} ns, but a copy of the same bytes takes "
            f"{copy.device_ns} ns; does the kernel do its work on every launch?"
        )
    return None
