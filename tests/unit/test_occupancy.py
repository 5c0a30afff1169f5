"""Blocks per SM: the borders of each limit, then NVIDIA's own header as the oracle."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from cuda.pathfinder import find_nvidia_header_directory

from pytest_rmsperf.device.occupancy import (
    LIMITS,
    DeviceLimits,
    ProfileCapacity,
    blocks_per_sm,
    limits_for,
)
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.errors import GateFailure, SettingError
from pytest_rmsperf.resources import CompiledKernel, CompiledModule, resident_blocks

HOPPER = limits_for("9.0")
Configuration = tuple[int, int, int, int]  # registers, threads, static bytes, dynamic bytes

REGISTERS = (0, 1, 8, 9, 24, 32, 33, 40, 41, 64, 65, 80, 96, 128, 129, 168, 255)
THREADS = (1, 31, 32, 33, 96, 128, 160, 192, 256, 384, 512, 544, 768, 992, 1023, 1024, 1025)
STATIC_BYTES = (0, 1, 128, 1000, 16384, 49152)

# Reads "registers threads static dynamic" lines, prints the blocks per SM of each. The limits that
# the header does not hold itself come as arguments.
ORACLE = r"""
#include <cuda_occupancy.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    struct cudaOccDeviceProp device = {0};
    struct cudaOccDeviceState state = {CACHE_PREFER_NONE, SHAREDMEM_CARVEOUT_DEFAULT};
    int registers, threads;
    size_t static_bytes, dynamic_bytes;
    if (argc != 6) return 2;
    device.computeMajor = atoi(argv[1]);
    device.computeMinor = atoi(argv[2]);
    device.maxThreadsPerMultiprocessor = atoi(argv[3]);
    device.sharedMemPerMultiprocessor = atoi(argv[4]);
    device.sharedMemPerBlockOptin = atoi(argv[5]);
    device.maxThreadsPerBlock = 1024;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.reservedSharedMemPerBlock = 1024;
    device.numSms = 1;
    while (scanf("%d %d %zu %zu", &registers, &threads, &static_bytes, &dynamic_bytes) == 4) {
        struct cudaOccFuncAttributes kernel = {0};
        struct cudaOccResult result = {0};
        cudaOccError error;
        kernel.maxThreadsPerBlock = 1024;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = static_bytes;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic_bytes;
        kernel.numBlockBarriers = 1;
        error = cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &device, &kernel, &state, threads, dynamic_bytes);
        if (error != CUDA_OCC_SUCCESS) return 3;
        printf("%d\n", result.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def kernel_of(registers: int = 32, static_smem_bytes: int = 0) -> CompiledKernel:
    return CompiledKernel("row", registers, static_smem_bytes, 0, 0, 0)


def module_of(*kernels: CompiledKernel) -> CompiledModule:
    return CompiledModule("row.cu", (), "key", b"", kernels, from_cache=False)


def by_compute_capability(limits: DeviceLimits) -> str:
    return limits.compute_capability


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
    ("compute_capability", "warps", "kib"),
    [
        ("8.0", 64, 163),
        ("8.6", 48, 99),
        ("8.9", 48, 99),
        ("9.0", 64, 227),
        ("10.0", 64, 227),
        ("12.0", 48, 99),
    ],
)
def test_what_the_header_is_told_is_what_the_programming_guide_says(
    compute_capability: str, warps: int, kib: int
) -> None:
    limits = limits_for(compute_capability)
    assert (limits.max_warps_per_sm, limits.max_smem_bytes_per_block) == (warps, kib * 1024)


def test_an_unknown_compute_capability_is_refused_with_the_known_ones_and_a_remedy() -> None:
    with pytest.raises(SettingError) as refusal:
        limits_for("7.5")
    assert str(refusal.value).splitlines() == [
        "no occupancy limits for compute capability '7.5'",
        "  known  8.0, 8.6, 8.9, 9.0, 10.0, 12.0",
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


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """NVIDIA's header as a program; a machine that cannot build it fails, so that it is known."""
    include = find_nvidia_header_directory("cudart")
    if include is None or not Path(include, "cuda_occupancy.h").is_file():
        pytest.fail(f"no cuda_occupancy.h in {include}; install nvidia-cuda-runtime")
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.fail("no gcc on PATH to compile cuda_occupancy.h with; install gcc")
    program = tmp_path_factory.mktemp("oracle") / "oracle"
    source = program.with_suffix(".c")
    source.write_text(ORACLE, encoding="utf-8")
    subprocess.run([gcc, "-O1", "-I", include, "-o", program, source], check=True)
    return program


def configurations_of(limits: DeviceLimits) -> list[Configuration]:
    """Every combination, with the dynamic bytes on both sides of where each block count ends."""
    dynamic = {0, 1, 127, 128, 129, 49151, 49152, 49153}
    for blocks in range(1, limits.max_blocks_per_sm + 1):
        largest = limits.smem_bytes_per_sm // blocks // 128 * 128 - 1024
        dynamic |= {max(largest, 0), max(largest, 0) + 1}
    return list(itertools.product(REGISTERS, THREADS, STATIC_BYTES, sorted(dynamic)))


@pytest.mark.parametrize("limits", LIMITS, ids=by_compute_capability)
def test_blocks_per_sm_are_those_of_the_header_of_nvidia(
    limits: DeviceLimits, oracle: Path
) -> None:
    asked = configurations_of(limits)
    optin_bytes = limits.max_smem_bytes_per_block
    sizes = (limits.max_threads_per_sm, limits.smem_bytes_per_sm, optin_bytes)
    command = [str(oracle), *limits.compute_capability.split("."), *map(str, sizes)]
    lines = "\n".join(" ".join(map(str, one)) for one in asked)
    run = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    expected = dict(zip(asked, map(int, run.stdout.split()), strict=True))

    wrong = {
        (registers, threads, static, dynamic): blocks
        for (registers, threads, static, dynamic), blocks in expected.items()
        if blocks_per_sm(limits, kernel_of(registers, static), threads, dynamic) != blocks
    }

    assert not wrong, f"{len(wrong)} of {len(asked)}, the first: {next(iter(wrong.items()))}"


@pytest.mark.parametrize("limits", LIMITS, ids=by_compute_capability)
def test_the_oracle_is_asked_at_least_20000_configurations(limits: DeviceLimits) -> None:
    assert len(configurations_of(limits)) >= 20_000
