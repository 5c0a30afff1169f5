"""Accepting measurements as baselines: stricter than checking, and never in silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rmsperf.baselines import BaselineStore
from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.health import why_unfit_in
from pytest_rmsperf.report.messages import microseconds
from pytest_rmsperf.report.records import CaseReport
from pytest_rmsperf.verdict import Status, Verdict

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Case
    from pytest_rmsperf.measurement import Measurement


def save_baselines(
    store: BaselineStore,
    campaign: Campaign,
    reports: Mapping[str, CaseReport],
    cases: Iterable[Case],
) -> list[str]:
    """Store the measurements of `cases`, except invalid ones; return what there is to say.

    Without a device there is nothing to store. Raises RmsperfError when the machine was not fit to
    be measured on, and BaselineError when a file cannot be replaced; then nothing is lost.
    """
    if campaign.machine.device is None:
        return []
    _require_fit(campaign)
    key = campaign.machine.device.identity.key
    lines: list[str] = []
    for operator, accepted in _by_operator(campaign, reports, cases).items():
        path = store.write(key, operator, accepted)
        lines.append(f"saved {len(accepted)} baselines in {path}")
        lines += _loosened(reports[case_id].verdict for case_id in accepted)
    return lines


def _by_operator(
    campaign: Campaign, reports: Mapping[str, CaseReport], cases: Iterable[Case]
) -> dict[str, dict[str, Measurement]]:
    found: dict[str, dict[str, Measurement]] = {}
    for case in cases:
        measured, report = campaign.measurements.get(case.id), reports.get(case.id)
        verdict = report.verdict if report is not None else None
        if measured is None or verdict is None or verdict.status is Status.INVALID:
            continue
        found.setdefault(case.operator.name, {})[case.id] = measured
    return found


def _require_fit(campaign: Campaign) -> None:
    unfit = why_unfit_in(campaign.sessions)
    if unfit is not None:
        raise RmsperfError(
            f"{unfit}; save again when the device is idle and cool: pytest --rmsperf-save"
        )


def _loosened(verdicts: Iterable[Verdict | None]) -> Iterator[str]:
    """Show every baseline that got slower: a lower bar must be seen to be lowered."""
    for one in verdicts:
        if one and one.status is Status.SLOWER and one.baseline and one.current:
            yield (
                f"loosened: {one.case_id} {microseconds(one.baseline.device_ns)} -> "
                f"{microseconds(one.current.device_ns)} us ({100 * (one.change or 0):+.1f} %)"
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


def stale_message(store: BaselineStore, stale: Sequence[StaleCase], test: str) -> str:
    """Return the text that fails the test: verdict, evidence, remedy."""
    lines = [f"  {store.path(one.device, one.operator)}: {one.case_id}" for one in stale]
    cases = "case" if len(stale) == 1 else "cases"
    return (
        f"stale: {len(stale)} stored {cases} that no test asks for\n"
        + "\n".join(lines)
        + "\ngive the case its old name back, or remove them (this needs no GPU) with: "
        f"pytest --rmsperf-save -k {test}"
    )


def remove_stale(store: BaselineStore, stale: Sequence[StaleCase]) -> list[str]:
    """Remove the cases from their files and say so, one line each."""
    by_file: dict[tuple[str, str], list[str]] = {}
    for one in stale:
        by_file.setdefault((one.device, one.operator), []).append(one.case_id)
    for (device, operator), case_ids in by_file.items():
        store.remove(device, operator, case_ids)
    return [f"removed: {one.case_id} from {store.path(one.device, one.operator)}" for one in stale]
