"""The schedule of a session: whose turn it is in each block, and when there were blocks enough.

Pure: the clock's reading comes in, and an answer goes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from pytest_rmsperf.checks import Turn
from pytest_rmsperf.protocol import LEAST_BLOCKS, Protocol, StopReason
from pytest_rmsperf.samples import quartiles

# The quartiles of a normal distribution lie 1.349 standard deviations apart, and its median
# scatters 1.2533 times as much as its mean (sqrt(pi / 2)).
SIGMAS_BETWEEN_QUARTILES = 1.349
MEDIAN_OVER_MEAN = 1.2533
# Samples are whole ns, so no figure is known better than to half of one.
RESOLUTION_NS = 0.5


def turn_of(number: int, ids: Sequence[str], blocks: int) -> Turn:
    """Return the turn of block `number` of `blocks`, counted from 0.

    Each start serves two blocks, there and back, and the starts are spread over all cases. A case
    and the same case of another commit, which stand side by side, stay so and swap places.
    """
    starts = _starts(ids)
    step = max(1, len(starts) // -(-blocks // 2))
    return Turn(starts[number // 2 * step % len(starts)], backwards=number % 2 == 1)


def places(turn: Turn, count: int) -> list[int]:
    """Return the places of `count` cases in the order of a turn.

    Forwards from its start round to the place before it; backwards the same way from its end.
    """
    forwards = [*range(turn.start, count), *range(turn.start)]
    return forwards[::-1] if turn.backwards else forwards


def why_stop(
    protocol: Protocol, device_ns: Sequence[Sequence[int]], spent_ms: float
) -> StopReason | None:
    """Say why a session takes no more blocks, or None while it goes on.

    `device_ns` holds for each case one figure per block so far, of which there is at least one.
    """
    blocks = min(len(samples) for samples in device_ns)
    if blocks >= protocol.blocks:
        return StopReason.BLOCKS
    if blocks >= LEAST_BLOCKS and all(is_precise(one, protocol.precision_ppm) for one in device_ns):
        return StopReason.PRECISION
    return StopReason.BUDGET if spent_ms >= protocol.budget_ms else None


def is_precise(samples_ns: Sequence[int], precision_ppm: int) -> bool:
    """Say whether the median is known to a share of itself; to no share (0) it never is."""
    median_ns = quartiles(samples_ns).median_ns
    if precision_ppm < 1 or median_ns < 1:
        return False
    return standard_error_ns(samples_ns) <= max(RESOLUTION_NS, precision_ppm * median_ns / 1e6)


def standard_error_ns(samples_ns: Sequence[int]) -> float:
    """Return the standard error of the median, from the quartiles, which outliers do not move."""
    found = quartiles(samples_ns)
    sigma_ns = (found.q3_ns - found.q1_ns) / SIGMAS_BETWEEN_QUARTILES
    return MEDIAN_OVER_MEAN * sigma_ns / sqrt(len(samples_ns))


def _starts(ids: Sequence[str]) -> list[int]:
    """Return the places at which a turn may start: not between a case and its twin."""
    pairs = zip(("", *ids), ids, strict=False)
    return [place for place, (before, one) in enumerate(pairs) if not _are_twins(before, one)]


def _are_twins(one: str, other: str) -> bool:
    return one.partition("@")[0] == other.partition("@")[0]
