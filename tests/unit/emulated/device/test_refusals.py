"""Launches that the driver would refuse, and arguments that the kernel does not have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_rmsperf.emulated.launcher import EmulatedModule, FrozenLaunch
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import (
    Argument,
    Buffer,
    KernelLaunch,
    Role,
    buffer,
    float32,
    int32,
    int64,
)

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "launches.cu"

MOST_SMEM_BYTES = 232_448  # of a block of compute capability 9.0


def filling(*, blocks: int = 1, cluster: int = 1, dynamic_smem_bytes: int = 0) -> KernelLaunch:
    return KernelLaunch(
        "fill",
        blocks,
        32,
        (),
        dynamic_smem_bytes=dynamic_smem_bytes,
        blocks_per_cluster=cluster,
    )


def costing(program: Program, *, registers: int = 32, static_smem_bytes: int = 0) -> EmulatedModule:
    """The module, as if each of its kernels cost this much."""
    module = program.module
    kernels = tuple(
        replace(one, registers_per_thread=registers, static_smem_bytes=static_smem_bytes)
        for one in module.module.kernels
    )
    costly = replace(module.module, kernels=kernels)
    return EmulatedModule(costly, module.library, module.capacity.profile, module.schedules)


def launch(module: EmulatedModule, program: Program, one: KernelLaunch) -> None:
    y = program.output(one.blocks * one.threads_per_block)
    arguments = (y.address.to_bytes(8, "little"), float32(1).packed())
    module.launch(FrozenLaunch(one, arguments), seed=0)


# One block per SM, so that 132 are resident.
FULL = filling(blocks=132, dynamic_smem_bytes=MOST_SMEM_BYTES)


def test_cooperative_launch_of_what_fits_runs(program: Program) -> None:
    launch(program.module, program, replace(FULL, cooperative=True))


def test_cooperative_launch_of_one_block_more_is_refused_with_the_arithmetic(
    program: Program,
) -> None:
    with pytest.raises(GateFailure) as caught:
        launch(program.module, program, replace(FULL, blocks=133, cooperative=True))

    assert str(caught.value).splitlines()[:2] == [
        "launch refused: fill: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
        "  133 blocks; 1 blocks per SM x 132 SMs = 132 fit",
    ]


def test_ordinary_launch_of_more_than_fits_runs(program: Program) -> None:
    launch(program.module, program, replace(FULL, blocks=133))


def test_cluster_of_8_blocks_runs(program: Program) -> None:
    launch(program.module, program, filling(blocks=16, cluster=8))


def test_cluster_of_16_blocks_is_refused(program: Program) -> None:
    with pytest.raises(GateFailure, match=r"CUDA_ERROR_INVALID_CLUSTER_SIZE\n.* at most 8"):
        launch(program.module, program, filling(blocks=16, cluster=16))


def test_block_of_all_shared_memory_runs(program: Program) -> None:
    dynamic = filling(dynamic_smem_bytes=MOST_SMEM_BYTES - 1024)

    launch(costing(program, static_smem_bytes=1024), program, dynamic)


def test_block_of_one_dynamic_byte_more_than_static_ones_leave_is_refused(
    program: Program,
) -> None:
    dynamic = filling(dynamic_smem_bytes=MOST_SMEM_BYTES - 1023)

    with pytest.raises(GateFailure, match="CUDA_ERROR_"):
        launch(costing(program, static_smem_bytes=1024), program, dynamic)


def test_more_dynamic_shared_memory_than_any_block_has_is_refused(program: Program) -> None:
    with pytest.raises(GateFailure, match=f"INVALID_VALUE\n  232449 .* at most {MOST_SMEM_BYTES}"):
        launch(program.module, program, filling(dynamic_smem_bytes=MOST_SMEM_BYTES + 1))


def test_block_of_1024_threads_runs_where_its_registers_fit(program: Program) -> None:
    launch(costing(program, registers=64), program, replace(filling(), threads_per_block=1024))


def test_block_whose_registers_do_not_fit_is_refused(program: Program) -> None:
    with pytest.raises(GateFailure, match="CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"):
        launch(costing(program, registers=65), program, replace(filling(), threads_per_block=1024))


# ---- arguments -------------------------------------------------------------------------------

RIGHT = (buffer("x"), buffer("y"), int32(1), int64(2), float32(3))


def take(program: Program, *arguments: Argument) -> list[float]:
    """Launch a kernel of two pointers, an int, a long long and a float."""
    launch = KernelLaunch("take_all", 1, 32, arguments)
    ready = program.prepare(
        launch, buffers=(Buffer("x", Role.INPUT, (32,)), Buffer("y", Role.OUTPUT, (32,)))
    )
    ready.memory.upload({"x": np.zeros(32, np.float32)})
    ready.run()
    values: list[float] = ready.memory.outputs()["y"].tolist()
    return values


def test_arguments_of_the_right_number_and_sizes_arrive(program: Program) -> None:
    assert set(take(program, *RIGHT)) == {6}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (RIGHT[:4], "take_all has 5 parameters, the plan passes 4"),
        ((*RIGHT, int32(4)), "take_all has 5 parameters, the plan passes 6"),
        (
            (*RIGHT[:2], int64(1), *RIGHT[3:]),
            "parameter 2 of take_all is an integer of 4 bytes, the plan passes 8 bytes",
        ),
        (
            (*RIGHT[:3], int32(2), RIGHT[4]),
            "parameter 3 of take_all is an integer of 8 bytes, the plan passes 4 bytes",
        ),
        (
            (int32(0), *RIGHT[1:]),
            "parameter 0 of take_all is a pointer of 8 bytes, the plan passes 4 bytes",
        ),
        (
            (*RIGHT[:4], buffer("y")),
            "parameter 4 of take_all is a floating-point number of 4 bytes, the plan passes 8",
        ),
    ],
    ids=["too few", "too many", "wide int", "narrow int", "narrow pointer", "wide float"],
)
def test_wrong_arguments_are_named(
    program: Program, arguments: tuple[Argument, ...], text: str
) -> None:
    with pytest.raises(GateFailure, match=f"^wrong arguments: {text}"):
        take(program, *arguments)


def test_struct_arrives_by_value(program: Program) -> None:
    y = program.output(32)
    pair = np.array((1.5, 40), dtype=np.dtype([("a", "f4"), ("b", "i8")], align=True)).tobytes()
    one = KernelLaunch("take_pair", 1, 32, ())

    program.module.launch(FrozenLaunch(one, (pair, y.address.to_bytes(8, "little"))), seed=0)

    assert set(y.array().tolist()) == {41.5}
