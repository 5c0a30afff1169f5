"""Accepting measurements as baselines: all of a run or none, and never in silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.report.messages import microseconds, percent
from pytest_rmsperf.storing.admission import (
    Candidate,
    Rules,
    admitted,
    is_unrepeated_gain,
    loss_of,
)
from pytest_rmsperf.storing.baselines import BaselineStore, Cases
from pytest_rmsperf.storing.case_store import apply
from pytest_rmsperf.storing.refusals import refusals

__all__ = ["Candidate", "Rules", "save_baselines"]


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
    edits = [store.edit(*file, _Admission(tuple(found))) for file, found in files.items()]
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
