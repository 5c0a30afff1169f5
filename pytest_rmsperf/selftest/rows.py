"""What a selftest found, as rows of a table, and what the rows amount to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

COLUMNS = ("planted", "mode", "expected", "found", "told right")
MOST_LETTERS = 80  # of what was found: the rest of a message adds nothing to a table


class Mark(str, Enum):
    """What a row says of the gate."""

    RIGHT = "yes"
    MISSED = "MISSED"
    SHOWN = "-"  # too small to be demanded: for information
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing planted, and what the gate said of it in one mode."""

    planted: str
    mode: str  # "check", "stored" or "paired"
    expected: str
    found: str
    mark: Mark

    @property
    def cells(self) -> tuple[str, ...]:
        # Why there is no device stands in the last line, once.
        found = self.found.partition(" (")[0] if self.mark is Mark.NOT_RUN else self.found
        return (self.planted, self.mode, self.expected, shortened(found), self.mark.value)


def shortened(text: str) -> str:
    """Return the text, its end left out where it is too long for the table."""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."


def table(rows: Sequence[Row]) -> list[str]:
    """Return aligned lines, the names of the columns first."""
    lines = [COLUMNS, *(one.cells for one in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def passed(rows: Sequence[Row], *, needs_gpu: bool) -> bool:
    """Say whether something was demanded and nothing missed, nor left out where a GPU is needed."""
    marks = [one.mark for one in rows]
    left_out = needs_gpu and Mark.NOT_RUN in marks
    return Mark.RIGHT in marks and Mark.MISSED not in marks and not left_out


def summary(rows: Sequence[Row], *, needs_gpu: bool) -> list[str]:
    """Return the last lines: how many were told right, else which were not and what to do."""
    missed = [one for one in rows if one.mark is Mark.MISSED]
    right = sum(one.mark is Mark.RIGHT for one in rows)
    if missed:
        names = ", ".join(f"{one.planted} ({one.mode})" for one in missed)
        return [f"selftest: MISSED {len(missed)} of {right + len(missed)}: {names}", REMEDY]
    left_out = _left_out(rows)
    if not right:
        return [f"selftest: NOTHING was tried{left_out}", GPU_REMEDY]
    told = f"selftest: {right} of {right} planted cases told right{left_out}"
    return [told] if passed(rows, needs_gpu=needs_gpu) else [told, GPU_REMEDY]


REMEDY = (
    "do not trust the gate on this machine: end what else runs there and let nothing hold its "
    "clocks or power down, then run this again; what a quiet machine misses is a bug of the plugin"
)
GPU_REMEDY = (
    "FAILED: a GPU was asked for, and what needs one was not run: mend what keeps the device away, "
    "or run without that option"
)


def _left_out(rows: Sequence[Row]) -> str:
    absent = [one.found for one in rows if one.mark is Mark.NOT_RUN]
    return f", {len(absent)} not run: {absent[0]}" if absent else ""
