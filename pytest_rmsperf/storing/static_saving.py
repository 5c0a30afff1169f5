"""Accepting what cases cost as static baselines: all or none, and never in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.report.messages import counted
from pytest_rmsperf.storing.case_store import apply
from pytest_rmsperf.storing.static_admission import (
    CostCandidate,
    accepted,
    cost_refusals,
    dropped,
)
from pytest_rmsperf.storing.static_store import SAVE, Costs, StaticStore

__all__ = ["CostCandidate", "save_costs"]

# What is said of a case that is stored, by what the judge said of it.
_TOLD = {
    Status.COSTLIER: "loosened",
    Status.CHANGED: "changed",
    Status.CHEAPER: "cheaper",
}


def save_costs(store: StaticStore, candidates: Sequence[CostCandidate]) -> list[str]:
    """Store the costs of all candidates, or of none; return what there is to say.

    A stored plan on a device that was not looked at stays where the machine code is the same, else
    it is dropped, and said so. Raises RmsperfError with every reason and its remedy when the save
    is refused, and BaselineError when a file cannot be read or written; then every file is as it
    was.
    """
    refused = cost_refusals(candidates)
    if refused:
        raise RmsperfError("\n".join(refused))
    files = _by_file(candidates)
    edits = [store.edit(*file, _Admission(tuple(found))) for file, found in files.items()]
    apply(edits)
    saved = [_saved(store.path(*file), found) for file, found in files.items()]
    losses = [line for file, found in files.items() for line in _dropped(store.path(*file), found)]
    return [*saved, *_told(candidates), *losses]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A cost beside the stored one that it was judged against."""

    cost: StaticCost
    old: StaticCost | None

    @property
    def is_changed(self) -> bool:
        return accepted(self.cost, self.old) != self.old


@dataclass(frozen=True, slots=True)
class _Admission:
    """The change of one file: these costs become its cases."""

    pairs: tuple[_Pair, ...]

    def __call__(self, stored: Costs) -> Costs:
        for one in self.pairs:
            if stored.get(one.cost.case_id) != one.old:
                raise RmsperfError(
                    f"the static baseline of {one.cost.case_id} for {one.cost.arch} was changed by "
                    f"another run while this one compiled\nsave again: {SAVE}"
                )
        return {**stored, **{one.cost.case_id: accepted(one.cost, one.old) for one in self.pairs}}


def _by_file(candidates: Iterable[CostCandidate]) -> dict[tuple[str, str], list[_Pair]]:
    found: dict[tuple[str, str], list[_Pair]] = {}
    for one in candidates:
        for cost in one.costs:
            verdict = one.of_arch(cost.arch)
            pair = _Pair(cost, verdict.baseline if verdict is not None else None)
            found.setdefault((cost.arch, one.operator), []).append(pair)
    return found


def _saved(path: Path, pairs: Sequence[_Pair]) -> str:
    changed = sum(one.is_changed for one in pairs)
    same = len(pairs) - changed
    if not changed:
        return f"unchanged: {counted(same, 'static baseline')} in {path}"
    rest = f", {same} more unchanged" if same else ""
    return f"saved {counted(changed, 'static baseline')} in {path}{rest}"


def _told(candidates: Iterable[CostCandidate]) -> Iterator[str]:
    """Yield a line for each thing that was accepted, with the cases that have it in common."""
    cases: dict[tuple[str, str], list[str]] = {}
    for one in candidates:
        for status, word in _TOLD.items():
            findings = "; ".join(one.findings(status))
            if findings:
                cases.setdefault((word, findings), []).append(one.case_id)
    for (word, findings), (first, *more) in cases.items():
        yield f"{word}: {first}{f' and {len(more)} more' if more else ''}: {findings}"


def _dropped(path: Path, pairs: Iterable[_Pair]) -> Iterator[str]:
    devices: dict[str, int] = {}
    for one in pairs:
        for device in dropped(one.cost, one.old):
            devices[device] = devices.get(device, 0) + 1
    for device, count in devices.items():
        yield (
            f"dropped: {device} from {counted(count, 'case')} in {path}: "
            "it was not looked at, and the machine code is another; "
            "name it in --rmsperf-devices and save again"
        )
