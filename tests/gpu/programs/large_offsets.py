"""Launch each variant on more than 2^31 elements; print the error in the first and last row."""

from __future__ import annotations

import json

import numpy as np

from pytest_rmsperf.accuracy import Precision
from pytest_rmsperf.cases import Submission
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import Invocation
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.numerics import relative_error
from pytest_rmsperf.problem import Problem

COLUMNS = 131_072
ROWS = 2**31 // COLUMNS + 1  # the last row begins at element 2^31
VARIANTS = ("unfused", "local_fusion", "megakernel_row", "megakernel_grid")


def main() -> None:
    context = CudaContext.open()
    checker = Checker(context, context.identity().arch)
    problem = Problem.of(rows=ROWS, columns=COLUMNS)
    tensors = DeviceMemory.of(OPERATOR.tensors(problem), context)
    ends = OPERATOR.input_sets[0].make(Problem.of(rows=2, columns=COLUMNS))["x"]
    x, y = (tensors[name]._view() for name in ("x", "y"))
    x[...] = 0
    x[0].set(ends[0])
    x[-1].set(ends[1])
    want = OPERATOR.reference({"x": ends}, Precision.FLOAT64)["y"]
    errors = {}
    for name in VARIANTS:
        module = checker.on_cuda(OPERATOR.variant(name))
        plan = OPERATOR.variant(name).plan(problem, module)
        memory = tensors.with_own(plan.buffers, context)
        memory.poison()
        Invocation(plan, Submission.DIRECT, module, memory).run()
        got = np.stack([y[0].get(), y[-1].get()])
        errors[name] = float(relative_error(got, want, OPERATOR.tolerance.floor).max())
    print(json.dumps({"elements": ROWS * COLUMNS, "errors": errors}))


if __name__ == "__main__":
    main()
