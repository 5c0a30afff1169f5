"""One session of timing: every case prepared, then timed in turn, block after block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checking import Checker, Notify
from pytest_rmsperf.device.clock import UnrolledLaunches
from pytest_rmsperf.device.launcher import Invocation
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.measurement import Protocol
from pytest_rmsperf.resources import check_residency
from pytest_rmsperf.samples import Samples

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array


@dataclass(slots=True)
class TimedCase:
    """A prepared case, the output of its first launch, and the samples gathered so far."""

    case: Case
    invocation: Invocation
    unrolled: UnrolledLaunches
    first_output: dict[str, Array]
    device_ns: list[int] = field(default_factory=list)
    completion_ns: list[int] = field(default_factory=list)

    def sample(self, completions: int) -> None:
        """Add one block of samples."""
        self.device_ns.append(self.unrolled.time_ns())
        self.completion_ns += self.invocation.complete(completions)

    def forget(self) -> None:
        """Drop what was sampled: the warm-up takes the same path as the measurement."""
        self.device_ns.clear()
        self.completion_ns.clear()

    def still_computes(self) -> bool:
        """Say whether a launch on freshly poisoned memory still gives the first launch's bits."""
        self.invocation.memory.poison()
        self.invocation.run()
        now = self.invocation.memory.outputs()
        return all(
            now[name].tobytes() == first.tobytes() for name, first in self.first_output.items()
        )

    def samples(self) -> Samples:
        return Samples(
            case_id=self.case.id,
            launches_per_graph=self.unrolled.launches,
            device_ns=tuple(self.device_ns),
            completion_ns=tuple(self.completion_ns),
        )


class Session:
    """Times cases in one process; tensors are shared by all cases of the same problem."""

    def __init__(self, checker: Checker, protocol: Protocol, notify: Notify) -> None:
        self._checker = checker
        self._protocol = protocol
        self._notify = notify
        self._tensors: dict[tuple[str, str], DeviceMemory] = {}

    def measure(self, cases: Sequence[Case]) -> dict[str, Samples]:
        """Return the samples of every case by its id.

        Raises DeviceError when a launch fails and GateFailure when a case, timed, no longer
        computes what its first launch did.
        """
        timed = [self._prepare(case) for case in cases]
        self._block(timed, turn=0)
        for one in timed:
            one.forget()
        for turn in range(self._protocol.blocks):
            self._block(timed, turn)
        for one in timed:
            self._check_again(one)
        return {one.case.id: one.samples() for one in timed}

    def _block(self, timed: list[TimedCase], turn: int) -> None:
        """Sample every case once, starting at another case each turn."""
        start = turn * max(1, len(timed) // self._protocol.blocks) % max(1, len(timed))
        for one in timed[start:] + timed[:start]:
            self._notify(one.case.id, "time")
            one.sample(self._protocol.completions_per_block)

    def _prepare(self, case: Case) -> TimedCase:
        self._notify(case.id, "prepare")
        module = self._checker.on_cuda(case.variant)
        plan = case.variant.plan(case.problem, module)
        check_residency(plan, module.module, module, source=module.capacity_source).require()
        memory = self._shared_tensors(case).with_own(plan.buffers, module.context)
        invocation = Invocation(plan, case.submission, module, memory)
        memory.poison()
        invocation.run()
        output = memory.outputs()
        unrolled = UnrolledLaunches.lasting(invocation, self._protocol.graph_us)
        return TimedCase(case, invocation, unrolled, output)

    def _shared_tensors(self, case: Case) -> DeviceMemory:
        key = (str(case.operator.folder), case.problem.label)
        if key not in self._tensors:
            context = self._checker.on_cuda(case.variant).context
            tensors = DeviceMemory.of(case.operator.tensors(case.problem), context)
            tensors.upload(dict(case.operator.input_sets[0].make(case.problem)))
            self._tensors[key] = tensors
        return self._tensors[key]

    def _check_again(self, one: TimedCase) -> None:
        self._notify(one.case.id, "check again")
        if not one.still_computes():
            raise GateFailure(
                f"wrong after timing: {one.case.id} no longer gives the bits of its first launch "
                "on poisoned memory\nmend the kernel: it depends on what an earlier launch left"
            )
        damaged = one.invocation.memory.damaged()
        if damaged:
            raise GateFailure(
                f"wrong while timed: {one.case.id} wrote just outside of {', '.join(damaged)}\n"
                "mend the kernel: it stays inside on the first launches, and not on later ones"
            )
