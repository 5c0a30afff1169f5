"""The table at the end of a run, and the lines below it that cannot be overlooked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.measurement import middle
from pytest_rmsperf.report.messages import UNKNOWN, headline, microseconds, percent, remedy
from pytest_rmsperf.report.records import CaseReport

MOST_UNCLAIMED = 5

COLUMNS = (
    "case",
    "host us",
    "device us",
    "copy us",
    "change",
    "verdict",
    "registers",
    "blocks/SM",
    "headroom",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, as text; also what travels in a test's user properties."""

    case: str
    completion: str
    device: str
    copy: str
    change: str
    verdict: str
    registers: str
    blocks_per_sm: str
    headroom: str

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(asdict(self).values())


def row(report: CaseReport) -> Row:
    """Return the table row of a case; what is not known is a dash."""
    residency = report.checked.residency
    tightest = residency.tightest if residency is not None else None
    spare = residency.headroom_blocks if residency is not None else None
    current = report.verdict.current if report.verdict is not None else None
    sessions = current.sessions if current is not None else ()
    return Row(
        case=report.case_id,
        completion=microseconds(current.completion_ns if current else None),
        device=microseconds(current.device_ns if current else None),
        copy=microseconds(middle([s.copy.device_ns for s in sessions if s.copy is not None])),
        change=percent(report.verdict.change if report.verdict else None),
        verdict=_verdict(report),
        registers=str(tightest.kernel.registers_per_thread) if tightest else UNKNOWN,
        blocks_per_sm=str(tightest.blocks_per_sm) if tightest else UNKNOWN,
        headroom=UNKNOWN if spare is None else str(spare),
    )


def _verdict(report: CaseReport) -> str:
    if report.failure is not None:
        return f"failed: {report.failure.stage.value}"
    if report.verdict is not None:
        return report.verdict.status.value
    return "emulated" if _is_emulated(report) else "not run"


def _is_emulated(report: CaseReport) -> bool:
    numerics = report.checked.numerics
    return numerics is not None and numerics.emulation is not None


@dataclass(frozen=True, slots=True)
class Column:
    """A further column of device times by case id; it is left out where it would be empty."""

    title: str
    device_ns: Mapping[str, int]


def table(rows: Iterable[Row], more: Column | None = None) -> list[str]:
    """Return aligned lines: the case to the left, every number to the right."""
    found = list(rows)
    cells = [COLUMNS, *(one.cells for one in found)]
    if more is not None and any(one.case in more.device_ns for one in found):
        last = [more.title, *(microseconds(more.device_ns.get(one.case)) for one in found)]
        cells = [(*line, cell) for line, cell in zip(cells, last, strict=True)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [_aligned(line, widths) for line in cells]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    first = line[0].ljust(widths[0])
    rest = (text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))
    return "  ".join((first, *rest))


def unclaimed(reports: Iterable[CaseReport]) -> list[str]:
    """Return two lines for each case that got faster: what nobody claims can be lost again."""
    faster = [
        one.verdict
        for one in reports
        if one.verdict is not None and one.verdict.status is Status.FASTER
    ]
    lines = []
    for verdict in faster[:MOST_UNCLAIMED]:
        lines += [f"{verdict.case_id}: {headline(verdict)}", f"  {remedy(verdict)}"]
    if len(faster) > MOST_UNCLAIMED:
        lines.append(f"and {len(faster) - MOST_UNCLAIMED} more are faster: see the table")
    return lines


def numerics_line(reports: Iterable[CaseReport]) -> str | None:
    """Return the largest relative error of all cases, and where, or why nothing was launched.

    None when there is nothing to say: no case came so far, which is told elsewhere.
    """
    found = list(reports)
    checked = [one for one in found if one.checked.numerics is not None]
    if not checked:
        why_not = next((one.not_launched for one in found if one.not_launched), None)
        return f"numerics of 0 cases: {why_not}" if why_not else None

    def largest(report: CaseReport) -> float:
        numerics = report.checked.numerics
        return numerics.worst.largest_error if numerics is not None else 0.0

    worst = max(checked, key=largest)
    headline = str(worst.checked.numerics).splitlines()[0]
    emulated = " emulated," if _is_emulated(worst) else ""
    return f"numerics of {len(checked)} cases,{emulated} at worst {worst.case_id}: {headline}"
