"""Why a run may not store what it measured.

Pure. Stricter than checking, because a wrong verdict costs one run and a wrong baseline all that
follow: whatever throws doubt on one figure refuses the whole save.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log, log1p

from pytest_rmsperf.judge.evidence import CONFIDENCE, HIDDEN_LIMITS
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.scatter import agreeing, half_width
from pytest_rmsperf.judge.thresholds import Limit
from pytest_rmsperf.judge.validity import SLOWER_CLOCK_SHARE, impossible_figures, slower_clock
from pytest_rmsperf.judge.verdict import DEVICE_TIME, HOST_COMPLETION
from pytest_rmsperf.measurement import Conditions, middle
from pytest_rmsperf.report.messages import selector
from pytest_rmsperf.storing.admission import Candidate, Rules, loss_of

# Fewer sessions do not show how far processes differ from each other.
LEAST_SESSIONS = 3
# More cases than this are only counted.
MOST_LISTED = 10


def refusals(candidates: Sequence[Candidate], rules: Rules, unfit: str | None) -> list[str]:
    """Return why nothing of this run may be stored, each with its remedy; empty when all may be.

    `unfit` says what was wrong with the machine.
    """
    found = [*_of_the_run(rules, unfit), *_of_the_sources(candidates, rules)]
    return [*found, *_of_the_figures(candidates, rules), *_of_the_losses(candidates, rules)]


def listed(entries: Sequence[str], fault: str, remedy: str) -> Iterator[str]:
    """Yield one complaint about all of `entries`, if there are any: fault, evidence, remedy."""
    if not entries:
        return
    cases = "1 case" if len(entries) == 1 else f"{len(entries)} cases"
    lines = [f"  {one}" for one in entries[:MOST_LISTED]]
    more = len(entries) - len(lines)
    if more:
        lines.append(f"  and {more} more")
    yield "\n".join([f"{fault}: {cases}", *lines, remedy])


def _of_the_run(rules: Rules, unfit: str | None) -> Iterator[str]:
    if rules.not_passed:
        tests = "test" if rules.not_passed == 1 else "tests"
        yield (
            f"{rules.not_passed} {tests} did not pass\n"
            "mend what failed, or leave it out with -k, then: pytest --rmsperf-save"
        )
    if unfit is not None:
        yield f"{unfit}\nsave again when the machine is idle and cool: pytest --rmsperf-save"


def _of_the_sources(candidates: Sequence[Candidate], rules: Rules) -> Iterator[str]:
    runs = [one.measurement.run for one in candidates]
    if any(one.provenance.dirty for one in runs) and not rules.accept_dirty:
        yield (
            "there are uncommitted changes, so no commit names the code that was measured\n"
            "commit them, or accept that with: pytest --rmsperf-save --rmsperf-accept-dirty"
        )
    if any(one.provenance.commit is None for one in runs):
        yield (
            "the commit is unknown: this is no git repository, or git cannot read it\n"
            "name the commit with: RMSPERF_COMMIT=... pytest --rmsperf-save"
        )
    if any(one.driver is None for one in runs):
        yield (
            "the version of the driver is unknown: NVML does not answer\n"
            "install its binding with: pip install nvidia-ml-py"
        )


def _of_the_figures(candidates: Sequence[Candidate], rules: Rules) -> Iterator[str]:
    few = [
        f"{one.case.id}: {len(one.measurement.sessions)} of {LEAST_SESSIONS}"
        for one in candidates
        if len(one.measurement.sessions) < LEAST_SESSIONS
    ]
    yield from listed(
        few,
        "measured in too few sessions",
        f"measure more with: pytest --rmsperf-save --rmsperf-sessions={LEAST_SESSIONS}",
    )
    invalid = [f"{one.case.id}: {why}" for one in candidates if (why := _why_invalid(one))]
    yield from listed(invalid, "invalid", "measure again with: pytest --rmsperf-save")
    if rules.accept_slower:
        return
    doubtful = [f"{one.case.id}: {why}" for one in candidates if (why := _why_doubtful(one))]
    yield from listed(
        doubtful,
        "inconclusive, and may be slower",
        "measure longer with: pytest --rmsperf-save --rmsperf-sessions=6; "
        "or accept it with: pytest --rmsperf-save --rmsperf-accept-slower",
    )
    held = [f"{one.case.id}: {why}" for one in candidates if (why := _why_held_down(one))]
    yield from listed(
        held,
        "measured at a lower clock than the baseline",
        "let the device run free (nvidia-smi --reset-gpu-clocks), "
        "or accept it with: pytest --rmsperf-save --rmsperf-accept-slower",
    )


def _of_the_losses(candidates: Sequence[Candidate], rules: Rules) -> Iterator[str]:
    if rules.accept_slower:
        return
    losses = [loss for one in candidates if (loss := loss_of(one)) is not None]
    losses = [one for one in losses if one.case_id not in rules.named]
    if losses:
        name = selector(losses[0].case_id)
        yield from listed(
            [str(one) for one in losses],
            "slower than what was accepted before",
            f'accept one by its name: pytest --rmsperf-save -k "{name}"; '
            "or all with: pytest --rmsperf-save --rmsperf-accept-slower",
        )


def _why_invalid(candidate: Candidate) -> str | None:
    verdict = candidate.verdict
    if verdict.status is Status.INVALID:
        return verdict.reason
    return impossible_figures(candidate.measurement) or candidate.unfit


def _why_doubtful(candidate: Candidate) -> str | None:
    """Return the judge's doubt, or where it had nothing to compare with, that of the scatter."""
    verdict, new = candidate.verdict, candidate.measurement
    if verdict.status is Status.INCONCLUSIVE:
        return verdict.reason
    if verdict.is_compared:
        return None
    limits = verdict.thresholds
    return _why_scattered(DEVICE_TIME, new.device_medians, limits.device) or _why_scattered(
        HOST_COMPLETION, new.completion_medians, limits.completion
    )


def _why_scattered(figure: str, medians: Sequence[int], limit: Limit) -> str | None:
    """Hold sessions by themselves to what the judge demands of unchanged ones."""
    middle_ns = middle(medians)
    if not middle_ns or min(medians) <= 0:
        return None
    allowed = limit.of(middle_ns)
    logs = agreeing([log(one) for one in medians], log1p(allowed))
    hidden = half_width([logs], CONFIDENCE)
    if hidden <= HIDDEN_LIMITS * allowed:
        return None
    return f"the sessions of {figure} scatter by {100 * hidden:.1f} % either way"


def _why_held_down(candidate: Candidate) -> str | None:
    """Compare clocks with those of the stored figure, whether or not the two are comparable."""
    if candidate.verdict.baseline is None:
        return None
    old, new = candidate.verdict.baseline.run.conditions, candidate.measurement.run.conditions
    return slower_clock(new, old) or _slower_memory(new, old)


def _slower_memory(current: Sequence[Conditions], baseline: Sequence[Conditions]) -> str | None:
    now, before = (
        middle([one.memory_mhz for one in sessions if one.memory_mhz is not None])
        for sessions in (current, baseline)
    )
    if now is None or before is None or before - now < SLOWER_CLOCK_SHARE * before:
        return None
    return f"memory clock {before} -> {now} MHz"
