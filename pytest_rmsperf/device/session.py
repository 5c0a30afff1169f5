"""One session of timing: every case prepared, then timed in turn, block after block."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.checking import Checker, Notify
from pytest_rmsperf.checks import TimedSession, Turn
from pytest_rmsperf.device.blocker import Blocker
from pytest_rmsperf.device.clock import DeviceClock, device_clock
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import Invocation, LoadedModule
from pytest_rmsperf.device.memory import DeviceMemory, OutOfMemory, SharedTensors
from pytest_rmsperf.device.rotation import Rotation, copies_beyond, touched_bytes
from pytest_rmsperf.device.scratch import PLACES, Scratch, keeps_state_apart, places_within
from pytest_rmsperf.environment import DeviceState
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import LaunchPlan
from pytest_rmsperf.probes import BLOCK
from pytest_rmsperf.protocol import Cache, Protocol, StopReason
from pytest_rmsperf.residency import check_residency
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.schedule import places, turn_of, why_stop

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array

# A longer silence could be taken for a hang: the worker says so often that it idles on purpose.
IDLE_MS = 1000


@dataclass(slots=True)
class TimedCase:
    """A prepared case, the output of its first launch, and the samples gathered so far."""

    case: Case
    rotation: Rotation
    clock: DeviceClock
    first_output: dict[str, Array]
    distinct: int = 1  # parts with tensors of their own; the others share those of the first
    device_ns: list[int] = field(default_factory=list)
    completion_ns: list[int] = field(default_factory=list)

    def sample(self, completions: int) -> None:
        """Add one block of samples."""
        self.reset_state()
        self.device_ns.append(self.clock.time_ns())
        self.completion_ns += self.rotation.complete(completions)

    def run_through(self, completions: int) -> None:
        """Take the path of the measurement, and keep nothing."""
        self.reset_state()
        self.clock.time_ns()
        self.rotation.complete(completions)

    def reset_state(self) -> None:
        """Zero the state: another case had its own in the same place."""
        for part in self.rotation.parts:
            part.memory.reset_state()

    def renew(self) -> None:
        """Renew scratch and state with their guards, in every copy."""
        for part in self.rotation.parts:
            part.memory.renew()

    def still_computes(self) -> bool:
        """Say whether on freshly poisoned memory each copy still gives the first launch's bits."""
        return all(self._gives_first_output(part) for part in self.rotation.parts[: self.distinct])

    def damaged(self) -> list[str]:
        """Name the buffers just outside of which something wrote, each once."""
        found = (name for part in self.rotation.parts for name in part.memory.damaged())
        return list(dict.fromkeys(found))

    def samples(self) -> Samples:
        return Samples(
            case_id=self.case.id,
            launches_per_graph=self.clock.launches,
            device_ns=tuple(self.device_ns),
            completion_ns=tuple(self.completion_ns),
            timing=self.clock.timing,
        )

    def _gives_first_output(self, part: Invocation) -> bool:
        part.memory.poison()
        part.run()
        now = part.memory.outputs()
        return all(
            now[name].tobytes() == first.tobytes() for name, first in self.first_output.items()
        )


