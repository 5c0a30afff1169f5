"""Run every variant on the device and emulated, and print how far their outputs are apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.emulated.device import EmulatedDevice
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.kernels.rms_scaled_softmax import COLUMNS, OPERATOR
from pytest_rmsperf.numerics import prepare, relative_error
from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array

PROBLEM = Problem.of(rows=2, columns=COLUMNS)


def output(checker: Checker, case: Case) -> Array:
    """Return y of one launch of the case on the checker's device."""
    arrays = OPERATOR.input_sets[0].make(case.problem)
    prepared = prepare(case, case.problem, checker.loaded(case.variant), arrays)
    prepared.run()
    return prepared.memory.outputs()["y"]


def main() -> None:
    context = CudaContext.open()
    arch = context.identity().arch
    emulated = EmulatedDevice.open(profile_for_arch(arch), Schedules())
    here, there = Checker(emulated, arch), Checker(context, arch)
    apart = {}
    for variant in OPERATOR.variants:
        case = Case(OPERATOR, variant, Submission.GRAPH, PROBLEM)
        error = relative_error(output(here, case), output(there, case), OPERATOR.tolerance.floor)
        apart[variant.name] = float(error.max())
    print(json.dumps({"problem": PROBLEM.label, "device": context.identity().name, "apart": apart}))


if __name__ == "__main__":
    main()
