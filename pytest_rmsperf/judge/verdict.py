"""The judge: two measurements and thresholds in; a verdict with its reason out.

Pure: no files, no printing, no device. A change is current / baseline - 1; positive is slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from pytest_rmsperf.judge.comparability import incomparable, incomparable_builds
from pytest_rmsperf.judge.evidence import (
    WITHIN,
    Paired,
    Unpaired,
    Weighed,
    confirming_sessions,
    weigh,
)
from pytest_rmsperf.judge.policy import COMPARED, Status
from pytest_rmsperf.judge.thresholds import Thresholds
from pytest_rmsperf.judge.validity import impossible_figures, slower_clock
from pytest_rmsperf.measurement import Measurement, SessionFigures, middle

DEVICE_TIME = "device time"
HOST_COMPLETION = "host completion"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of one case, and what it looked at.

    `current` holds the sessions of all rounds, of which the last `confirming` were measured to
    confirm the first; these alone where they cleared what the first had said. `figure` is the one
    the verdict rests on. `more_sessions` says how many fresh ones would settle a verdict that is
    not final: it is 0 when there is nothing to settle.
    """

    case_id: str
    status: Status
    reason: str
    current: Measurement | None
    baseline: Measurement | None
    thresholds: Thresholds
    figure: str | None = None
    device: Weighed | None = None
    completion: Weighed | None = None
    confirming: int = 0
    more_sessions: int = 0
    is_paired: bool = False

    @property
    def change(self) -> float | None:
        """The change of device time; None where there are not two of them."""
        return self.device.share if self.device is not None else None

    @property
    def completion_change(self) -> float | None:
        """The change of host completion; None where there are not two of them."""
        return self.completion.share if self.completion is not None else None

    @property
    def cleared(self) -> float | None:
        """The change by which the first round raised an alarm that the second did not bear out."""
        if not self.confirming or self.status not in (Status.UNCHANGED, Status.INCONCLUSIVE):
            return None
        found = (one for one in (self.device, self.completion) if one is not None)
        return next((one.first for one in found if abs(one.first) > one.limit), None)

    @property
    def is_compared(self) -> bool:
        return self.status in COMPARED


@dataclass(frozen=True, slots=True)
class Round:
    """One case in one round of sessions.

    `pairs` holds, for the paired mode, each session's change of device time and of host completion
    as shares. `unfit` says what was wrong with the machine in one of the sessions, if anything was.
    """

    measurement: Measurement
    pairs: tuple[tuple[float, float], ...] = ()
    unfit: str | None = None


def share(before: int | None, after: int | None) -> float | None:
    """Return after / before - 1, or None when either is unknown."""
    return after / before - 1 if before and after is not None else None


def judge(
    case_id: str,
    rounds: Sequence[Round],
    baseline: Measurement | None,
    thresholds: Thresholds,
) -> Verdict:
    """Judge against stored figures, by one round of sessions or by two.

    Climbs a ladder and stops at the first rung that answers: samples, comparability, validity, a
    baseline at all, evidence. The case's noise floor, where it is known, raises its thresholds.
    """
    if baseline is not None and baseline.noise is not None:
        noise = baseline.noise
        thresholds = thresholds.at_least(
            noise.device_floor_ppm / 1e6, noise.completion_floor_ppm / 1e6
        )
    verdict = Verdict(case_id, Status.INVALID, "no samples", together(rounds), baseline, thresholds)
    return _climb(verdict, rounds, missing="no baseline")


def judge_paired(
    case_id: str,
    rounds: Sequence[Round],
    other: Measurement | None,
    thresholds: Thresholds,
    *,
    missing: str,
) -> Verdict:
    """Judge against another build that took turns in the same processes.

    `other` is None where there is no such build; `missing` then says why.
    """
    verdict = Verdict(
        case_id,
        Status.INVALID,
        "no samples",
        together(rounds),
        other,
        thresholds,
        is_paired=True,
    )
    return _climb(verdict, rounds, missing=missing)


def together(rounds: Sequence[Round]) -> Measurement | None:
    """Return one measurement with the sessions of all rounds; None of no round."""
    if not rounds:
        return None
    first = rounds[0].measurement
    sessions = tuple(session for one in rounds for session in one.measurement.sessions)
    conditions = tuple(session for one in rounds for session in one.measurement.run.conditions)
    return replace(first, sessions=sessions, run=replace(first.run, conditions=conditions))


def _climb(verdict: Verdict, rounds: Sequence[Round], *, missing: str) -> Verdict:
    """Return the answer of the first rung; a verdict starts as invalid for want of samples."""
    current, baseline = verdict.current, verdict.baseline
    if current is None or not current.sessions:
        return verdict
    if baseline is not None and verdict.is_paired and not baseline.sessions:
        return replace(verdict, reason="no samples of the other build")
    if baseline is not None:
        differs = incomparable_builds if verdict.is_paired else incomparable
        difference = differs(current, baseline)
        if difference is not None:
            return replace(verdict, status=Status.INCOMPARABLE, reason=difference)
    invalid = _why_invalid(verdict, rounds, current)
    if invalid is not None:
        return replace(verdict, reason=invalid)
    if baseline is None:
        return replace(verdict, status=Status.MISSING, reason=missing)
    return _on_evidence(verdict, rounds, current, baseline)


