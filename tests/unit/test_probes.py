"""The probes: the same submission and the same bytes as the case they stand beside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pytest_rmsperf.accuracy import Precision
from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.device.compiler import Recipe
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR as BUNDLED
from pytest_rmsperf.launch import Role, ScalarArgument, int64
from pytest_rmsperf.probes import BLOCK, OPERATOR, probe_of, tensors
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity, CompiledModule

Devices = Callable[..., Capacity]


@pytest.mark.parametrize("case", BUNDLED.cases())
def test_the_copy_probe_moves_the_bytes_of_its_case(case: Case) -> None:
    probe = probe_of(case, "copy")

    assert OPERATOR.traffic_bytes(probe.problem) == BUNDLED.traffic_bytes(case.problem)


@pytest.mark.parametrize("submission", Submission)
@pytest.mark.parametrize("variant", ["null", "copy"])
def test_a_probe_is_submitted_as_its_case(variant: str, submission: Submission) -> None:
    (case, *_) = BUNDLED.cases(submissions=(submission,))

    assert probe_of(case, variant).submission is submission


def test_cases_of_one_submission_share_the_null_probe() -> None:
    probes = {probe_of(case, "null").id for case in BUNDLED.cases()}

    assert probes == {"probe/null-direct/1", "probe/null-graph/1"}


@pytest.mark.parametrize("nbytes", [32, 64, 4096, 2**30])
def test_half_of_the_bytes_are_read_and_half_written(nbytes: int) -> None:
    sizes = {one.role: one.nbytes for one in tensors(Problem.of(bytes=nbytes))}

    assert sizes == {Role.INPUT: nbytes // 2, Role.OUTPUT: nbytes // 2}


@pytest.mark.parametrize("nbytes", [1, 31])
def test_fewer_bytes_than_a_vector_each_way_copy_one_vector(nbytes: int) -> None:
    assert OPERATOR.traffic_bytes(Problem.of(bytes=nbytes)) == 32


@pytest.mark.parametrize(("vectors", "blocks"), [(1, 1), (4096, 1), (4097, 2), (2**25, 2**13)])
def test_the_blocks_of_a_copy_just_cover_its_vectors(
    capacity: Devices, vectors: int, blocks: int
) -> None:
    plan = OPERATOR.variant("copy").plan(Problem.of(bytes=32 * vectors), capacity(2))

    (launch,) = plan.launches
    assert (launch.blocks, launch.arguments[-1]) == (blocks, int64(vectors))


def test_the_null_probe_is_one_warp_that_touches_nothing(capacity: Devices) -> None:
    plan = OPERATOR.variant("null").plan(Problem.of(bytes=1), capacity(2))

    (launch,) = plan.launches
    assert (launch.blocks, launch.threads_per_block, launch.arguments) == (1, 32, ())


def test_a_copy_is_right_when_it_equals_its_input() -> None:
    arrays = OPERATOR.input_sets[0].make(Problem.of(bytes=64))

    answer = OPERATOR.reference(arrays, Precision.FLOAT64)

    assert np.array_equal(answer["y"], arrays["x"])


def test_the_input_of_a_copy_has_the_shape_and_type_of_its_tensor() -> None:
    problem = Problem.of(bytes=4096)

    x = OPERATOR.input_sets[0].make(problem)["x"]

    assert (x.shape, x.dtype.name) == (tensors(problem)[0].shape, tensors(problem)[0].dtype)


def test_the_block_compiles_to_one_kernel_that_keeps_nothing_in_memory(
    compiled: Callable[[Recipe], CompiledModule],
) -> None:
    (kernel,) = compiled(Recipe(BLOCK.source, "sm_90")).kernels

    assert (kernel.name, kernel.local_bytes, kernel.static_smem_bytes) == ("block_kernel", 0, 0)


def test_the_block_gets_the_two_arguments_of_eight_bytes_that_its_source_declares(
    capacity: Devices,
) -> None:
    source = BLOCK.source.read_text(encoding="utf-8")

    (launch,) = BLOCK.plan(Problem.of(words=2**47, limit_ns=10**9), capacity(2)).launches

    assert "block_kernel(volatile unsigned* words, long long limit_ns)" in source
    packed = [one.packed() for one in launch.arguments if isinstance(one, ScalarArgument)]
    assert packed == [(2**47).to_bytes(8, "little"), (10**9).to_bytes(8, "little")]
