"""A case on several copies of its buffers, used in turn, so that none is in the L2 cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import Invocation, captured
from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.launch import Buffer, BufferArgument, LaunchPlan

if TYPE_CHECKING:
    from cuda.core.graph import Graph

# 25 KiB a launch pass through twice the 50 MiB of an H100's L2 in as many launches.
MOST_COPIES = 4096


def touched_bytes(plan: LaunchPlan, buffers: Sequence[Buffer]) -> int:
    """Return the bytes of all buffers that the launches of a plan name, each counted once."""
    named = {
        argument.name
        for launch in plan.launches
        for argument in launch.arguments
        if isinstance(argument, BufferArgument)
    }
    return sum(one.nbytes for one in buffers if one.name in named)


def copies_beyond(l2_bytes: int, bytes_per_launch: int) -> int:
    """Return how many copies a case needs so that each is out of an L2 when its turn comes again.

    Between two launches on one copy those on the others touch more than twice the L2. A power of
    two, so that the launches of a graph, a power of two as well, are whole rounds: its next replay
    then goes on where the last one ended. A launch that touches nothing needs one copy. PlanError
    when there would be more than MOST_COPIES.
    """
    if not bytes_per_launch:
        return 1
    others = 2 * l2_bytes // bytes_per_launch + 1
    copies = 1 << others.bit_length()
    if copies > MOST_COPIES:
        raise PlanError(
            f"cannot be timed cold: a launch touches {bytes_per_launch} bytes, so that {copies} "
            f"copies would have to take turns to leave an L2 of {l2_bytes} bytes; the most are "
            f"{MOST_COPIES}\ntime it warm, or on a larger problem: --rmsperf-cache=warm"
        )
    return copies


class Rotation:
    """Invocations of one case on copies of its buffers, used in turn as if they were one.

    Graphs and completions start at the first copy. So completions find every copy cold only right
    after a graph or a queue of whole rounds, which ends at the last. `completed` says how many
    copies completions go through: all, where it is not given.
    """

    def __init__(self, parts: Sequence[Invocation], *, completed: int | None = None) -> None:
        self.parts = tuple(parts)
        self._completed = self.parts[:completed]

    @property
    def copies(self) -> int:
        return len(self.parts)

    @property
    def plan(self) -> LaunchPlan:
        return self.parts[0].plan

    @property
    def context(self) -> CudaContext:
        return self.parts[0].context

    def submit(self, count: int, stream: int | None = None) -> None:
        """Submit `count` times launch by launch, each on the next copy; see Invocation.submit."""
        for number in range(count):
            self.parts[number % self.copies].submit(1, stream)

    def capture(self, repeats: int) -> Graph:
        """Return a graph of `repeats` invocations, each on the next copy; see `captured`."""
        return captured(self.context, lambda stream: self.submit(repeats, stream))

    def complete(self, count: int) -> list[int]:
        """Submit and wait `count` times; return the host completion times in ns.

        One copy alone is submitted by the native clock without a return to the interpreter.
        """
        if len(self._completed) == 1:
            return self._completed[0].complete(count)
        turns = (self._completed[number % len(self._completed)] for number in range(count))
        return [time_ns for part in turns for time_ns in part.complete(1)]
