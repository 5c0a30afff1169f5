"""What would become a baseline: how much it loses, and what of the old one lives on in it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_rmsperf.cases import Case
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import DEVICE_TIME, HOST_COMPLETION, Verdict, share
from pytest_rmsperf.measurement import Anchor, Measurement
from pytest_rmsperf.report.messages import microseconds, percent


@dataclass(frozen=True, slots=True)
class Candidate:
    """A measurement that might become the baseline of its case.

    `measured` holds the sessions of all rounds, and `verdict` is the one on them against the
    baseline that is stored now. `unfit` says what was wrong with the samples of this case alone, if
    anything was.
    """

    case: Case
    measured: Measurement
    verdict: Verdict
    unfit: str | None = None

    @property
    def measurement(self) -> Measurement:
        """What would be stored: all sessions, or those of the second round if it cleared the first.

        A first round that was not borne out must not pull the figure to its side.
        """
        whole, count = self.measured, self.verdict.confirming
        figures = (self.verdict.device, self.verdict.completion)
        if not count or not any(one is not None and one.is_cleared for one in figures):
            return whole
        run = replace(whole.run, conditions=whole.run.conditions[-count:])
        return replace(whole, sessions=whole.sessions[-count:], run=run)


@dataclass(frozen=True, slots=True)
class Rules:
    """What this run may store.

    `named` are the ids of the cases that the command line names; `not_passed` counts the tests of
    this run that did not pass.
    """

    accept_slower: bool
    accept_dirty: bool
    named: frozenset[str]
    not_passed: int


@dataclass(frozen=True, slots=True)
class Loss:
    """By how much a case is slower than what was accepted before; `since` where in small steps."""

    case_id: str
    figure: str
    before_ns: int
    after_ns: int
    since: str | None = None

    def __str__(self) -> str:
        figure = "" if self.figure == DEVICE_TIME else f"{self.figure} "
        steps = f" in small steps since {self.since}" if self.since else ""
        return (
            f"{self.case_id} {figure}{microseconds(self.before_ns)} -> "
            f"{microseconds(self.after_ns)} us ({percent(self.after_ns / self.before_ns - 1)})"
            f"{steps}"
        )


def is_unrepeated_gain(candidate: Candidate) -> bool:
    """Say whether a case got faster in one round of sessions only.

    A baseline that is too fast makes every later run red, so a gain has to be seen twice.
    """
    verdict = candidate.verdict
    return verdict.status is Status.FASTER and not verdict.confirming


def loss_of(candidate: Candidate) -> Loss | None:
    """Return how much slower a case is than its baseline, or than its anchor, if it is.

    Against the anchor the verdict's thresholds decide: many changes, each within its threshold, are
    one beyond it.
    """
    verdict, old = candidate.verdict, candidate.verdict.baseline
    if old is None or not verdict.is_compared:
        return None
    if verdict.status is Status.SLOWER:
        return _against(candidate, old, verdict.figure or DEVICE_TIME)
    if verdict.status is Status.INCONCLUSIVE:
        beyond = _first_beyond(candidate, _own_anchor(old))
        if beyond is not None:
            return beyond
    anchor = old.anchor
    beyond = _first_beyond(candidate, anchor)
    return replace(beyond, since=anchor.date[:10]) if anchor is not None and beyond else None


def admitted(candidate: Candidate) -> Measurement:
    """Return what is stored of a candidate: its own figures, and what outlives them.

    A note stays, and so does the noise of the same protocol on the same device. The anchor is the
    best figure accepted since the last loss.
    """
    new, old = candidate.measurement, candidate.verdict.baseline
    fresh = _own_anchor(new)
    if old is None:
        return replace(new, anchor=fresh)
    # A note on published figures speaks of those alone.
    kept = old.note if old.run.source == new.run.source else None
    new = replace(new, note=new.note or kept)
    if not candidate.verdict.is_compared:
        return replace(new, anchor=fresh, noise=None)
    best = fresh if loss_of(candidate) else _better(old.anchor or _own_anchor(old), fresh)
    return replace(new, anchor=best, noise=old.noise)


def _against(candidate: Candidate, old: Measurement, figure: str) -> Loss:
    new = candidate.measurement
    is_host = figure == HOST_COMPLETION
    before = old.completion_ns if is_host else old.device_ns
    after = new.completion_ns if is_host else new.device_ns
    return Loss(new.case_id, figure, before or 1, after or 1)


def _first_beyond(candidate: Candidate, anchor: Anchor | None) -> Loss | None:
    """Return the first figure that lies beyond the verdict's thresholds above an anchor."""
    if anchor is None:
        return None
    new, limits = candidate.measurement, candidate.verdict.thresholds
    for figure, before, after, limit in (
        (DEVICE_TIME, anchor.device_ns, new.device_ns, limits.device),
        (HOST_COMPLETION, anchor.completion_ns, new.completion_ns, limits.completion),
    ):
        change = share(before, after)
        if change is not None and after is not None and change > limit.of(before):
            return Loss(new.case_id, figure, before, after)
    return None


def _own_anchor(one: Measurement) -> Anchor | None:
    if one.device_ns is None or one.completion_ns is None:
        return None
    provenance = one.run.provenance
    return Anchor(one.device_ns, one.completion_ns, provenance.date, provenance.commit)


def _better(old: Anchor | None, new: Anchor | None) -> Anchor | None:
    """Return the one with less device time; the older one of two equals."""
    if old is None or new is None:
        return old or new
    return new if new.device_ns < old.device_ns else old
