"""What the devices of interest hold of each case: the table of details, and the tightest of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_rmsperf.costs import DeviceFit, StaticCheck, StaticCost
from pytest_rmsperf.device.occupancy import TippingPoint
from pytest_rmsperf.judge.cost import first_line
from pytest_rmsperf.report.messages import UNKNOWN, counted
from pytest_rmsperf.report.tipping import slack_of, tipping_points

Checked = tuple[str, tuple[StaticCheck, ...]]

COLUMNS = (
    "device",
    "arch",
    "regs",
    "spills",
    "shared",
    "per SM",
    "blocks",
    "limit",
    "headroom",
    "launches",
    "rows",
    "+regs",
    "+bytes",
)
# The table is wide enough without them.
HIDDEN_IF_EMPTY = ("spills", "rows")
LEGEND = (
    "regs and spilled bytes per thread, shared bytes per block, rows per launch; limit: blocks",
    "that are resident at a time; +regs, +bytes: so many more of them lose a block per SM",
)
CLUSTERS = "<=: by computation; how many clusters are resident together, only the device says"


def device_table(checked: Sequence[Checked]) -> list[str]:
    """Return a line per case, below each one per device of interest, aligned; nothing of nothing.

    `checked` holds case ids with their checks, one for each arch. Submissions of one variant and
    problem that cost the same stand together.
    """
    found = [
        (heading, [row for check in checks for row in _rows(check)])
        for heading, checks in _groups(checked)
    ]
    if not found:
        return []
    rows = [row for _, rows in found for row in rows]
    widths = _widths(rows)
    lines = [_aligned(COLUMNS, "", widths)]
    for heading, of_group in found:
        lines.append(heading)
        lines += [_aligned(row.cells, row.last, widths) for row in of_group]
    lines += LEGEND
    return [*lines, CLUSTERS] if any(row.is_upper_bound for row in rows) else lines


def tightest_line(checked: Sequence[Checked]) -> str | None:
    """Return one line on all cases: how many on how many devices, and the least headroom of all.

    None where nothing was checked.
    """
    cases = sum(bool(checks) for _, checks in checked)
    if not cases:
        return None
    places = list(_places(checked))
    devices = len({one.fit.device for one in places})
    violated = sum(any(one.refusals for one in checks) for _, checks in checked)
    line = f"static: {counted(cases, 'case')} on {counted(devices, 'device')}"
    line += f", {counted(violated, 'case')} violated" if violated else ""
    waiting = [one for one in places if one.headroom_blocks >= 0 and not one.is_violated]
    if not waiting:
        return line if violated else f"{line}; no launch waits on other blocks"
    one = min(waiting, key=lambda place: place.headroom_blocks)
    return (
        f"{line}; tightest: {one.case_id} on {one.fit.device}: {tipping_points(one.cost, one.fit)}"
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One device in the table, as text."""

    cells: tuple[str, ...]
    last: str
    is_upper_bound: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """One case on one device."""

    case_id: str
    cost: StaticCost
    fit: DeviceFit
    is_violated: bool

    @property
    def headroom_blocks(self) -> int:
        """Blocks to spare; -1 where no launch waits on other blocks."""
        spare = self.fit.headroom_blocks
        return -1 if spare is None else spare


def _places(checked: Sequence[Checked]) -> Iterator[_Place]:
    for case_id, check in ((case_id, one) for case_id, checks in checked for one in checks):
        cost, violated = check.cost, dict(check.refusals)
        if cost is not None:
            yield from (_Place(case_id, cost, fit, fit.device in violated) for fit in cost.fits)


def _groups(checked: Sequence[Checked]) -> Iterator[tuple[str, tuple[StaticCheck, ...]]]:
    """Yield headings and checks: one for all submissions of a variant and problem that agree."""
    found: dict[tuple[str, str, tuple[StaticCheck, ...]], list[str]] = {}
    for case_id, checks in checked:
        name, label = case_id.rsplit("/", 1)
        variant, _, submission = name.rpartition("-")
        key = (variant, label, tuple(map(_nameless, checks)))
        if checks:
            found.setdefault(key, []).append(submission)
    for (variant, label, checks), submissions in found.items():
        yield f"{variant}-{'|'.join(submissions)}/{label}", checks


def _nameless(check: StaticCheck) -> StaticCheck:
    """Return a check that does not say which case it is of."""
    return check if check.cost is None else replace(check, cost=replace(check.cost, case_id=""))


def _rows(check: StaticCheck) -> Iterator[_Row]:
    told = {name: f"violated: {first_line(name, message)}" for name, message in check.refusals}
    if check.cost is None:
        yield _Row((UNKNOWN, check.arch, *(UNKNOWN,) * (len(COLUMNS) - 2)), told[check.arch])
        return
    for fit in check.cost.fits:
        yield _Row(_cells(check.cost, fit), told.get(fit.device, ""), fit.is_upper_bound)


def _cells(cost: StaticCost, fit: DeviceFit) -> tuple[str, ...]:
    tightest = fit.tightest
    if tightest is None:
        return (fit.device, cost.arch, *(UNKNOWN,) * (len(COLUMNS) - 2))
    static = {one.name: one.static_smem_bytes for one in cost.kernels}
    at_most = "<=" if tightest.is_upper_bound else ""
    headroom, rows = fit.headroom_blocks, dict(fit.facts).get("rows_per_launch")
    return (
        fit.device,
        cost.arch,
        str(max(one.registers_per_thread for one in cost.kernels)),
        str(max(one.spill_store_bytes + one.spill_load_bytes for one in cost.kernels)),
        str(max(one.dynamic_smem_bytes + static.get(one.kernel, 0) for one in fit.launches)),
        str(tightest.blocks_per_sm),
        str(tightest.blocks),
        f"{at_most}{fit.limit_blocks}",
        UNKNOWN if headroom is None else f"{at_most}{headroom}",
        str(len(fit.launches)),
        UNKNOWN if rows is None else str(rows),
        *_tips(cost, fit),
    )


def _tips(cost: StaticCost, fit: DeviceFit) -> tuple[str, str]:
    """Return how many more registers and shared bytes lose a block per SM."""
    found = slack_of(cost, fit)
    if found is None:
        return UNKNOWN, UNKNOWN
    return _more(found.registers_per_thread), _more(found.smem_bytes_per_block)


def _more(point: TippingPoint | None) -> str:
    return UNKNOWN if point is None else str(point.more)


def _widths(rows: Sequence[_Row]) -> list[int]:
    """Return how wide each column is; 0 of one that is left out."""
    widths = []
    for title, *cells in zip(COLUMNS, *(row.cells for row in rows), strict=True):
        is_empty = title in HIDDEN_IF_EMPTY and set(cells) <= {"0", UNKNOWN}
        widths.append(0 if is_empty else max(map(len, (title, *cells))))
    return widths


def _aligned(cells: Sequence[str], last: str, widths: Sequence[int]) -> str:
    """Put names to the left, numbers to the right, and what has no width at the end."""
    texts = [
        text.ljust(width) if place < 2 else text.rjust(width)
        for place, (text, width) in enumerate(zip(cells, widths, strict=True))
        if width
    ]
    return "  " + "  ".join((*texts, last)).rstrip()
