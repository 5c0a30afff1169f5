"""Orderings: a test states that one case is faster than another, by a ratio.

Both are measured in the same processes, in turns, so the statement holds or fails on any device and
needs no baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

from pytest_rmsperf.cases import Case
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.judge.evidence import (
    CONFIRMED_CHANCE,
    FIRST_CHANCE,
    Paired,
    confirming_sessions,
)
from pytest_rmsperf.samples import Samples


class OrderedFigure(str, Enum):
    """What an ordering compares."""

    DEVICE = "device time"
    COMPLETION = "host completion"


@dataclass(frozen=True, slots=True)
class Ordering:
    """The statement that `fast` is at least `ratio` times as fast as `slow`.

    The two cases must differ, and `ratio` must be at least 1; OperatorError says so otherwise.
    """

    fast: Case
    slow: Case
    ratio: float = 1.0
    figure: OrderedFigure = OrderedFigure.COMPLETION

    def __post_init__(self) -> None:
        if self.fast.id == self.slow.id:
            raise OperatorError(f"an ordering needs two cases, got {self.fast.id} twice")
        if not 1 <= self.ratio < float("inf"):
            raise OperatorError(f"the ratio of an ordering must be at least 1, got {self.ratio}")

    @property
    def id(self) -> str:
        """The pytest id, such as `op/a-graph/16x1024 < op/b-graph/16x1024 (host completion)`."""
        return f"{self.fast.id} < {self.slow.id} ({self.figure.value})"


class OrderStatus(str, Enum):
    """Whether the sessions bear an ordering out."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"  # measured on a machine in a bad state


@dataclass(frozen=True, slots=True)
class Ordered:
    """What the sessions say of an ordering; `ratios` has one entry per session.

    `unfit` says what was wrong with the machine where that makes them invalid.
    """

    ordering: Ordering
    status: OrderStatus
    ratios: tuple[float, ...]
    more_sessions: int = 0
    unfit: str | None = None

    @property
    def ratio(self) -> float:
        """The median over sessions."""
        return median(self.ratios)

    def __str__(self) -> str:
        one = self.ordering
        why = "" if self.unfit is None else f"{self.unfit}; "
        return (
            f"{self.status.value}: {why}{one.slow.id} takes {self.ratio:.2f} times the "
            f"{one.figure.value} of {one.fast.id}, stated is at least {one.ratio:.2f}\n"
            f"  sessions   {', '.join(f'{ratio:.2f}' for ratio in self.ratios)}"
        )


def session_ratio(ordering: Ordering, fast: Samples, slow: Samples) -> float:
    """Return slow / fast of one session: the median over its blocks, which took turns."""
    if ordering.figure is OrderedFigure.DEVICE:
        pairs = zip(slow.device_ns, fast.device_ns, strict=True)
        return median(above / below for above, below in pairs)
    blocks = zip(slow.completion_blocks(), fast.completion_blocks(), strict=True)
    return median(median(above) / median(below) for above, below in blocks)


def judge_ordering(
    ordering: Ordering,
    first: Sequence[float],
    second: Sequence[float] = (),
    *,
    unfit: str | None = None,
) -> Ordered:
    """Judge by each session's ratio, of which there must be one; what is in doubt is confirmed.

    It is invalid where `unfit` names a bad state of the machine. It holds when every session of the
    first round bears it out, or else the median of each of two rounds. It is violated when neither
    median does, and all sessions together lie below the stated ratio by more than chance.
    """
    ratios = (*first, *second)
    if unfit is not None:
        return Ordered(ordering, OrderStatus.INVALID, ratios, unfit=unfit)
    if not second and min(first) >= ordering.ratio:
        return Ordered(ordering, OrderStatus.HOLDS, ratios)
    shift = Paired(*(tuple(one / ordering.ratio - 1 for one in part) for part in (first, second)))
    medians = [median(part) for part in (first, second) if part]
    if second and min(medians) >= ordering.ratio:
        return Ordered(ordering, OrderStatus.HOLDS, ratios)
    allowed = CONFIRMED_CHANCE if second else FIRST_CHANCE
    below = max(medians) < ordering.ratio and shift.chance(slower=False) <= allowed
    more = 0 if second else confirming_sessions(shift) or 0
    status = OrderStatus.VIOLATED if below else OrderStatus.INCONCLUSIVE
    return Ordered(ordering, status, ratios, more_sessions=more)
