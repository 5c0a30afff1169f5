"""Blocks per SM: the borders of each limit. NVIDIA's own header is asked in a file of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rmsperf.device.occupancy import ProfileCapacity, blocks_per_sm, limits_for
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.errors import GateFailure, SettingError
from pytest_rmsperf.resources import CompiledKernel, CompiledModule, resident_blocks

HOPPER = limits_for("9.0")


def kernel_of(registers: int = 32, static_smem_bytes: int = 0) -> CompiledKernel:
    return CompiledKernel("row", registers, static_smem_bytes, 0, 0, 0)


def module_of(*kernels: CompiledKernel) -> CompiledModule:
    return CompiledModule("row.cu", (), "key", b"", kernels, from_cache=False)


@pytest.mark.parametrize(
    ("threads", "blocks"), [(1, 32), (64, 32), (65, 21), (512, 4), (513, 3), (1024, 2), (1025, 0)]
)
def test_threads_limit_blocks_by_whole_warps(threads: int, blocks: int) -> None:
    assert blocks_per_sm(HOPPER, kernel_of(), threads, 0) == blocks


@pytest.mark.parametrize(("threads", "blocks"), [(64, 32), (65, 0)])
def test_launch_bounds_limit_the_threads_of_a_block(threads: int, blocks: int) -> None:
    bounded = replace(kernel_of(), max_threads_per_block=64)

    assert blocks_per_sm(HOPPER, bounded, threads, 0) == blocks


@pytest.mark.parametrize(
    ("registers", "blocks"), [(0, 8), (32, 8), (33, 6), (64, 4), (65, 3), (255, 1), (256, 0)]
)
def test_registers_limit_blocks_in_steps_of_a_unit(registers: int, blocks: int) -> None:
    assert blocks_per_sm(HOPPER, kernel_of(registers), 256, 0) == blocks


@pytest.mark.parametrize(("registers", "blocks"), [(64, 1), (65, 0)])
def test_a_block_of_all_threads_fits_with_64_registers_and_not_with_65(
    registers: int, blocks: int
) -> None:
    assert blocks_per_sm(HOPPER, kernel_of(registers), 1024, 0) == blocks


@pytest.mark.parametrize(("threads", "blocks"), [(256, 3), (288, 2)])
def test_warps_are_dealt_to_sub_partitions_and_leave_a_remainder(threads: int, blocks: int) -> None:
    # 80 registers: 6 warps in each of 4 partitions are 24 warps; 65536 // 2560 would be 25.
    assert blocks_per_sm(HOPPER, kernel_of(80), threads, 0) == blocks


@pytest.mark.parametrize(
    ("dynamic_bytes", "blocks"),
    [(0, 16), (13_568, 16), (13_569, 15), (115_712, 2), (115_713, 1), (232_448, 1), (232_449, 0)],
)
def test_shared_memory_limits_blocks_with_what_is_reserved_for_each(
    dynamic_bytes: int, blocks: int
) -> None:
    assert blocks_per_sm(HOPPER, kernel_of(), 128, dynamic_bytes) == blocks


@pytest.mark.parametrize(("dynamic_bytes", "blocks"), [(115_612, 2), (115_613, 1)])
def test_static_shared_memory_counts_like_dynamic(dynamic_bytes: int, blocks: int) -> None:
    assert blocks_per_sm(HOPPER, kernel_of(static_smem_bytes=100), 128, dynamic_bytes) == blocks


@pytest.mark.parametrize(
    ("dynamic_bytes", "blocks"), [(0, 8), (8192, 8), (8193, 7), (65_536, 1), (65_537, 0)]
)
def test_before_8_0_nothing_is_reserved_for_a_block(dynamic_bytes: int, blocks: int) -> None:
    assert blocks_per_sm(limits_for("7.5"), kernel_of(), 128, dynamic_bytes) == blocks


@pytest.mark.parametrize(
    ("compute_capability", "warps", "kib"),
    [
        ("7.5", 32, 64),
        ("8.0", 64, 163),
        ("8.6", 48, 99),
        ("8.7", 48, 163),
        ("8.8", 48, 99),
        ("8.9", 48, 99),
        ("9.0", 64, 227),
        ("10.0", 64, 227),
        ("10.3", 64, 227),
        ("11.0", 48, 227),
        ("12.0", 48, 99),
        ("12.1", 48, 99),
    ],
)
def test_what_the_header_is_told_is_what_the_programming_guide_says(
    compute_capability: str, warps: int, kib: int
) -> None:
    limits = limits_for(compute_capability)
    assert (limits.max_warps_per_sm, limits.max_smem_bytes_per_block) == (warps, kib * 1024)


def test_an_unknown_compute_capability_is_refused_with_the_known_ones_and_a_remedy() -> None:
    with pytest.raises(SettingError) as refusal:
        limits_for("7.0")
    assert str(refusal.value).splitlines() == [
        "no occupancy limits for compute capability '7.0'",
        "  known  7.5, 8.0, 8.6, 8.7, 8.8, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1",
        "run on a machine with the device, where the driver is asked, or add the row to LIMITS",
    ]


def test_a_profile_holds_the_blocks_of_one_sm_on_all_of_its_sms() -> None:
    capacity = ProfileCapacity(profile_for_arch("sm_90"), module_of(kernel_of(64)))
    assert resident_blocks(capacity, "row", 256, 0) == 4 * 132


def test_a_slice_holds_the_blocks_of_its_own_sms_only() -> None:
    whole = profile_for_arch("sm_90")
    part = replace(whole, identity=replace(whole.identity, sms=14))
    capacity = ProfileCapacity(part, module_of(kernel_of(64)))
    assert resident_blocks(capacity, "row", 256, 0) == 4 * 14


def test_two_devices_each_answer_by_their_own_limits() -> None:
    module = module_of(kernel_of(32))
    asked = [ProfileCapacity(profile_for_arch(arch), module) for arch in ("sm_90", "sm_89")]
    assert [one.blocks_per_sm("row", 1024, 0) for one in asked] == [2, 1]


def test_a_capacity_carries_the_name_of_its_device() -> None:
    assert ProfileCapacity(profile_for_arch("sm_89"), module_of()).device == "NVIDIA L4"


def test_a_kernel_that_the_module_lacks_is_an_error_and_not_zero_blocks() -> None:
    capacity = ProfileCapacity(profile_for_arch("sm_90"), module_of(kernel_of()))
    with pytest.raises(GateFailure, match=r"no kernel 'column' in row\.cu; it defines: row"):
        capacity.blocks_per_sm("column", 256, 0)


def test_a_device_without_known_limits_is_an_error_and_not_zero_blocks() -> None:
    whole = profile_for_arch("sm_90")
    future = replace(whole, identity=replace(whole.identity, compute_capability="99.0"))
    with pytest.raises(SettingError, match=r"no occupancy limits .* '99\.0'"):
        ProfileCapacity(future, module_of(kernel_of())).blocks_per_sm("row", 256, 0)
