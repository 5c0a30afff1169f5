"""Timing of an invocation: device time of unrolled launches, and host completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rmsperf.device.launcher import Invocation
from pytest_rmsperf.errors import DeviceError

if TYPE_CHECKING:
    from cuda.core.graph import Graph

# Launches in the graph that estimates how many the timed graph should hold.
ESTIMATE_LAUNCHES = 8
# The smallest of so many estimates counts. By one alone, taken while the device woke up, a null
# kernel got 64 launches instead of 512, and read 558 ns instead of 508 (H200).
ESTIMATES = 5
MOST_LAUNCHES = 512


class UnrolledLaunches:
    """A case's launches repeated in one graph, which the device runs without the host."""

    def __init__(self, invocation: Invocation, launches: int) -> None:
        self._invocation = invocation
        self.launches = launches
        self._graph: Graph = invocation.capture(launches)

    @classmethod
    def lasting(cls, invocation: Invocation, graph_us: int) -> UnrolledLaunches:
        """Unroll as many launches as last about `graph_us`, rounded down to a power of two.

        A power of two, so that a small change of speed does not change how it is measured.
        """
        estimate = cls(invocation, ESTIMATE_LAUNCHES)
        per_launch_ns = max(1, min(estimate.time_ns() for _ in range(ESTIMATES)))
        wanted = min(MOST_LAUNCHES, max(1, graph_us * 1000 // per_launch_ns))
        return cls(invocation, 1 << (wanted.bit_length() - 1))

    def time_ns(self) -> int:
        """Return device time per launch in ns.

        The graph runs twice and the second run is timed: the device is still busy with the first
        when the second is submitted, so no host gap falls between the events.
        """
        from cuda.core import EventOptions

        context = self._invocation.context
        options = EventOptions(timing_enabled=True)
        start, end = (context.device.create_event(options) for _ in range(2))
        self._graph.launch(context.stream)
        context.stream.record(start)
        self._graph.launch(context.stream)
        context.stream.record(end)
        context.synchronize()
        elapsed_ms: float = end - start
        if not elapsed_ms >= 0:
            raise DeviceError(f"two events are {elapsed_ms} ms apart: the device timer is broken")
        return round(elapsed_ms * 1_000_000 / self.launches)
