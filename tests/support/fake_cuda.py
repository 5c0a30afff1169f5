"""A CUDA device of one stream on which time is only counted, and cases that run on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from pytest_rmsperf.device.launcher import NotCaptured
from pytest_rmsperf.environment import DeviceState
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan


@dataclass
class FakeEvent:
    """A moment of the stream it was recorded on."""

    at_ns: float = 0

    def __sub__(self, other: FakeEvent) -> float:
        return (self.at_ns - other.at_ns) / 1e6


@dataclass
class FakeStream:
    """Runs what it is given at once; `log` says what that was."""

    log: list[str] = field(default_factory=list)
    now_ns: float = 0

    def record(self, event: FakeEvent) -> None:
        self.log.append("record")
        event.at_ns = self.now_ns


@dataclass
class FakeContext:
    """A context that is its own device; `l2_cache_size` is in bytes."""

    l2_cache_size: int = 1000
    stream: FakeStream = field(default_factory=FakeStream)

    @property
    def device(self) -> FakeContext:
        return self

    @property
    def properties(self) -> FakeContext:
        return self

    @property
    def log(self) -> list[str]:
        return self.stream.log

    def create_event(self, options: Any) -> FakeEvent:
        assert options.timing_enabled
        return FakeEvent()

    def synchronize(self) -> None:
        self.log.append("wait")

    def sample(self) -> DeviceState:
        self.log.append("sample")
        return DeviceState(sm_mhz=1980)


@dataclass
class FakeCase:
    """Stands for an invocation, or for a rotation of `copies`; launches take `launch_ns` in turn.

    `launched` are the copies that ran, in order.
    """

    launch_ns: Iterator[float] = field(default_factory=lambda: repeat(8000))
    copies: int = 1
    kernels: int = 1
    can_be_captured: bool = True
    context: FakeContext = field(default_factory=FakeContext)
    launched: list[int] = field(default_factory=list)

    @property
    def plan(self) -> LaunchPlan:
        launches = (KernelLaunch("k", 1, 32, ()),) * self.kernels
        return LaunchPlan(launches, (), (), "a test asks for it")

    def submit(self, count: int) -> None:
        self.context.log.append(f"queue {count}")
        self.run(self.context.stream, count)

    def capture(self, repeats: int) -> FakeGraph:
        if not self.can_be_captured:
            raise NotCaptured("cannot be captured into a graph: the driver says no")
        return FakeGraph(self, repeats)

    def complete(self, count: int) -> list[int]:
        self.context.log.append(f"complete {count}")
        self.run(self.context.stream, count)
        return [14_000] * count

    def run(self, stream: FakeStream, count: int) -> None:
        """Let the stream's time pass by so many launches."""
        self.launched += [number % self.copies for number in range(count)]
        stream.now_ns += sum(next(self.launch_ns) for _ in range(count))


@dataclass
class FakeGraph:
    """A graph of `repeats` launches."""

    case: FakeCase
    repeats: int

    def close(self) -> None:
        self.case.context.log.append(f"close graph of {self.repeats}")

    def launch(self, stream: FakeStream) -> None:
        stream.log.append(f"graph of {self.repeats}")
        self.case.run(stream, self.repeats)


@dataclass
class FakeBlocker:
    """Holds the stream of a case; gives up too early as often as `early` says."""

    context: FakeContext
    early: int = 0
    held: int = 0

    @contextmanager
    def holding(self) -> Iterator[None]:
        self.held += 1
        self.context.log.append("block")
        yield
        self.context.log.append("let go")

    @property
    def gave_up(self) -> bool:
        return self.held <= self.early
