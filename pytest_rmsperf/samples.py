"""Raw samples of one case in one session, and the quartiles kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf


class Timing(str, Enum):
    """How the launches whose device time is taken were queued."""

    GRAPH = "graph"  # unrolled into one graph
    QUEUED = "queued"  # one by one behind a kernel that blocks; for what cannot be captured


@dataclass(frozen=True, slots=True)
class Quartiles:
    """First quartile, median and third quartile in whole nanoseconds."""

    q1_ns: int
    median_ns: int
    q3_ns: int


@dataclass(frozen=True, slots=True)
class Samples:
    """Everything measured for one case in one session, in order of measurement.

    `device_ns` holds one figure per block: elapsed time of `launches_per_graph` launches, unrolled
    into one graph, between two events, divided by that number. `completion_ns` holds one figure
    per submission, as many in each block: host clock from before the first submission call until
    the stream synchronization returned.
    """

    case_id: str
    launches_per_graph: int
    device_ns: tuple[int, ...]
    completion_ns: tuple[int, ...]
    timing: Timing = Timing.GRAPH

    def completion_blocks(self) -> tuple[tuple[int, ...], ...]:
        """Return the completions block by block; those of block i were taken with device_ns[i]."""
        size = len(self.completion_ns) // max(1, len(self.device_ns))
        starts = range(0, size * len(self.device_ns), max(1, size))
        return tuple(self.completion_ns[start : start + size] for start in starts)


def impossible(samples: Samples) -> str | None:
    """Say what no working clock can have measured, or None: nothing, in a block too, or no time."""
    for what, values in (("device", samples.device_ns), ("completion", samples.completion_ns)):
        if not values:
            return f"no {what} samples"
        wrong = [one for one in values if not 0 < one < inf]  # NaN is not in between either
        if wrong:
            return f"a {what} sample of {wrong[0]} ns"
    blocks, completions = len(samples.device_ns), len(samples.completion_ns)
    return f"{completions} completion samples in {blocks} blocks" if completions < blocks else None


def quartiles(samples_ns: Sequence[int]) -> Quartiles:
    """Return the quartiles of at least one sample; ValueError when there is none."""
    if not samples_ns:
        raise ValueError("no samples: quartiles need at least one")
    import numpy  # here, because the plugin must load without numpy

    q1, median, q3 = numpy.percentile(samples_ns, (25, 50, 75), method="nearest")
    return Quartiles(int(q1), int(median), int(q3))
