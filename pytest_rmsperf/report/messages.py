"""Verdicts told to a person: the verdict first, then the evidence, then the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rmsperf.judge.evidence import Weighed
from pytest_rmsperf.judge.ordering import Ordered, OrderStatus
from pytest_rmsperf.judge.policy import Policy, Status
from pytest_rmsperf.judge.verdict import DEVICE_TIME, HOST_COMPLETION, Verdict, share
from pytest_rmsperf.measurement import Measurement, SessionFigures, middle
from pytest_rmsperf.report.because import because

UNKNOWN = "-"


def microseconds(nanoseconds: int | None) -> str:
    """Format ns as us with two digits: the one unit of every table and message."""
    return UNKNOWN if nanoseconds is None else f"{nanoseconds / 1000:.2f}"


def percent(change: float | None) -> str:
    """Format a share as a signed percentage."""
    return UNKNOWN if change is None else f"{100 * change:+.1f} %"


def counted(number: int, noun: str) -> str:
    """Return "1 case" or "2 cases"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def selector(case_id: str) -> str:
    """Return the -k expression that selects a case.

    The whole id, because -k looks for a part of the name: `row-graph/1x4` is also a part of
    `long_row-graph/1x4`.
    """
    return case_id


def verdict_message(
    verdict: Verdict, *, stored_on: tuple[str, ...] = (), saves: bool = False
) -> str:
    """Return the whole text of a verdict.

    `stored_on` names devices that do have a baseline; `saves` says that this run is to accept what
    it measured, and refused this.
    """
    lines = [headline(verdict)]
    if verdict.baseline is not None:
        label = "against " if verdict.is_paired else "baseline"
        lines.append(_evidence(label, verdict.baseline))
    if verdict.current is not None and verdict.current.sessions:
        lines.append(
            _evidence("current ", verdict.current) + _confirmed(verdict) + _probes(verdict)
        )
    odd = odd_sessions(verdict)
    lines += [f"  apart      {odd}"] if odd else []
    lines += labelled("because", because(verdict))
    if verdict.status is Status.MISSING and stored_on and not verdict.is_paired:
        lines.append(f"  stored     only for {', '.join(stored_on)}")
    lines.append(remedy(verdict, saves=saves))
    return "\n".join(lines)


def labelled(label: str, texts: Sequence[str]) -> list[str]:
    """Return lines of evidence, the first of them behind its label."""
    return [f"  {'' if place else label:<10} {text}" for place, text in enumerate(texts)]


def odd_sessions(verdict: Verdict) -> str:
    """Name sessions far off the others: the median left them out, and a person should know."""
    current = verdict.current
    if current is None:
        return ""
    found = (
        (verdict.device, current.device_medians, DEVICE_TIME),
        (verdict.completion, current.completion_medians, HOST_COMPLETION),
    )
    return ", ".join(
        f"session {place + 1} of {len(medians)} ({figure} {microseconds(medians[place])} us)"
        for weighed, medians, figure in found
        if weighed is not None
        for place in weighed.outlying
    )


def headline(verdict: Verdict) -> str:
    """Return the first line: the verdict and the figures that led to it."""
    current, baseline = verdict.current, verdict.baseline
    weighed = verdict.completion if verdict.figure == HOST_COMPLETION else verdict.device
    decided = verdict.status in (Status.SLOWER, Status.FASTER)
    if not decided or weighed is None or current is None or baseline is None:
        return f"{verdict.status.value}: {verdict.reason}"
    return (
        f"{verdict.status.value} by {abs(100 * weighed.share):.{_digits(verdict)}f} % "
        f"({verdict.figure}): "
        f"device time {microseconds(baseline.device_ns)} -> {microseconds(current.device_ns)} us, "
        f"host completion {microseconds(baseline.completion_ns)} -> "
        f"{microseconds(current.completion_ns)} us (limit {_limit(verdict, weighed)})"
    )


def _digits(verdict: Verdict) -> int:
    """Paired changes are known to a hundredth of a percent, others to a tenth."""
    return 2 if verdict.is_paired else 1