class Session:
    """Times cases in one process, in turn, on one stream.

    `monotonic` reads a clock in s that the budget is held against; `sleep` idles for so many s.
    """

    def __init__(
        self,
        checker: Checker,
        protocol: Protocol,
        notify: Notify,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._checker = checker
        self._protocol = protocol
        self._notify = notify
        self._monotonic = monotonic
        self._sleep = sleep
        self._tensors = SharedTensors()
        self._scratch: list[Scratch] = []  # one per copy of a case's buffers
        self._clocks: dict[str, DeviceClock] = {}

    def measure(self, cases: Sequence[Case]) -> TimedSession:
        """Return the samples of every case, and in which order and until when they were taken.

        Raises DeviceError when a launch fails and GateFailure when a case, timed, no longer
        computes what its first launch did.
        """
        self._reserve(1)
        timed = [self._prepare(case) for case in cases]
        for one in timed:
            self._warm_up(one, "warm up")
        session = self._take_turns(timed)
        for one in timed:
            self._check_again(one)
        return session

    # ---- timing -----------------------------------------------------------------------------

    def _take_turns(self, timed: list[TimedCase]) -> TimedSession:
        ids = tuple(one.case.id for one in timed)
        turns: list[Turn] = []
        during: list[DeviceState] = []
        reason: StopReason | None = None
        began_s = self._monotonic()
        while reason is None:
            turn = turn_of(len(turns), ids, self._protocol.blocks)
            self._block([timed[place] for place in places(turn, len(timed))])
            turns.append(turn)
            during.append(timed[0].rotation.context.sample())
            spent_ms = 1000 * (self._monotonic() - began_s)
            reason = why_stop(self._protocol, [one.device_ns for one in timed], spent_ms)
        samples = {one.case.id: one.samples() for one in timed}
        return TimedSession(samples, ids, tuple(turns), reason, tuple(during))

    def _block(self, timed: list[TimedCase]) -> None:
        """Sample every case once."""
        if self._protocol.cooldown_ms:
            self._cool_down(timed[0])
        for one in timed:
            self._notify(one.case.id, "time")
            one.sample(self._protocol.completions_per_block)

    def _cool_down(self, first: TimedCase) -> None:
        """Leave the device idle, then drop what it is measured at while it wakes up."""
        for left_ms in range(self._protocol.cooldown_ms, 0, -IDLE_MS):
            self._notify(first.case.id, "cool down")
            self._sleep(min(left_ms, IDLE_MS) / 1000)
        self._warm_up(first, "wake up")

    def _warm_up(self, one: TimedCase, step: str) -> None:
        self._notify(one.case.id, step)
        one.run_through(self._protocol.completions_per_block)

    # ---- before and after -------------------------------------------------------------------

    def _prepare(self, case: Case) -> TimedCase:
        self._notify(case.id, "prepare")
        module = self._checker.on_cuda(case.variant)
        plan = case.variant.plan(case.problem, module)
        check_residency(plan, module.module, module, source=module.capacity_source).require()
        parts = [
            _launched(Invocation(plan, case.submission, module, memory))
            for memory in self._copies(case, plan, module.context)
        ]
        output = parts[0].memory.outputs()
        completed = len(parts)
        if self._protocol.cache is Cache.WARM:
            parts += self._other_places(case, parts[0], module)
        rotation = Rotation(parts, completed=completed)
        return TimedCase(case, rotation, self._clock(case, rotation), output, completed)

    def _other_places(
        self, case: Case, first: Invocation, module: LoadedModule
    ) -> list[Invocation]:
        """Return the case on further places for its scratch; on as many as its twin."""
        if not keeps_state_apart(first.plan.buffers):
            return []
        twin = self._clocks.get(case.id.partition("@")[0])
        if twin is not None:
            count = twin.copies
        else:
            count = places_within(min(first.complete(2)), self._protocol.graph_us)
        (tensors,) = self._tensors.copies(case, 1, module.context)
        (scratch,) = self._scratch[:1]
        return [
            _launched(
                Invocation(
                    first.plan,
                    Submission.DIRECT,
                    module,
                    tensors.with_placed(scratch.place(first.plan.buffers, number)),
                )
            )
            for number in range(1, count)
        ]

    def _clock(self, case: Case, rotation: Rotation) -> DeviceClock:
        """Return a case's clock; the twin of another commit is timed by as many launches.

        By more only where these were no whole round of its copies.
        """
        first = self._clocks.get(case.id.partition("@")[0])
        launches = None if first is None else max(first.launches, rotation.copies)
        clock = device_clock(
            rotation, self._protocol.graph_us, lambda: self._blocker, launches=launches
        )
        self._clocks[case.id] = clock
        return clock

    def _copies(self, case: Case, plan: LaunchPlan, context: CudaContext) -> list[DeviceMemory]:
        """Return the memory of a case, in as many copies as its launches need to find it cold."""
        buffers = (*case.operator.tensors(case.problem), *plan.buffers)
        nbytes = touched_bytes(plan, buffers)
        is_cold = self._protocol.cache is Cache.COLD
        l2_bytes = context.device.properties.l2_cache_size if is_cold else 0
        count = copies_beyond(l2_bytes, nbytes) if is_cold else 1
        try:
            self._reserve(count)
            tensors = self._tensors.copies(case, count, context)
            return [
                one.with_placed(scratch.place(plan.buffers))
                for one, scratch in zip(tensors, self._scratch, strict=False)
            ]
        except OutOfMemory as error:
            if count == 1:
                raise
            raise OutOfMemory(
                f"cannot be timed cold: {count} copies of {nbytes} bytes each must take turns to "
                f"leave an L2 of {l2_bytes} bytes; {error}"
            ) from error

    def _reserve(self, copies: int) -> None:
        """Make sure that there is scratch for so many copies of a case's buffers."""
        for number in range(len(self._scratch), copies):
            places = 1 if number else PLACES
            self._scratch.append(Scratch(self._checker.cuda_context, places))

    @cached_property
    def _blocker(self) -> Blocker:
        return Blocker(self._checker.on_cuda(BLOCK))

    def _check_again(self, one: TimedCase) -> None:
        self._notify(one.case.id, "check again")
        one.renew()
        one.run_through(self._protocol.completions_per_block)
        if not one.still_computes():
            raise GateFailure(
                f"wrong after timing: {one.case.id} no longer gives the bits of its first launch "
                "on poisoned memory\nmend the kernel: it depends on what an earlier launch left"
            )
        damaged = one.damaged()
        if damaged:
            raise GateFailure(
                f"wrong while timed: {one.case.id} wrote just outside of {', '.join(damaged)}\n"
                "mend the kernel: it stays inside on the first launches, and not on later ones"
            )


def _launched(part: Invocation) -> Invocation:
    """Launch on memory as good as new, which finds out what cannot be launched."""
    part.memory.renew()
    part.memory.poison()
    part.run()
    return part
