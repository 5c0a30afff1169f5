"""Launch every variant once on a few short rows, for a sanitizer to watch.

Memory is left unwritten where a kernel must write it first. With an argument, launch instead the
kernel of that name from faults.cu, which a sanitizer must complain about.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_rmsperf.cases import Case, Submission, Variant
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import Invocation
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

# Three rows of two and a half tiles: several rows, several tiles, and a short one.
PROBLEM = Problem.of(rows=3, columns=10_240)
FAULTS = Path(__file__).with_name("faults.cu")


def launch_variants(checker: Checker) -> None:
    for case in OPERATOR.cases(problems=(PROBLEM,)):
        invocation = prepared(case, checker)
        invocation.run()
        invocation.run()
        print("launched", case.id, flush=True)


def prepared(case: Case, checker: Checker) -> Invocation:
    module = checker.on_cuda(case.variant)
    plan = case.variant.plan(case.problem, module)
    tensors = case.operator.tensors(case.problem)
    memory = DeviceMemory.of((*tensors, *plan.buffers), module.context, filled=False)
    memory.upload(dict(case.operator.input_sets[0].make(case.problem)))
    return Invocation(plan, case.submission, module, memory)


def launch_fault(checker: Checker, kernel: str) -> None:
    def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
        launch = KernelLaunch(kernel, 1, 64, (buffer("values"),))
        return LaunchPlan((launch,), (), (), "a fault on purpose")

    module = checker.on_cuda(Variant("fault", FAULTS, plan))
    memory = DeviceMemory.of([Buffer("values", Role.SCRATCH, (64,))], module.context, filled=False)
    Invocation(plan(PROBLEM, module), Submission.DIRECT, module, memory).run()


def main(arguments: list[str]) -> None:
    context = CudaContext.open()
    checker = Checker(context, context.identity().arch)
    if arguments:
        launch_fault(checker, arguments[0])
    else:
        launch_variants(checker)


if __name__ == "__main__":
    main(sys.argv[1:])