def _why_invalid(verdict: Verdict, rounds: Sequence[Round], current: Measurement) -> str | None:
    """Say what makes figures or the machine unfit to be judged, or None."""
    unfit = next((one.unfit for one in rounds if one.unfit), None)
    found = impossible_figures(current) or unfit
    if found is not None or not verdict.is_paired or verdict.baseline is None:
        return found
    other = impossible_figures(verdict.baseline)
    if other is not None:
        return f"of the other build: {other}"
    if not rounds[0].pairs:
        return "no session timed both builds"
    changes = [change for one in rounds for pair in one.pairs for change in pair]
    return None if all(isfinite(one) for one in changes) else "a change that is no number"


def _on_evidence(
    verdict: Verdict, rounds: Sequence[Round], current: Measurement, baseline: Measurement
) -> Verdict:
    device_shift, completion_shift = (
        _pairs(rounds) if verdict.is_paired else _medians(rounds, baseline)
    )
    limits = verdict.thresholds
    device = weigh(device_shift, limits.device.of(baseline.device_ns or 1))
    completion = weigh(completion_shift, limits.completion.of(baseline.completion_ns or 1))
    if not verdict.is_paired and completion.status in (Status.SLOWER, Status.FASTER):
        completion = _unless_host_moved(completion, current, baseline)
    status, figure, reason = _conclude(device, completion)
    clock = slower_clock(current.run.conditions, baseline.run.conditions)
    if status is Status.SLOWER and clock is not None and not verdict.is_paired:
        status, reason = Status.INVALID, f"slower {figure}, but the {clock}"
    wanted = (
        confirming_sessions(shift) or 0
        for shift, weighed in ((device_shift, device), (completion_shift, completion))
        if weighed.wants_confirmation
    )
    second = rounds[1].measurement if len(rounds) > 1 else None
    by_second = status is Status.UNCHANGED and (device.is_cleared or completion.is_cleared)
    if by_second:
        device, completion = (
            _renumbered(one, device_shift.rounds[0]) for one in (device, completion)
        )
    return replace(
        verdict,
        status=status,
        reason=reason,
        figure=figure,
        device=device,
        completion=completion,
        current=second if by_second else current,
        confirming=len(second.sessions) if second is not None else 0,
        more_sessions=max(wanted, default=0),
    )


def _renumbered(weighed: Weighed, first: int) -> Weighed:
    """Number outlying sessions from the second round on, where only that one is shown."""
    if weighed.is_cleared:
        return weighed
    places = tuple(place - first for place in weighed.outlying if place >= first)
    return replace(weighed, outlying=places)


def _conclude(device: Weighed, completion: Weighed) -> tuple[Status, str | None, str]:
    """Return status, figure and reason: a gain of one figure does not pay for a loss of another."""
    found = ((device, DEVICE_TIME), (completion, HOST_COMPLETION))
    for status in (Status.SLOWER, Status.FASTER, Status.INCONCLUSIVE):
        for weighed, figure in found:
            if weighed.status is status:
                return status, figure, f"{figure}: {weighed.why}" if weighed.why else figure
    noted = next((one.why for one, _ in found if one.why != WITHIN), WITHIN)
    return Status.UNCHANGED, None, noted


def _medians(rounds: Sequence[Round], baseline: Measurement) -> tuple[Unpaired, Unpaired]:
    measured = [one.measurement for one in rounds]
    return (
        Unpaired(baseline.device_medians, *(one.device_medians for one in measured)),
        Unpaired(baseline.completion_medians, *(one.completion_medians for one in measured)),
    )


def _pairs(rounds: Sequence[Round]) -> tuple[Paired, Paired]:
    device, completion = (
        [tuple(pair[figure] for pair in one.pairs) for one in rounds] for figure in (0, 1)
    )
    return Paired(*device), Paired(*completion)


def _unless_host_moved(weighed: Weighed, current: Measurement, baseline: Measurement) -> Weighed:
    """Doubt a change of host completion that the null kernel explains by at least half."""
    change = (current.completion_ns or 0) - (baseline.completion_ns or 0)
    null_before, null_after = null_completion(baseline.sessions), null_completion(current.sessions)
    if null_before is None or null_after is None:
        return weighed
    null_change = null_after - null_before
    if (null_change > 0) is not (change > 0) or abs(null_change) < abs(change) / 2:
        return weighed
    why = "it moved, and the null kernel's with it"
    return replace(weighed, status=Status.INCONCLUSIVE, why=why, wants_confirmation=False)


def null_completion(sessions: Sequence[SessionFigures]) -> int | None:
    """Return the median over sessions of the null kernel's host completion in ns."""
    return middle([one.null.completion_ns for one in sessions if one.null is not None])
