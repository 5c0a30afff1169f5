"""Accepting measurements as baselines, and forgetting stored cases: never in silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_rmsperf.cases import Case
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.report.messages import microseconds, percent
from pytest_rmsperf.storing.admission import (
    Candidate,
    Rules,
    admitted,
    is_unrepeated_gain,
    loss_of,
)
from pytest_rmsperf.storing.baselines import BaselineStore, Cases, Edit, apply
from pytest_rmsperf.storing.refusals import refusals
from pytest_rmsperf.storing.renaming import OPTION, likely_renames, variant_of

__all__ = [
    "Candidate",
    "Rules",
    "StaleCase",
    "missing_cases",
    "remove_stale",
    "save_baselines",
    "stale_cases",
    "stale_message",
]


def save_baselines(
    store: BaselineStore, candidates: Sequence[Candidate], rules: Rules, unfit: str | None
) -> list[str]:
    """Store the measurements of all candidates, or of none; return what there is to say.

    `unfit` says what was wrong with the machine. Raises RmsperfError with every reason and its
    remedy when the save is refused, and BaselineError when a file cannot be read or written; then
    every file is as it was. A gain that was not repeated is kept back, and said so.
    """
    refused = refusals(candidates, rules, unfit)
    if refused:
        raise RmsperfError("\n".join(refused))
    taken = [one for one in candidates if not is_unrepeated_gain(one)]
    files = _by_file(taken)
    edits = [
        Edit(store, device_key, operator, _Admission(tuple(found)))
        for (device_key, operator), found in files.items()
    ]
    apply(edits)
    saved = [
        f"saved {len(found)} baseline{'s' if len(found) > 1 else ''} in {store.path(*file)}"
        for file, found in files.items()
    ]
    losses = [loss for one in taken if (loss := loss_of(one)) is not None]
    kept = [_kept_back(one) for one in candidates if is_unrepeated_gain(one)]
    return [*saved, *(f"loosened: {one}" for one in losses), *kept]


@dataclass(frozen=True, slots=True)
class _Admission:
    """The change of one file: the candidates become its cases."""

    candidates: tuple[Candidate, ...]

    def __call__(self, stored: Cases) -> Cases:
        for one in self.candidates:
            if stored.get(one.case.id) != one.verdict.baseline:
                raise RmsperfError(
                    f"the baseline of {one.case.id} was changed by another run while this one "
                    "measured\nsave again: pytest --rmsperf-save"
                )
        return {**stored, **{one.case.id: admitted(one) for one in self.candidates}}


def _by_file(candidates: Iterable[Candidate]) -> dict[tuple[str, str], list[Candidate]]:
    found: dict[tuple[str, str], list[Candidate]] = {}
    for one in candidates:
        file = (one.measurement.run.device.key, one.case.operator.name)
        found.setdefault(file, []).append(one)
    return found


def _kept_back(candidate: Candidate) -> str:
    verdict = candidate.verdict
    before = verdict.baseline.device_ns if verdict.baseline is not None else None
    return (
        f"kept: {candidate.case.id} {microseconds(before)} us; the gain to "
        f"{microseconds(candidate.measurement.device_ns)} us ({percent(verdict.change)}) was not "
        "repeated by a second round"
    )


@dataclass(frozen=True, slots=True)
class StaleCase:
    """A stored case that no test asks for any more."""

    device: str
    operator: str
    case_id: str


def stale_cases(store: BaselineStore, cases: Iterable[Case]) -> list[StaleCase]:
    """Return what is stored, for any device, under the operators of `cases` and is none of them."""
    known = list(cases)
    wanted = {case.id for case in known}
    return [
        StaleCase(device, operator, case_id)
        for operator in sorted({case.operator.name for case in known})
        for device in store.devices(operator)
        for case_id in sorted(set(store.read(device, operator)) - wanted)
    ]


def missing_cases(store: BaselineStore, cases: Iterable[Case]) -> list[str]:
    """Return the ids of those `cases` that are stored for no device, sorted."""
    known = list(cases)
    stored = {
        case_id
        for operator in {case.operator.name for case in known}
        for device in store.devices(operator)
        for case_id in store.read(device, operator)
    }
    return sorted({case.id for case in known} - stored)


def stale_message(
    store: BaselineStore, stale: Sequence[StaleCase], test: str, missing: Sequence[str] = ()
) -> str:
    """Return the text that fails the test: verdict, evidence, remedy.

    `missing` are the ids of cases that are asked for and stored nowhere: where as many of an
    operator are missing as are stale, they may have been renamed, and the command for that is
    offered.
    """
    lines = [f"  {store.path(one.device, one.operator)}: {one.case_id}" for one in stale]
    cases = "case" if len(stale) == 1 else "cases"
    renames = [
        option
        for operator in sorted({one.operator for one in stale})
        for option in _rename_options(store, operator, stale, missing)
    ]
    keep = (
        f"if they were renamed, keep their history with: pytest {' '.join(renames)}\n"
        if renames
        else "give the case its old name back, or "
    )
    return (
        f"stale: {len(stale)} stored {cases} that no test asks for\n"
        + "\n".join(lines)
        + f"\n{keep}remove them (this needs no GPU) with: pytest --rmsperf-save -k {test}"
    )


def _rename_options(
    store: BaselineStore, operator: str, stale: Sequence[StaleCase], missing: Sequence[str]
) -> list[str]:
    old = {one.case_id for one in stale if one.operator == operator}
    new = {one for one in missing if one.startswith(f"{operator}/")}
    pairs = likely_renames(old, new)
    stored = {one for device in store.devices(operator) for one in store.read(device, operator)}
    still_used = {variant_of(one) for one in stored - old}
    options = []
    for before, after in pairs:
        is_whole = variant_of(before) not in still_used
        names = (variant_of(before), variant_of(after)) if is_whole else (before, after)
        options.append(f"{OPTION}={names[0]}={names[1]}")
    return list(dict.fromkeys(options))


def remove_stale(store: BaselineStore, stale: Sequence[StaleCase]) -> list[str]:
    """Remove the cases from their files, all or none, and say so, one line each."""
    by_file: dict[tuple[str, str], list[str]] = {}
    for one in stale:
        by_file.setdefault((one.device, one.operator), []).append(one.case_id)
    apply([store.removal(*file, case_ids) for file, case_ids in by_file.items()])
    return [f"removed: {one.case_id} from {store.path(one.device, one.operator)}" for one in stale]
