"""Check every variant on short, long, ragged and many rows; print the cases that fail."""

from __future__ import annotations

import json

from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.problem import Problem

# One vector; less than a warp's, a block's, a tile's; a tile and one vector more; several tiles
# with a short one; more rows than one launch holds (three cooperative launches).
SHAPES = (
    (1, 4),
    (5, 124),
    (3, 1020),
    (2, 4092),
    (2, 4096),
    (2, 4100),
    (7, 33_000),
    (65, 131_072),
    (2200, 64),
)


def ignore(case_id: str, step: str) -> None:
    """Take a step's announcement and do nothing with it."""


def main() -> None:
    context = CudaContext.open()
    checker = Checker(context, context.identity().arch)
    problems = tuple(Problem.of(rows=rows, columns=columns) for rows, columns in SHAPES)
    checked = [
        checker.check(case, ignore, numerics=True) for case in OPERATOR.cases(problems=problems)
    ]
    failures = {one.case_id: one.failure.message for one in checked if one.failure}
    launches = sum(one.numerics.launches for one in checked if one.numerics)
    print(json.dumps({"cases": len(checked), "launches": launches, "failures": failures}))


if __name__ == "__main__":
    main()
