"""Raw samples of one case in one session, and the quartiles kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quartiles:
    """First quartile, median and third quartile in whole nanoseconds."""

    q1_ns: int
    median_ns: int
    q3_ns: int


@dataclass(frozen=True, slots=True)
class Samples:
    """Everything measured for one case in one session, in order of measurement.

    `device_ns` holds one figure per block: elapsed time of a graph of `launches_per_graph`
    unrolled launches between two events, divided by that number. `completion_ns` holds one figure
    per submission: host clock from before the first submission call until the stream
    synchronization returned.
    """

    case_id: str
    launches_per_graph: int
    device_ns: tuple[int, ...]
    completion_ns: tuple[int, ...]


def impossible(samples: Samples) -> str | None:
    """Say what no working clock can have measured, or None: nothing at all, or no time at all."""
    for what, values in (("device", samples.device_ns), ("completion", samples.completion_ns)):
        if not values:
            return f"no {what} samples"
        if min(values) <= 0:
            return f"a {what} sample of {min(values)} ns"
    return None


def quartiles(samples_ns: Sequence[int]) -> Quartiles:
    """Return the quartiles of at least one sample; ValueError when there is none."""
    if not samples_ns:
        raise ValueError("no samples: quartiles need at least one")
    import numpy  # here, because the plugin must load without numpy

    q1, median, q3 = numpy.percentile(samples_ns, (25, 50, 75), method="nearest")
    return Quartiles(int(q1), int(median), int(q3))
