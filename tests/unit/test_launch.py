"""Launch records: what is refused where it is born, and how scalars travel to a kernel."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.launch import (
    MAX_BLOCKS,
    Buffer,
    KernelLaunch,
    LaunchPlan,
    Role,
    ScalarArgument,
    float32,
    int32,
    int64,
)

LAUNCH = KernelLaunch("row", 4, 256, ())
PLAN = LaunchPlan((LAUNCH,), (), (("tile", 4096),), "a row is one tile")


@pytest.mark.parametrize(
    ("dtype", "nbytes"),
    [("float32", 24), ("float16", 12), ("int32", 24), ("uint32", 24), ("int64", 48), ("uint8", 6)],
)
def test_a_buffer_has_the_bytes_of_its_elements(dtype: str, nbytes: int) -> None:
    assert Buffer("x", Role.INPUT, (2, 3), dtype).nbytes == nbytes


def test_an_unknown_dtype_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PlanError, match="x has dtype 'bfloat16'; known are float32, float16"):
        Buffer("x", Role.INPUT, (2,), "bfloat16")


@pytest.mark.parametrize("shape", [(0,), (4, 0), (4, -1)])
def test_an_empty_shape_is_refused_with_the_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(PlanError, match=r"x has an empty shape \(") as refusal:
        Buffer("x", Role.INPUT, shape)
    assert str(refusal.value).endswith(str(shape))


def test_a_python_float_travels_as_four_bytes_and_not_as_a_double() -> None:
    assert float32(1e-5).packed() == struct.pack("<f", 1e-5)


@pytest.mark.parametrize(
    ("argument", "nbytes"), [(int32(-1), 4), (int64(-1), 8), (float32(1.0), 4)]
)
def test_a_scalar_has_the_bytes_of_its_c_type(argument: ScalarArgument, nbytes: int) -> None:
    assert len(argument.packed()) == nbytes


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_the_ends_of_an_int_fit(value: int) -> None:
    assert int.from_bytes(int32(value).packed(), "little", signed=True) == value


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1])
def test_one_beyond_the_ends_of_an_int_is_refused_with_the_value(value: int) -> None:
    with pytest.raises(PlanError, match=f"argument {value} does not fit its C type"):
        int32(value)


def test_the_largest_long_long_fits() -> None:
    assert int64(2**63 - 1).packed() == b"\xff" * 7 + b"\x7f"


def test_one_beyond_the_largest_long_long_is_refused() -> None:
    with pytest.raises(PlanError, match="does not fit its C type"):
        int64(2**63)


def test_a_float_within_float32_fits() -> None:
    assert struct.unpack("<f", float32(3.4028e38).packed())[0] == pytest.approx(3.4028e38)


def test_a_float_beyond_float32_is_refused() -> None:
    with pytest.raises(PlanError, match=r"argument 3.5e\+38 does not fit"):
        float32(3.5e38)


def test_a_float_is_no_int() -> None:
    with pytest.raises(PlanError, match=r"argument 1\.5 does not fit its C type"):
        ScalarArgument("<i", 1.5)


@pytest.mark.parametrize("blocks", [1, MAX_BLOCKS])
def test_a_grid_within_the_hardware_is_accepted(blocks: int) -> None:
    assert replace(LAUNCH, blocks=blocks).blocks == blocks


@pytest.mark.parametrize("blocks", [0, MAX_BLOCKS + 1])
def test_a_grid_beyond_the_hardware_is_refused_with_rule_and_value(blocks: int) -> None:
    with pytest.raises(PlanError, match=f"row: blocks must be 1 to 2147483647, got {blocks}"):
        replace(LAUNCH, blocks=blocks)


@pytest.mark.parametrize("threads", [1, 1024])
def test_a_block_within_the_hardware_is_accepted(threads: int) -> None:
    assert replace(LAUNCH, threads_per_block=threads).threads_per_block == threads


@pytest.mark.parametrize("threads", [0, 1025, 2048])
def test_a_block_beyond_the_hardware_is_refused_with_rule_and_value(threads: int) -> None:
    with pytest.raises(PlanError, match=f"row: threads_per_block must be 1 to 1024, got {threads}"):
        replace(LAUNCH, threads_per_block=threads)


def test_negative_shared_memory_is_refused() -> None:
    with pytest.raises(PlanError, match="dynamic_smem_bytes must not be negative, got -1"):
        replace(LAUNCH, dynamic_smem_bytes=-1)


def test_a_unit_of_no_blocks_is_refused() -> None:
    with pytest.raises(PlanError, match="blocks_per_unit must be at least 1, got 0"):
        replace(LAUNCH, blocks_per_unit=0)


def test_a_grid_of_whole_clusters_is_accepted() -> None:
    launch = replace(LAUNCH, blocks=24, blocks_per_cluster=8)

    assert launch.blocks // launch.blocks_per_cluster == 3


@pytest.mark.parametrize(("blocks", "cluster"), [(25, 8), (8, 16), (8, 0), (8, -1)])
def test_a_grid_that_is_not_whole_clusters_is_refused(blocks: int, cluster: int) -> None:
    with pytest.raises(PlanError, match=f"got {blocks} blocks in clusters of {cluster}"):
        replace(LAUNCH, blocks=blocks, blocks_per_cluster=cluster)


@pytest.mark.parametrize(
    ("launch", "resident"),
    [
        (LAUNCH, False),
        (replace(LAUNCH, cooperative=True), True),
        (replace(LAUNCH, waits_on_blocks=True), True),
    ],
    ids=["plain", "grid barrier", "hand-made barrier"],
)
def test_a_launch_must_be_resident_when_its_blocks_wait(
    launch: KernelLaunch, *, resident: bool
) -> None:
    assert launch.must_be_resident is resident


def test_a_plan_without_launches_is_refused() -> None:
    with pytest.raises(PlanError, match="at least one launch, got none"):
        replace(PLAN, launches=())


def test_a_plan_describes_itself_in_one_line() -> None:
    assert PLAN.describe() == (
        "1 launch, 256 threads per block, 0 dynamic shared bytes, tile 4096: a row is one tile"
    )


def test_a_plan_without_facts_describes_itself_without_a_gap() -> None:
    assert "0 dynamic shared bytes: a row" in replace(PLAN, facts=()).describe()


def test_a_plan_of_several_launches_describes_them_all() -> None:
    wide = replace(LAUNCH, threads_per_block=32, dynamic_smem_bytes=16384)

    text = replace(PLAN, launches=(LAUNCH, wide, LAUNCH)).describe()

    assert text.startswith("3 launches, 32/256 threads per block, 16384 dynamic shared bytes")
