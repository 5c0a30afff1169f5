"""Verdicts told to a person: the verdict first, then the evidence, then the remedy."""

from __future__ import annotations

from pytest_rmsperf.measurement import Measurement, Resources, SessionFigures, middle
from pytest_rmsperf.verdict import Status, Verdict, share

UNKNOWN = "-"


def microseconds(nanoseconds: int | None) -> str:
    """Format ns as us with two digits: the one unit of every table and message."""
    return UNKNOWN if nanoseconds is None else f"{nanoseconds / 1000:.2f}"


def percent(change: float | None) -> str:
    """Format a share as a signed percentage."""
    return UNKNOWN if change is None else f"{100 * change:+.1f} %"


def selector(case_id: str) -> str:
    """Return the -k expression that selects a case.

    The whole id, because -k looks for a part of the name: `row-graph/1x4` is also a part of
    `long_row-graph/1x4`.
    """
    return case_id


def verdict_message(verdict: Verdict, *, stored_on: tuple[str, ...] = ()) -> str:
    """Return the whole text of a verdict; `stored_on` names devices that do have a baseline."""
    lines = [headline(verdict)]
    if verdict.baseline is not None:
        lines.append(_evidence("baseline", verdict.baseline))
    if verdict.current is not None and verdict.current.sessions:
        lines.append(_evidence("current ", verdict.current) + _probes(verdict))
    because = _because(verdict)
    if because:
        lines.append(f"  because    {because}")
    if verdict.status is Status.MISSING and stored_on:
        lines.append(f"  stored     only for {', '.join(stored_on)}")
    lines.append(remedy(verdict))
    return "\n".join(lines)


def headline(verdict: Verdict) -> str:
    """Return the first line: the verdict and the figures that led to it."""
    current, baseline = verdict.current, verdict.baseline
    if verdict.status not in (Status.SLOWER, Status.FASTER) or current is None or baseline is None:
        return f"{verdict.status.value}: {verdict.reason}"
    change = verdict.change
    limit = verdict.thresholds.device_share
    if verdict.reason == "host completion":
        change, limit = verdict.completion_change, verdict.thresholds.completion_share
    return (
        f"{verdict.status.value} by {abs(100 * (change or 0)):.1f} % ({verdict.reason}): "
        f"device time {microseconds(baseline.device_ns)} -> {microseconds(current.device_ns)} us, "
        f"host completion {microseconds(baseline.completion_ns)} -> "
        f"{microseconds(current.completion_ns)} us (limit {100 * limit:+.1f} %)"
    )


def _evidence(label: str, measurement: Measurement) -> str:
    medians = [s.device.median_ns for s in measurement.sessions if s.device is not None]
    unit = "device"
    if not medians:
        medians, unit = [s.completion.median_ns for s in measurement.sessions], "host"
    run = measurement.run
    commit = run.provenance.commit or "unknown"
    return (
        f"  {label}   {microseconds(middle(medians))} us "
        f"[{microseconds(min(medians))} .. {microseconds(max(medians))}] {unit}, "
        f"{len(medians)} session{'s' if len(medians) > 1 else ''}, "
        f"{run.provenance.date[:10]}, driver {run.driver or 'unknown'}, commit {commit}"
        f"{' with changes' if run.provenance.dirty else ''}"
    )


def _probes(verdict: Verdict) -> str:
    if verdict.baseline is None or verdict.current is None:
        return ""
    moved = share(_copy(verdict.baseline.sessions), _copy(verdict.current.sessions))
    return "" if moved is None else f"; the copy probe moved by {percent(moved)}"


def _copy(sessions: tuple[SessionFigures, ...]) -> int | None:
    return middle([one.copy.device_ns for one in sessions if one.copy is not None])


def _because(verdict: Verdict) -> str:
    """Say how the compiled kernel differs; nothing where it is not known on both sides."""
    if verdict.baseline is None or verdict.current is None:
        return ""
    before, after = verdict.baseline.resources, verdict.current.resources
    if before is None or after is None or verdict.status is Status.UNCHANGED:
        return ""
    return ", ".join(_differences(before, after)) or "the kernel's resources are the same"


def _differences(before: Resources, after: Resources) -> list[str]:
    words = {
        "registers_per_thread": "registers per thread",
        "static_smem_bytes": "static shared bytes",
        "dynamic_smem_bytes": "dynamic shared bytes",
        "local_bytes": "local bytes",
        "blocks_per_sm": "blocks per SM",
    }
    return [
        f"{text} {getattr(before, name)} -> {getattr(after, name)}"
        for name, text in words.items()
        if getattr(before, name) != getattr(after, name)
    ]


def remedy(verdict: Verdict) -> str:
    """Return what to do about a verdict, as a command."""
    accept = f'pytest --rmsperf-save -k "{selector(verdict.case_id)}"'
    match verdict.status:
        case Status.SLOWER | Status.FASTER:
            return f"accept it with: {accept}"
        case Status.MISSING:
            return f"create it with: {accept}"
        case Status.INCOMPARABLE:
            return f"measure a new baseline with: {accept}"
        case Status.INVALID:
            return "measure again with: pytest --rmsperf --lf"
        case _:
            return "nothing to do"
