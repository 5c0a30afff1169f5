"""What threads do wrong together is found: at barriers, in memory used twice, in what all leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import Buffer, KernelLaunch, Role, buffer, int32

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "faults.cu"


# ---- barriers --------------------------------------------------------------------------------


def test_two_places_of_one_block_barrier_are_both_told(program: Program) -> None:
    fault = program.launch("split_barrier", program.floats(32), program.output(32), 1)

    assert fault is not None
    own, other = program.line("fault: split_barrier"), program.line("the other barrier")
    assert fault.text == (
        f"reaches __syncthreads() at {program.source}:{own}, while 16 of 32 threads of its block, "
        f"thread 0 first, wait at the one at {program.source}:{other}"
    )


def test_one_place_of_a_block_barrier_is_clean(program: Program) -> None:
    assert program.launch("split_barrier", program.floats(32), program.output(32), 0) is None


@pytest.mark.parametrize("seed", range(4))
def test_threads_that_left_are_not_waited_for(program: Program, seed: int) -> None:
    fault = program.launch("leave_early", program.floats(32), program.output(32), 7, seed=seed)

    assert fault is None


def test_grid_barrier_of_an_ordinary_launch_is_a_fault(program: Program) -> None:
    fault = program.launch("sync_grid", program.floats(32), program.output(32), 0)

    assert fault is not None
    assert fault.kind == "invalid barrier"
    assert "in a launch that is not cooperative" in fault.text


def test_grid_barrier_of_a_cooperative_launch_is_clean(program: Program) -> None:
    fault = program.launch(
        "sync_grid", program.floats(32), program.output(32), 0, blocks=3, cooperative=True
    )

    assert fault is None


# ---- lanes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", [16, 30])
def test_some_lanes_may_exchange_while_the_others_wait_for_all(
    program: Program, first: int, seed: int
) -> None:
    y = program.output(32)

    fault = program.launch("exchange_among_some", program.floats(32), y, first, seed=seed)

    swapped = [lane ^ 1 if lane >= first else lane for lane in range(32)]
    assert fault is None
    assert y.array().tolist() == swapped


# ---- memory used twice -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_missing_barrier_before_memory_is_used_again_is_found_by_every_schedule(
    program: Program, seed: int
) -> None:
    x, y = program.floats(32), program.output(32)

    fault = program.launch("two_sums_without_barrier", x, y, 0, seed=seed)

    assert fault is not None
    assert fault.kind == "race"


def test_memory_used_again_behind_a_barrier_gives_one_result_under_every_schedule(
    program: Program,
) -> None:
    values = np.arange(32, dtype=np.float32)
    right = np.full(32, values.sum() + (values * values).sum(), np.float32)

    for seed in range(20):
        y = program.output(32)
        assert program.launch("two_sums", program.input(values), y, 0, seed=seed) is None
        assert y.bytes.tobytes() == right.tobytes()


# ---- what nobody wrote -----------------------------------------------------------------------


def skip_one(program: Program, n: int) -> None:
    """Launch a kernel that leaves element `n` of y out."""
    launch = KernelLaunch("skip_one", 1, 32, (buffer("x"), buffer("y"), int32(n)))
    x, y = Buffer("x", Role.INPUT, (32,)), Buffer("y", Role.OUTPUT, (2, 16))
    program.prepare(launch, buffers=(x, y)).run()


def test_output_element_that_no_kernel_wrote_is_named_by_its_index(program: Program) -> None:
    with pytest.raises(GateFailure, match=r"^never written: 1 elements of y, .* index \(1, 4\)\n"):
        skip_one(program, 20)


def test_output_of_which_every_element_is_written_is_clean(program: Program) -> None:
    skip_one(program, 32)


# ---- constants, and what a fault leaves behind -----------------------------------------------


def test_write_to_a_constant_is_a_fault(program: Program) -> None:
    fault = program.launch("write_constant", program.floats(32), program.output(32), 1)

    assert fault is not None
    assert fault.kind == "constant memory"
    assert fault.frames[0].line == program.line("fault: write_constant")


def test_launch_does_not_look_at_memory_of_an_earlier_one_that_a_fault_ended(
    program: Program,
) -> None:
    y, elements = program.output(32), 1 << 22
    fault = program.launch("store_and_read", program.output(elements), elements, threads=1)
    assert fault is not None

    assert program.launch("store_and_read", y, 0, threads=1) is None
