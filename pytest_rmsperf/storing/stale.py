"""Stored cases that no test asks for any more: found, told, and forgotten; never in silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.cases import Case
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.case_store import apply
from pytest_rmsperf.storing.renaming import OPTION, likely_renames, variant_of
from pytest_rmsperf.storing.static_store import StaticStore

Store = BaselineStore | StaticStore


@dataclass(frozen=True, slots=True)
class StaleCase:
    """A case that is stored for a target, a device key or an arch, and that no test asks for."""

    store: Store
    target: str
    operator: str
    case_id: str

    @property
    def path(self) -> Path:
        return self.store.path(self.target, self.operator)


def stale_cases(stores: Iterable[Store], cases: Iterable[Case]) -> list[StaleCase]:
    """Return what is stored, for any target, under the operators of `cases` and is none of them."""
    known = list(cases)
    wanted = {case.id for case in known}
    return [
        StaleCase(store, target, operator, case_id)
        for store in stores
        for operator in _operators(known)
        for target in store.targets(operator)
        for case_id in sorted(store.read(target, operator).keys() - wanted)
    ]


def stale_message(stale: Sequence[StaleCase], cases: Iterable[Case], test: str) -> str:
    """Return the text that fails the test: verdict, evidence, remedy.

    Where as many of the `cases` that are asked for are missing in a store as are stale there, they
    may have been renamed, and the command for that is offered.
    """
    wanted = {case.id for case in cases}
    lines = [f"  {one.path}: {one.case_id}" for one in stale]
    renames = _rename_options(stale, wanted)
    keep = (
        f"if they were renamed, keep their history with: pytest {' '.join(renames)}\n"
        if renames
        else "give the case its old name back, or "
    )
    return (
        f"stale: {len(stale)} stored case{'' if len(stale) == 1 else 's'} that no test asks for\n"
        + "\n".join(lines)
        + f"\n{keep}remove them (this needs no GPU) with: pytest --rmsperf-save -k {test}"
    )


def remove_stale(stale: Iterable[StaleCase]) -> list[str]:
    """Remove the cases from their files, all or none, and say so, one line each."""
    told: list[str] = []
    by_file: dict[tuple[Store, str, str], list[str]] = {}
    for one in stale:
        by_file.setdefault((one.store, one.target, one.operator), []).append(one.case_id)
        told.append(f"removed: {one.case_id} from {one.path}")
    apply(
        [
            store.removal(target, operator, case_ids)
            for (store, target, operator), case_ids in by_file.items()
        ]
    )
    return told


def _operators(cases: Iterable[Case]) -> list[str]:
    return sorted({case.operator.name for case in cases})


def _rename_options(stale: Sequence[StaleCase], wanted: set[str]) -> list[str]:
    pairs: list[tuple[str, str]] = []
    still_used: set[str] = set()
    for store, operator in dict.fromkeys((one.store, one.operator) for one in stale):
        old = {one.case_id for one in stale if (one.store, one.operator) == (store, operator)}
        stored = {
            case_id
            for target in store.targets(operator)
            for case_id in store.read(target, operator)
        }
        missing = {one for one in wanted - stored if one.startswith(f"{operator}/")}
        pairs += likely_renames(old, missing)
        still_used |= {variant_of(one) for one in stored - old}
    options = []
    for before, after in pairs:
        is_whole = variant_of(before) not in still_used
        names = (variant_of(before), variant_of(after)) if is_whole else (before, after)
        options.append(f"{OPTION}={names[0]}={names[1]}")
    return list(dict.fromkeys(options))
