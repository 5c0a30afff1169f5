"""The opt-in to more shared memory and repeated launches, against a driver that only remembers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rmsperf.device.launcher import (
    DEFAULT_SMEM_BYTES,
    REPEATED_LAUNCHES,
    Invocation,
    LoadedModule,
)
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

STATIC = 1024
KERNEL = CompiledKernel("k", 32, STATIC, 0, 0, 0)
MODULE = CompiledModule("k.cu", (), "key", b"", (KERNEL,), from_cache=False)


@pytest.fixture
def opted(monkeypatch: pytest.MonkeyPatch) -> tuple[LoadedModule, list[int]]:
    """A module on a device that does not exist, and the sizes that the driver was told."""
    driver = pytest.importorskip("cuda.bindings.driver")
    told: list[int] = []

    def remember(attribute: object, size: int, kernel: object, device: int) -> tuple[Any]:
        told.append(size)
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuKernelSetAttribute", remember)
    loaded: Any = object.__new__(LoadedModule)
    loaded.module = MODULE
    loaded.context = SimpleNamespace(device=SimpleNamespace(device_id=0))
    loaded._kernels = {"k": SimpleNamespace(handle=0)}
    loaded._allowed_bytes = {}
    return loaded, told


def test_a_size_within_the_default_needs_no_opt_in(
    opted: tuple[LoadedModule, list[int]],
) -> None:
    loaded, told = opted

    loaded.allow_smem("k", DEFAULT_SMEM_BYTES - STATIC)

    assert told == []


def test_one_byte_more_does(opted: tuple[LoadedModule, list[int]]) -> None:
    loaded, told = opted

    loaded.allow_smem("k", DEFAULT_SMEM_BYTES - STATIC + 1)

    assert told == [DEFAULT_SMEM_BYTES - STATIC + 1]


def test_a_later_smaller_size_does_not_take_the_larger_one_back(
    opted: tuple[LoadedModule, list[int]],
) -> None:
    loaded, told = opted

    for size in (100_000, 60_000, 100_000, 120_000):
        loaded.allow_smem("k", size)

    assert told == [100_000, 120_000]


def test_repeated_launches_are_one_batch() -> None:
    launched: list[int] = []
    invocation: Any = object.__new__(Invocation)
    invocation.complete = launched.append

    assert list(invocation.repeats()) == launched == [REPEATED_LAUNCHES]
