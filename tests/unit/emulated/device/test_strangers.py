"""Kernels in an ordinary style run as they are, by the text that is compiled for the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.launch import int64
from pytest_rmsperf.resources import CompiledModule

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "strangers.cu"

some_seeds = pytest.mark.parametrize("seed", [0, 1, 2, 3])


@pytest.fixture(scope="module")
def compiled(program: Program) -> CompiledModule:
    """The same text by NVRTC."""
    return compile_recipe(Recipe(program.source, "sm_90"))


def test_text_has_the_same_kernels_for_the_device(
    program: Program, compiled: CompiledModule
) -> None:
    names = [kernel.name for kernel in program.module.module.kernels]

    assert sorted(names) == [kernel.name for kernel in compiled.kernels]


@some_seeds
def test_scan_by_warp_shuffles(program: Program, seed: int) -> None:
    numbers = np.random.default_rng(1).integers(-9, 9, 512 + 100, dtype=np.int32)
    y = program.output(numbers.size, "int32")

    fault = program.launch(
        "scan", program.input(numbers), y, numbers.size, blocks=2, threads=512, seed=seed
    )

    want = np.concatenate([np.cumsum(numbers[:512]), np.cumsum(numbers[512:])])
    assert fault is None
    assert np.array_equal(y.array(), want)


@some_seeds
def test_scan_in_dynamic_shared_memory(program: Program, seed: int) -> None:
    numbers = np.arange(256, dtype=np.float32)
    y = program.output(256)

    fault = program.launch(
        "prescan", program.input(numbers), y, 256, threads=128, dynamic_smem_bytes=1024, seed=seed
    )

    assert fault is None
    assert np.array_equal(y.array(), np.cumsum(numbers) - numbers)


@some_seeds
def test_histogram_by_shared_atomics(program: Program, seed: int) -> None:
    data = np.random.default_rng(1).integers(0, 256, 10_001, dtype=np.uint8)
    counts = program.counters(256)

    fault = program.launch(
        "histogram", program.input(data), counts, int64(data.size), blocks=4, threads=256, seed=seed
    )

    assert fault is None
    assert np.array_equal(counts.array(), np.bincount(data, minlength=256))


@some_seeds
def test_grid_wide_sum_by_cooperative_groups(program: Program, seed: int) -> None:
    numbers = np.random.default_rng(1).random(5_003, np.float32)
    y, total = program.output(numbers.size), program.output(1)

    fault = program.launch(
        "normalizeBySum",
        program.input(numbers),
        y,
        total,
        numbers.size,
        blocks=6,
        threads=128,
        cooperative=True,
        seed=seed,
    )

    assert fault is None
    want = numbers / numbers.sum(dtype=np.float64)
    np.testing.assert_allclose(np.asarray(y.array(), np.float64), want, rtol=1e-5)
