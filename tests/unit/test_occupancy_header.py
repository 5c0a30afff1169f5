"""Blocks per SM against NVIDIA's own header, `cuda_occupancy.h`, compiled here as the oracle."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cuda.pathfinder import find_nvidia_header_directory

from pytest_rmsperf.device.occupancy import LIMITS, DeviceLimits, blocks_per_sm
from pytest_rmsperf.resources import CompiledKernel

Configuration = tuple[int, int, int, int]  # registers, threads, static bytes, dynamic bytes

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
    if (argc != 7) return 2;
    device.computeMajor = atoi(argv[1]);
    device.computeMinor = atoi(argv[2]);
    device.maxThreadsPerMultiprocessor = atoi(argv[3]);
    device.sharedMemPerMultiprocessor = atoi(argv[4]);
    device.sharedMemPerBlockOptin = atoi(argv[5]);
    device.maxThreadsPerBlock = 1024;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.reservedSharedMemPerBlock = atoi(argv[6]);
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


def by_compute_capability(limits: DeviceLimits) -> str:
    return limits.compute_capability


each_capability = pytest.mark.parametrize("limits", LIMITS, ids=by_compute_capability)


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


def registers_and_threads() -> Iterator[Configuration]:
    """Yield every number of registers with blocks of full warps, and on both sides of those."""
    edges = {warps * 32 + beside for warps in range(33) for beside in (-1, 0, 1)}
    for threads in sorted(edges - {-1, 0}):
        yield from ((registers, threads, 0, 0) for registers in range(256))


def shared_memory(limits: DeviceLimits) -> Iterator[Configuration]:
    """Yield shared bytes on both sides of where each block count, and each limit, ends."""
    unit, most = limits.smem_bytes_per_unit, limits.max_smem_bytes_per_block
    ends = {0, unit, 2 * unit, 48 * 1024, most, limits.smem_bytes_per_sm}
    for blocks in range(1, limits.max_blocks_per_sm + 1):
        share = limits.smem_bytes_per_sm // blocks // unit * unit
        ends |= {share, share - limits.reserved_smem_bytes_per_block}
    beside = {end + one for end in ends for one in (-1, 0, 1)}
    for static, total in itertools.product((0, 1, 1000, 48 * 1024), sorted(beside)):
        if total >= static:
            places = itertools.product((0, 32, 80, 255), (1, 32, 96, 256, 1024))
            yield from ((*place, static, total - static) for place in places)


def configurations_of(limits: DeviceLimits) -> list[Configuration]:
    return [*registers_and_threads(), *shared_memory(limits)]


def answers_of(
    oracle: Path, limits: DeviceLimits, asked: list[Configuration]
) -> dict[Configuration, int]:
    sizes = (
        limits.max_threads_per_sm,
        limits.smem_bytes_per_sm,
        limits.max_smem_bytes_per_block,
        limits.reserved_smem_bytes_per_block,
    )
    command = [str(oracle), *limits.compute_capability.split("."), *map(str, sizes)]
    lines = "\n".join(" ".join(map(str, one)) for one in asked)
    run = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return dict(zip(asked, map(int, run.stdout.split()), strict=True))


@each_capability
def test_blocks_per_sm_are_those_of_the_header_of_nvidia(
    limits: DeviceLimits, oracle: Path
) -> None:
    expected = answers_of(oracle, limits, configurations_of(limits))

    wrong = {
        (registers, threads, static, dynamic): blocks
        for (registers, threads, static, dynamic), blocks in expected.items()
        if blocks_per_sm(
            limits, CompiledKernel("row", registers, static, 0, 0, 0), threads, dynamic
        )
        != blocks
    }

    assert not wrong, f"{len(wrong)} of {len(expected)}, the first: {next(iter(wrong.items()))}"


def test_the_header_is_asked_402384_configurations_20000_and_more_of_each_capability() -> None:
    asked = [len(set(configurations_of(limits))) for limits in LIMITS]

    assert (min(asked) >= 20_000, sum(asked)) == (True, 402_384)


@each_capability
def test_the_header_gives_every_number_of_blocks_that_an_sm_can_hold(
    limits: DeviceLimits, oracle: Path
) -> None:
    answers = answers_of(oracle, limits, configurations_of(limits))

    assert {0, 1, 2, limits.max_blocks_per_sm} <= set(answers.values())
