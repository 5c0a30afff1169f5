"""The delayed kernels as other tools get them: the plugin's own launches, as calls that enqueue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from delays import delayed_cases

from pytest_rmsperf.cases import Case, Submission, load_operator
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device import _clock
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import Invocation
from pytest_rmsperf.device.memory import DeviceMemory

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array


class Enqueued(Invocation):
    """The plugin's prepared launch, for a stream of the caller's choice.

    Whoever changes the stream must let the last one finish: the launches share barrier counters.
    """

    def enqueue(self, stream: int) -> None:
        """Submit once without waiting."""
        _clock.submit(self._sequence, stream)

    def complete_once(self) -> None:
        """Submit once and wait, as a host program does."""
        stream = self.context.stream_handle
        _clock.submit(self._sequence, stream)
        _clock.synchronize(stream)


def prepare_launches(folder: Path, first: int) -> dict[str, Enqueued]:
    """Return every variant of the operator in `folder` by name, beginning with number `first`.

    They share x and y, as in a session of the gate. Raises ValueError when one of them computes
    something else than the others: a broken launch can be fast.
    """
    context = CudaContext.open()
    checker = Checker(context, context.identity().arch)
    cases = delayed_cases(load_operator(folder), Submission.DIRECT)
    cases = cases[first % len(cases) :] + cases[: first % len(cases)]
    operator, problem = cases[0].operator, cases[0].problem
    tensors = DeviceMemory.of(operator.tensors(problem), context)
    tensors.upload(dict(operator.input_sets[0].make(problem)))
    launches = {case.variant.name: _prepared(case, checker, tensors) for case in cases}
    outputs = {name: _output(one).tobytes() for name, one in launches.items()}
    if len(set(outputs.values())) != 1:
        raise ValueError(f"the outputs of {', '.join(outputs)} must agree, and do not")
    context.synchronize()
    return launches


def _prepared(case: Case, checker: Checker, tensors: DeviceMemory) -> Enqueued:
    module = checker.on_cuda(case.variant)
    plan = case.variant.plan(case.problem, module)
    memory = tensors.with_own(plan.buffers, module.context)
    return Enqueued(plan, case.submission, module, memory)


def _output(one: Enqueued) -> Array:
    one.memory.poison()
    one.run()
    return one.memory.outputs()["y"]
