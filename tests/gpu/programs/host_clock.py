"""Time one graph by the host clock and by a plain C loop, in turn; print both medians in ns."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.problem import Problem

BLOCKS = 40
SUBMISSIONS = 100


def main(variant: str) -> None:
    context = CudaContext.open()
    checker = Checker(context, context.identity().arch)
    problem = Problem.of(rows=16, columns=131_072)
    case = next(
        one
        for one in OPERATOR.cases(problems=(problem,), submissions=(Submission.GRAPH,))
        if one.variant.name == variant
    )
    module = checker.on_cuda(case.variant)
    plan = case.variant.plan(problem, module)
    buffers = (*case.operator.tensors(problem), *plan.buffers)
    invocation = module.prepare(plan, case.submission, buffers)
    invocation.memory.upload(dict(case.operator.input_sets[0].make(problem)))
    graph = invocation.capture(1)
    plain = plain_loop()
    own: list[int] = []
    theirs: list[int] = []
    samples = (ctypes.c_int64 * SUBMISSIONS)()
    invocation.complete(SUBMISSIONS)
    for _ in range(BLOCKS):
        own += invocation.complete(SUBMISSIONS)
        handles = (ctypes.c_void_p(int(graph.handle)), ctypes.c_void_p(context.stream_handle))
        assert plain.plain_loop(*handles, SUBMISSIONS, samples) == 0
        theirs += samples
    print(json.dumps({"own_ns": median(own), "plain_ns": median(theirs)}))


def plain_loop() -> ctypes.CDLL:
    """Compile the loop against the driver that is already loaded in this process."""
    source = Path(__file__).with_name("plain_loop.c")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "plain_loop.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(library))


if __name__ == "__main__":
    main(sys.argv[1])
