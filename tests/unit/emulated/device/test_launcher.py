"""Launches as the driver makes them: in stream order, with frozen arguments, or refused."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.emulated.launcher import EmulatedInvocation
from pytest_rmsperf.emulated.library import BlockCapacity
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import (
    Buffer,
    KernelLaunch,
    LaunchPlan,
    Role,
    buffer,
    float32,
    int64,
)

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "launches.cu"

COUNTERS = Buffer("counters", Role.STATE, (1,), "uint32")

both_submissions = pytest.mark.parametrize("submission", list(Submission))


def y_of(elements: int) -> Buffer:
    return Buffer("y", Role.OUTPUT, (elements,))


def filling(value: float) -> KernelLaunch:
    return KernelLaunch("fill", 1, 32, (buffer("y"), float32(value)))


# ---- stream order and graphs -----------------------------------------------------------------


@both_submissions
def test_launches_run_in_the_order_of_the_plan(program: Program, submission: Submission) -> None:
    launches = [
        KernelLaunch("append", 1, 1, (buffer("counters"), buffer("y"), float32(value)))
        for value in (3, 1, 2)
    ]
    ready = program.prepare(*launches, buffers=(COUNTERS, y_of(3)), submission=submission)

    ready.run()

    assert ready.memory.outputs()["y"].tolist() == [3, 1, 2]


def changed_after_it_was_prepared(program: Program, submission: Submission) -> EmulatedInvocation:
    """An invocation that was prepared to fill y with 1, and whose plan then says 2."""
    ready = program.prepare(filling(1), buffers=(y_of(32),), submission=submission)
    ready.plan = LaunchPlan((filling(2),), (), (), "changed")
    return ready


def test_replay_of_a_graph_uses_the_arguments_that_it_was_captured_with(program: Program) -> None:
    ready = changed_after_it_was_prepared(program, Submission.GRAPH)

    ready.run()

    assert set(ready.memory.outputs()["y"].tolist()) == {1}


def test_direct_launch_uses_the_arguments_of_its_time(program: Program) -> None:
    ready = changed_after_it_was_prepared(program, Submission.DIRECT)

    ready.run()

    assert set(ready.memory.outputs()["y"].tolist()) == {2}


def test_graph_captured_anew_has_the_arguments_of_then(program: Program) -> None:
    ready = changed_after_it_was_prepared(program, Submission.GRAPH)

    ready.capture().replay(lambda one: program.module.launch(one, seed=0))

    assert set(ready.memory.outputs()["y"].tolist()) == {2}


@both_submissions
def test_state_is_kept_between_schedules_and_outputs_are_poisoned(
    program: Program, submission: Submission
) -> None:
    append = KernelLaunch("append", 1, 1, (buffer("counters"), buffer("y"), float32(1)))
    ready = program.prepare(append, buffers=(COUNTERS, y_of(1)), submission=submission)
    ready.run()

    with pytest.raises(GateFailure, match=r"out of bounds in append: .* writes element 1 of y"):
        next(ready.repeats())


def test_repeats_launch_once_by_each_further_schedule(program: Program) -> None:
    ready = program.prepare(filling(1), buffers=(y_of(32),))

    assert list(ready.repeats()) == [1, 1]


def test_input_that_is_written_is_named_though_its_values_stay(program: Program) -> None:
    launch = KernelLaunch("overwrite", 1, 32, (buffer("x"), buffer("y"), float32(1)))
    ready = program.prepare(launch, buffers=(Buffer("x", Role.INPUT, (32,)), y_of(32)))
    arrays = {"x": np.ones(32, np.float32)}
    ready.memory.upload(dict(arrays))

    ready.run()

    assert ready.memory.overwritten(arrays) == ["x"]


# ---- one process, many launches --------------------------------------------------------------


@pytest.fixture(params=["a fault", "a deadlock"])
def after_a_failed_launch(request: pytest.FixtureRequest, program: Program) -> Iterator[None]:
    y, one_fits = program.output(32), BlockCapacity(1, 1)
    if request.param == "a fault":
        assert program.launch("fill", y, 1.0, blocks=2) is not None
    else:
        assert program.launch("meet", program.counters(), y, blocks=2, capacity=one_fits)
    yield
    del y


@pytest.mark.usefixtures("after_a_failed_launch")
@pytest.mark.parametrize("seed", range(4))
def test_launch_after_a_failed_one_is_clean(program: Program, seed: int) -> None:
    y = program.output(320)

    assert program.launch("fill", y, 1.0, blocks=10, seed=seed) is None

    assert set(y.array().tolist()) == {1}


def test_kernels_loaded_by_one_thread_can_be_launched_by_another(program: Program) -> None:
    y = program.output(32, "int32")

    with ThreadPoolExecutor(1) as pool:
        fault = pool.submit(program.launch, "share", y).result()

    assert fault is None
    assert y.array().tolist() == list(range(31, -1, -1))


def test_buffer_that_was_dropped_is_no_longer_there(program: Program) -> None:
    address = int64(program.output(32).address)

    fault = program.launch("fill", address, 1.0)

    assert fault is not None
    assert fault.kind == "out of bounds"


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def test_dropped_buffers_give_their_memory_back(program: Program) -> None:
    before_mib = resident_mib()

    for _ in range(50):
        program.output(2**21)  # 8 MiB, and as many again for who wrote them

    assert resident_mib() - before_mib < 100


def test_memory_of_a_launch_is_given_back(program: Program) -> None:
    y = program.output(2**15)
    before_mib = resident_mib()

    for seed in range(10):
        assert program.launch("fill", y, 1.0, blocks=1024, seed=seed) is None

    assert resident_mib() - before_mib < 100
