"""Why a latency changed, as far as the compiled kernels, the plan and the machine tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rmsperf.costs import DeviceFit, Resources
from pytest_rmsperf.judge.cost_differences import resource_differences
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.measurement import Measurement

MOST_DIFFERENCES = 6
OLD_FILE = (
    "the baseline does not tell what its kernels cost (its file is of an older version); "
    "a new save will"
)
# Of these a person is to look for a reason elsewhere, where nothing of ours differs.
_OPEN = frozenset({Status.SLOWER, Status.FASTER, Status.INCONCLUSIVE, Status.INVALID})


def because(verdict: Verdict) -> list[str]:
    """Return what differs, one line each, and what does not where the machine code is the same.

    Nothing of an unchanged figure, and of one that has nothing to be compared with.
    """
    before, after = verdict.baseline, verdict.current
    if before is None or after is None or verdict.status is Status.UNCHANGED:
        return []
    around = [] if verdict.is_paired else _driver(before, after)
    if before.resources is None or after.resources is None:
        is_old = after.resources is not None and not verdict.is_paired
        return [*around, *([OLD_FILE] if is_old and before.run.source == "measured" else [])]
    flags = _flags(before, after) if verdict.is_paired else []
    found = [*resource_differences(before.resources, after.resources), *flags, *around]
    return [*capped(found), *_same(verdict, before, after, is_all=not found)]


def capped(differences: Sequence[str], most: int = MOST_DIFFERENCES) -> list[str]:
    """Return the first of them, and how many more there are."""
    left = len(differences) - most
    return [*differences[:most], *([f"and {left} more"] if left > 0 else [])]


def _driver(before: Measurement, after: Measurement) -> list[str]:
    old, new = (one.run.driver or "unknown" for one in (before, after))
    return [f"driver {old} -> {new}"] if old != new else []


def _flags(before: Measurement, after: Measurement) -> list[str]:
    old, new = (" ".join(one.flags) or "none" for one in (before, after))
    return [f"compiler flags {old} -> {new}"] if old != new else []


def _same(verdict: Verdict, before: Measurement, after: Measurement, *, is_all: bool) -> list[str]:
    """Say what is the same, where that tells something: the machine code, or everything known."""
    assert before.resources is not None
    assert after.resources is not None
    is_code_same = _is_code_same(before.resources, after.resources)
    if not is_code_same and not is_all:
        return []
    names = ["the machine code" if is_code_same else "the counts of its kernels"]
    if _asked(before.resources.fit) == _asked(after.resources.fit):
        names.append("the plan")
    if not verdict.is_paired:
        names += _same_around(before, after)
    text = f"{_joined(names)} {'are' if len(names) > 1 else 'is'} the same"
    if not is_code_same:
        return [f"{text}; the machine code is not known"]
    return [f"{text}: look at the machine" if is_all and verdict.status in _OPEN else text]


def _same_around(before: Measurement, after: Measurement) -> list[str]:
    mine, theirs = after.run, before.run
    same_driver = mine.driver is not None and mine.driver == theirs.driver
    same_protocol = mine.protocol.differs_from(theirs.protocol) is None
    return ["the driver"] * same_driver + ["the protocol"] * same_protocol


def _is_code_same(before: Resources, after: Resources) -> bool:
    """Say whether both run the same instructions, as far as somebody looked."""
    old, new = (
        [(one.name, one.code.sha256 if one.code is not None else None) for one in side.kernels]
        for side in (before, after)
    )
    return old == new and all(sha is not None for _, sha in old)


def _asked(fit: DeviceFit) -> DeviceFit:
    """Return what a plan asks for, without what the device said to it."""
    launches = tuple(replace(one, blocks_per_sm=0, active_clusters=None) for one in fit.launches)
    return replace(fit, launches=launches)


def _joined(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
