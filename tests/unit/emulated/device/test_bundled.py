"""The bundled variants are clean under every schedule, and right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_rmsperf.accuracy import Precision
from pytest_rmsperf.cases import Submission, Variant
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays
    from tests.unit.emulated.device.conftest import Program

# Three whole tiles and one vector of a fourth.
PROBLEM = Problem.of(rows=3, columns=3 * 4096 + 4)
SEEDS = range(20)

each_variant = pytest.mark.parametrize("variant", OPERATOR.variants, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def compiled(compile_variant: Callable[..., Program]) -> Callable[[Variant], Program]:
    """Compile each source once."""
    made: dict[object, Program] = {}

    def of(variant: Variant) -> Program:
        if variant.source not in made:
            made[variant.source] = compile_variant(variant)
        return made[variant.source]

    return of


@pytest.fixture(scope="module")
def inputs() -> Arrays:
    made: Arrays = OPERATOR.input_sets[0].make(PROBLEM)
    return made


@pytest.fixture(scope="module")
def reference(inputs: Arrays) -> Arrays:
    made: Arrays = OPERATOR.reference(inputs, Precision.FLOAT64)
    return made


@each_variant
def test_variant_is_clean_right_and_gives_the_same_bits_under_20_schedules(
    compiled: Callable[[Variant], Program], variant: Variant, inputs: Arrays, reference: Arrays
) -> None:
    module = compiled(variant).module
    plan = variant.plan(PROBLEM, module)
    buffers = (*OPERATOR.tensors(PROBLEM), *plan.buffers)
    ready = module.prepare(plan, Submission.GRAPH, buffers)
    ready.memory.upload(dict(inputs))

    seen = set()
    for seed in SEEDS:
        ready.memory.poison()
        ready.capture().replay(partial(module.launch, seed=seed))
        ready.memory.require_outputs_written()
        seen.add(ready.memory.outputs()["y"].tobytes())

    want = np.asarray(reference["y"], np.float64)
    error = np.abs(np.asarray(ready.memory.outputs()["y"], np.float64) - want)
    allowed = OPERATOR.tolerance.relative * np.maximum(np.abs(want), OPERATOR.tolerance.floor)
    assert len(seen) == 1
    assert (error <= allowed).all()