def _limit(verdict: Verdict, weighed: Weighed) -> str:
    return f"{100 * weighed.limit:+.{_digits(verdict)}f} %"


def _evidence(label: str, measurement: Measurement) -> str:
    medians, unit = measurement.device_medians, "device"
    if not medians:
        medians, unit = measurement.completion_medians, "host"
    run = measurement.run
    commit = measurement.case_id.partition("@")[2] or run.provenance.commit or "unknown"
    changes = " with changes" if run.provenance.dirty and "@" not in measurement.case_id else ""
    return (
        f"  {label}   {microseconds(middle(medians))} us "
        f"[{microseconds(min(medians))} .. {microseconds(max(medians))}] {unit}, "
        f"{len(medians)} session{'s' if len(medians) > 1 else ''}, "
        f"{run.provenance.date[:10]}, driver {run.driver or 'unknown'}, commit {commit}{changes}"
    )


def _confirmed(verdict: Verdict) -> str:
    if not verdict.confirming:
        return ""
    return f", the last {verdict.confirming} to confirm"


def _probes(verdict: Verdict) -> str:
    if verdict.baseline is None or verdict.current is None or verdict.is_paired:
        return ""
    moved = share(_copy(verdict.baseline.sessions), _copy(verdict.current.sessions))
    return "" if moved is None else f"; the copy probe moved by {percent(moved)}"


def _copy(sessions: tuple[SessionFigures, ...]) -> int | None:
    return middle([one.copy.device_ns for one in sessions if one.copy is not None])


def remedy(verdict: Verdict, *, saves: bool = False) -> str:
    """Return what to do about a verdict, as a command."""
    paired = _PAIRED_REMEDIES.get(verdict.status) if verdict.is_paired else None
    if paired is not None:
        return paired
    found = _REMEDIES.get(verdict.status, "nothing to do")
    if verdict.status is Status.SLOWER and saves:
        found = "nothing of this run is saved; name the case to accept it: {accept}"
    if verdict.status is Status.INVALID and saves:
        found = "measure again with: pytest --rmsperf-save"
    name = f'"{selector(verdict.case_id)}"'
    return found.format(accept=f"pytest --rmsperf-save -k {name}", name=name)


_REMEDIES = {
    Status.SLOWER: "accept it with: {accept}",
    Status.FASTER: "accept it with: {accept}",
    Status.MISSING: "create it with: {accept}",
    Status.INCOMPARABLE: "measure a new baseline with: {accept}",
    Status.INVALID: "measure again with: pytest --rmsperf --lf",
    Status.INCONCLUSIVE: "look closer with: pytest --rmsperf --rmsperf-sessions=9 -k {name}",
}
_PAIRED_REMEDIES = {
    Status.SLOWER: (
        "mend the kernel; a loss that is meant is waived on its test: "
        '@pytest.mark.rmsperf(waive="why")'
    ),
    Status.FASTER: "keep it: store it as a baseline with: pytest --rmsperf-save",
    Status.MISSING: "compare with a commit that has it: pytest --rmsperf-against=REF",
    Status.INCOMPARABLE: (
        "compare with a commit whose case is measured alike: pytest --rmsperf-against=REF"
    ),
}


def order_message(found: Ordered, policy: Policy) -> str | None:
    """Return the text that fails the test of an ordering, None when it is to pass."""
    doubt = _DOUBTS.get(found.status)
    if found.status is not OrderStatus.VIOLATED and (doubt is None or not policy.fails(doubt)):
        return None
    if found.status is OrderStatus.INVALID:
        return f"{found}\n{_REMEDIES[Status.INVALID]}"
    return (
        f"{found}\nfind which of the two changed: pytest --rmsperf-against=HEAD~1 -k "
        f'"{found.ordering.fast.id} or {found.ordering.slow.id}"'
    )


# What the policy says of these verdicts holds for orderings too.
_DOUBTS = {
    OrderStatus.INCONCLUSIVE: Status.INCONCLUSIVE,
    OrderStatus.INVALID: Status.INVALID,
}
