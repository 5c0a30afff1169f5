"""The judge: a stored measurement, a new one and thresholds in; a verdict with its reason out.

Pure: no files, no printing, no device. A change is current / baseline - 1; positive is slower.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol as Interface

from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.measurement import Measurement, SessionFigures, middle


class Status(str, Enum):
    """All possible answers; doubt is one of them."""

    UNCHANGED = "unchanged"
    FASTER = "faster"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"
    MISSING = "missing"  # no baseline for this case on this device
    INCOMPARABLE = "incomparable"  # measured on another device, or in another way
    INVALID = "invalid"  # no samples, or impossible ones


# One table from verdict to outcome. Inconclusive passes and is counted, for a gate that fails on
# doubt is switched off; a missing baseline fails, for a gate that compares nothing must not pass.
FAILING = frozenset({Status.SLOWER, Status.MISSING, Status.INCOMPARABLE, Status.INVALID})
COMPARED = frozenset({Status.UNCHANGED, Status.FASTER, Status.SLOWER, Status.INCONCLUSIVE})

# Total memory of one part differs by a little between drivers and with ECC.
SAME_MEMORY = 0.03


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The smallest change that counts, as a share of the baseline and as a floor in ns.

    Device time: medians of three processes against three others needed 0.72 % for no false alarm
    on an H200. Host completion moved by 7 to 14 % between processes there.
    """

    device_share: float = 0.03
    device_floor_ns: int = 50
    completion_share: float = 0.25
    completion_floor_ns: int = 1000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of one case, and what it looked at."""

    case_id: str
    status: Status
    reason: str
    current: Measurement | None
    baseline: Measurement | None
    thresholds: Thresholds

    @property
    def fails(self) -> bool:
        return self.status in FAILING

    @property
    def change(self) -> float | None:
        """The change of device time; None where there are not two of them."""
        return _change(self, lambda one: one.device_ns)

    @property
    def completion_change(self) -> float | None:
        """The change of host completion; None where there are not two of them."""
        return _change(self, lambda one: one.completion_ns)


class Figure(Interface):
    """Reads one figure of a measurement in ns."""

    def __call__(self, measurement: Measurement, /) -> int | None: ...


def _change(verdict: Verdict, figure: Figure) -> float | None:
    if verdict.status not in COMPARED or verdict.current is None or verdict.baseline is None:
        return None
    return share(figure(verdict.baseline), figure(verdict.current))


def share(before: int | None, after: int | None) -> float | None:
    """Return after / before - 1, or None when either is unknown."""
    return after / before - 1 if before and after is not None else None


def judge(
    case_id: str,
    current: Measurement | None,
    baseline: Measurement | None,
    thresholds: Thresholds,
    *,
    unfit: str | None = None,
) -> Verdict:
    """Climb the ladder: samples, baseline, comparability, evidence; stop at the first rung.

    `unfit` says what was wrong with the machine, if anything: it is never called `slower` then.
    """
    status, reason = _climb(current, baseline, thresholds)
    if unfit is not None and status is Status.SLOWER:
        status, reason = Status.INVALID, f"slower {reason}, but {unfit}"
    return Verdict(case_id, status, reason, current, baseline, thresholds)


def _climb(
    current: Measurement | None, baseline: Measurement | None, thresholds: Thresholds
) -> tuple[Status, str]:
    if current is None or not current.sessions:
        return Status.INVALID, "no samples"
    impossible = _impossible(current)
    if impossible is not None:
        return Status.INVALID, impossible
    if baseline is None:
        return Status.MISSING, "no baseline"
    difference = incomparable(current, baseline)
    if difference is not None:
        return Status.INCOMPARABLE, difference
    return _evidence(current, baseline, thresholds)


def _impossible(current: Measurement) -> str | None:
    """Name the first figure that no working clock and kernel can give."""
    found = (_impossible_in(session) for session in current.sessions)
    return next((text for text in found if text is not None), None)


def _impossible_in(session: SessionFigures) -> str | None:
    if session.device is None:
        return "no device time"
    if session.device.q1_ns <= 0:
        return f"device time of {session.device.q1_ns} ns"
    if session.completion.q1_ns <= 0:
        return f"host completion of {session.completion.q1_ns} ns"
    null = session.null
    if null is not None and session.device.median_ns < null.device_ns // 2:
        return (
            f"implausibly fast: device time {session.device.median_ns} ns, but a kernel that "
            f"does nothing takes {null.device_ns} ns; is the work on another stream?"
        )
    return None


def same_device(one: DeviceIdentity, other: DeviceIdentity) -> bool:
    """Compare stable facts only; memory to within what drivers and ECC change."""
    larger, smaller = sorted((one.memory_mib, other.memory_mib), reverse=True)
    return (
        (one.name, one.sms, one.compute_capability)
        == (other.name, other.sms, other.compute_capability)
    ) and larger - smaller <= SAME_MEMORY * larger


def incomparable(current: Measurement, baseline: Measurement) -> str | None:
    """Say what makes two measurements incomparable, or None."""
    mine, theirs = current.run, baseline.run
    if theirs.source != "measured":
        return f"the baseline's figures are {theirs.source}, not measured by this protocol"
    if not same_device(mine.device, theirs.device):
        return f"other device: {_part(theirs.device)} -> {_part(mine.device)}"
    settings = mine.protocol.differs_from(theirs.protocol)
    if settings is not None:
        return f"other protocol: {settings}"
    return _other_code(current, baseline)


def _other_code(current: Measurement, baseline: Measurement) -> str | None:
    """Say what else than the source went into the machine code or its inputs, if it differs."""
    if current.inputs != baseline.inputs:
        return f"other inputs: {baseline.inputs} -> {current.inputs}"
    if current.flags != baseline.flags:
        return f"other compiler flags: {_words(baseline.flags)} -> {_words(current.flags)}"
    before, after = dict(baseline.run.compiler), dict(current.run.compiler)
    changed = sorted(key for key in before | after if before.get(key) != after.get(key))
    if changed:
        key = changed[0]
        return f"other compiler: {key} {before.get(key, 'none')} -> {after.get(key, 'none')}"
    return None


def _part(device: DeviceIdentity) -> str:
    return f"{device.name} ({device.sms} SMs, {device.memory_mib} MiB)"


def _words(flags: tuple[str, ...]) -> str:
    return " ".join(flags) or "none"


def _evidence(
    current: Measurement, baseline: Measurement, thresholds: Thresholds
) -> tuple[Status, str]:
    device = _direction(
        [s.device.median_ns for s in baseline.sessions if s.device],
        [s.device.median_ns for s in current.sessions if s.device],
        thresholds.device_share,
        thresholds.device_floor_ns,
    )
    host = _direction(
        [s.completion.median_ns for s in baseline.sessions],
        [s.completion.median_ns for s in current.sessions],
        thresholds.completion_share,
        thresholds.completion_floor_ns,
    )
    moved = host in (Status.SLOWER, Status.FASTER) and _host_moved(current, baseline, thresholds)
    found = [(device, "device time"), (Status.INCONCLUSIVE if moved else host, "host completion")]
    # A gain of one figure does not pay for a loss of the other.
    for status in (Status.SLOWER, Status.FASTER):
        for one, figure in found:
            if one is status:
                return one, figure
    if moved:
        return Status.INCONCLUSIVE, "host completion moved, and the null kernel's with it"
    if Status.INCONCLUSIVE in (device, host):
        return Status.INCONCLUSIVE, "beyond the threshold, but the sessions overlap"
    return Status.UNCHANGED, "within the threshold"


def _direction(before: list[int], after: list[int], least_share: float, floor_ns: int) -> Status:
    """Compare session medians: the change must count, and no session may contradict it."""
    old, new = middle(before), middle(after)
    if old is None or new is None:
        return Status.INCONCLUSIVE
    if abs(new - old) <= max(floor_ns, least_share * old):
        return Status.UNCHANGED
    if min(after) > max(before):
        return Status.SLOWER
    if max(after) < min(before):
        return Status.FASTER
    return Status.INCONCLUSIVE


def _host_moved(current: Measurement, baseline: Measurement, thresholds: Thresholds) -> bool:
    """Say whether the null kernel's completion accounts for at least half of the case's change."""
    change = (current.completion_ns or 0) - (baseline.completion_ns or 0)
    null_before, null_after = null_completion(baseline.sessions), null_completion(current.sessions)
    if null_before is None or null_after is None:
        return False
    null_change = null_after - null_before
    if (null_change > 0) != (change > 0):
        return False
    return abs(null_change) >= max(thresholds.completion_floor_ns, abs(change) // 2)


def null_completion(sessions: tuple[SessionFigures, ...]) -> int | None:
    """Return the median over sessions of the null kernel's host completion in ns."""
    return middle([one.null.completion_ns for one in sessions if one.null is not None])
