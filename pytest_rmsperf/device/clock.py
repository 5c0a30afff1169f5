"""Device time per launch: many launches between two events, which the device runs by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from math import inf
from typing import TYPE_CHECKING, TypeVar

from pytest_rmsperf.device.blocker import LIMIT_MS, Blocker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import Invocation, NotCaptured
from pytest_rmsperf.device.rotation import Rotation
from pytest_rmsperf.errors import DeviceError
from pytest_rmsperf.samples import Timing

if TYPE_CHECKING:
    from cuda.core import Event

Launched = Invocation | Rotation

# Launches in the graph that estimates how many the timed graph should hold.
ESTIMATE_LAUNCHES = 8
# The smallest of so many estimates counts. By one alone, taken while the device woke up, a null
# kernel got 64 launches instead of 512, and read 558 ns instead of 508 (H200).
ESTIMATES = 5
# One launch must be found longer than the graph so often before it is timed alone.
SLOW_READINGS = 2
MOST_LAUNCHES = 512

# A stream takes 1024 kernel launches; the next submission waits until one has run.
MOST_QUEUED = 512
ATTEMPTS = 3


class UnrolledLaunches:
    """A case's launches repeated in one graph, which the device runs without the host.

    The graph is made anew for each figure, and is gone before the next case's is made. A graph has
    memory of its own, in which the driver keeps the state of grid-wide barriers, and where it lies
    is worth up to 0.8 % of a kernel that has two (H200, 2026-12-01): all through a session, if
    each case kept one graph.
    """

    timing = Timing.GRAPH

    def __init__(self, launched: Launched, launches: int) -> None:
        self._launched = launched
        self.launches = launches

    @property
    def copies(self) -> int:
        return self._launched.copies

    @classmethod
    def lasting(cls, launched: Launched, graph_us: int) -> UnrolledLaunches:
        """Unroll as many launches as last about `graph_us`; NotCaptured where that cannot be."""
        most = max(MOST_LAUNCHES, launched.copies)
        return _lasting(lambda launches: cls(launched, launches), graph_us, launched.copies, most)

    def time_ns(self) -> int:
        """Return device time per launch in ns.

        The graph runs twice and the second run is timed: the device is still busy with the first
        when the second is submitted, so no host gap falls between the events. Raises NotCaptured.
        """
        context = self._launched.context
        start, end = _events(context)
        with closing(self._launched.capture(self.launches)) as graph:
            graph.launch(context.stream)
            context.stream.record(start)
            graph.launch(context.stream)
            context.stream.record(end)
            context.synchronize()
        return _per_launch_ns(start, end, self.launches)


class QueuedLaunches:
    """A case's launches one by one, all queued before the first may run.

    For what cannot be captured. The method is that of nvbench's batch measurements: a kernel
    blocks the stream until everything is queued behind it.
    """

    timing = Timing.QUEUED

    def __init__(self, launched: Launched, launches: int, blocker: Blocker) -> None:
        self._launched = launched
        self.launches = launches
        self._blocker = blocker

    @property
    def copies(self) -> int:
        return self._launched.copies

    @classmethod
    def lasting(cls, launched: Launched, graph_us: int, blocker: Blocker) -> QueuedLaunches:
        """Queue as many launches as last about `graph_us`.

        DeviceError when the stream does not take one round of the case's copies.
        """
        each = len(launched.plan.launches)
        most = (MOST_QUEUED - 1) // each
        if launched.copies > most:
            raise DeviceError(
                f"cannot be timed: {launched.copies} times {each} launches must be queued "
                f"together, and {MOST_QUEUED - 1} can be; it cannot be captured into a graph either"
            )
        return _lasting(
            lambda launches: cls(launched, launches, blocker), graph_us, launched.copies, most
        )

    def time_ns(self) -> int:
        """Return device time per launch in ns.

        DeviceError when the launches could not be queued before the blocking kernel gave up.
        """
        for _ in range(ATTEMPTS):
            per_launch_ns = self._attempt_ns()
            if not self._blocker.gave_up:
                return per_launch_ns
        raise DeviceError(
            f"cannot be timed: {self.launches} launches were not queued within {LIMIT_MS} ms, "
            f"{ATTEMPTS} times; something makes each launch wait for the one before it: end the "
            "profiler, or unset CUDA_LAUNCH_BLOCKING"
        )

    def _attempt_ns(self) -> int:
        """Launch one round, so that the caches are as they will be, then time what is queued."""
        context = self._launched.context
        start, end = _events(context)
        self._launched.submit(self._launched.copies)
        with self._blocker.holding():
            context.stream.record(start)
            self._launched.submit(self.launches)
            context.stream.record(end)
        context.synchronize()
        return _per_launch_ns(start, end, self.launches)


DeviceClock = UnrolledLaunches | QueuedLaunches


def device_clock(
    launched: Launched,
    graph_us: int,
    blocker: Callable[[], Blocker],
    *,
    launches: int | None = None,
) -> DeviceClock:
    """Return a clock for a case: by a graph, or, where it cannot be captured, by a queue.

    `blocker` is called in the second case alone. `launches` says how many a graph is to hold,
    however long they last: by another number a kernel reads some thousandths differently.
    """
    try:
        if launches is not None:
            clock = UnrolledLaunches(launched, launches)
            clock.time_ns()  # which finds out whether it can be captured
            return clock
        return UnrolledLaunches.lasting(launched, graph_us)
    except NotCaptured:
        pass  # and go on outside, where the half-made graph is gone
    return QueuedLaunches.lasting(launched, graph_us, blocker())


Clock = TypeVar("Clock", UnrolledLaunches, QueuedLaunches)


def _lasting(make: Callable[[int], Clock], graph_us: int, least: int, most: int) -> Clock:
    """Return a clock of as many launches as last about `graph_us`, rounded down to a power of two.

    A power of two, so that a small change of speed does not change how it is measured. `least` is
    one, and only the least number of a case's launches is ever run when these last that long.
    """
    graph_ns = graph_us * 1000
    shortest = make(least)
    if all(shortest.time_ns() * least >= graph_ns for _ in range(SLOW_READINGS)):
        return shortest
    estimate = make(min(most, max(least, ESTIMATE_LAUNCHES)))
    per_launch_ns = max(1, min(estimate.time_ns() for _ in range(ESTIMATES)))
    wanted = min(most, max(least, graph_ns // per_launch_ns))
    return make(1 << (wanted.bit_length() - 1))


def _events(context: CudaContext) -> tuple[Event, Event]:
    from cuda.core import EventOptions

    options = EventOptions(timing_enabled=True)
    return context.device.create_event(options), context.device.create_event(options)


def _per_launch_ns(start: Event, end: Event, launches: int) -> int:
    elapsed_ms: float = end - start
    if not 0 <= elapsed_ms < inf:
        raise DeviceError(f"two events are {elapsed_ms} ms apart: the device timer is broken")
    return round(elapsed_ms * 1_000_000 / launches)
