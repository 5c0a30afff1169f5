"""Kernel texts compiled as the emulated device does, and run on it with arrays."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.build import EmulatedRecipe, build_kernels, kernel_command
from pytest_rmsperf.emulated.faults import Fault
from pytest_rmsperf.emulated.library import BlockCapacity, Conditions, Grid, KernelLibrary
from pytest_rmsperf.emulated.memory import EmulatedMemory
from pytest_rmsperf.emulated.runtime import load_runtime
from pytest_rmsperf.emulated.toolchain import find_host_compiler
from pytest_rmsperf.launch import Buffer, Role

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array

CAPACITY = BlockCapacity(blocks_per_sm=2, sms=8)

Compile = Callable[..., "subprocess.CompletedProcess[str]"]


def compile_source(
    source: Path, *options: str, constants: tuple[tuple[str, int], ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Compile a source by the emulated device's command line; its object file goes nowhere."""
    recipe = EmulatedRecipe(source, constants, (), "sm_90")
    command = [*kernel_command(recipe, find_host_compiler()), str(source), "-o", "/dev/null"]
    return subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="session")
def compiled() -> Compile:
    """Compile a source with more options, and constants of its own."""
    return compile_source


class Emulated:
    """The kernels of one source, to be launched on arrays that they change in place."""

    def __init__(self, source: Path, kernels: Sequence[str]) -> None:
        recipe = EmulatedRecipe(source, (), tuple(kernels), "sm_90")
        self._library = KernelLibrary(build_kernels(recipe, find_host_compiler()))

    def fault(self, kernel: str, grid: Grid, *arrays: Array) -> Fault | None:
        """Launch; `arrays` become the parameters, and get what the kernel leaves in them."""
        buffers = [
            Buffer(f"array{i}", Role.INPUT, one.shape, one.dtype.name)
            for i, one in enumerate(arrays)
        ]
        memory = EmulatedMemory(buffers)
        memory.upload({one.name: array for one, array in zip(buffers, arrays, strict=True)})
        arguments = [memory[one.name].address.to_bytes(8, "little") for one in buffers]
        fault = self._library.launch(kernel, grid, arguments, Conditions(CAPACITY))
        for one, array in zip(buffers, arrays, strict=True):
            array[...] = memory[one.name].array()
        return fault

    def run(self, kernel: str, grid: Grid, *arrays: Array) -> None:
        """Launch a kernel that makes no mistake."""
        fault = self.fault(kernel, grid, *arrays)
        assert fault is None, str(fault)


@pytest.fixture(scope="session")
def emulate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Emulated]]:
    """Compile a text, or a file, and load its kernels; built anew for each session."""
    load_runtime()  # from the user's cache, which all tests share: it takes the longest to build
    folder = tmp_path_factory.mktemp("emulated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield partial(_emulated, folder)


def _emulated(folder: Path, name: str, text: str | Path, *kernels: str) -> Emulated:
    if isinstance(text, Path):
        return Emulated(text, kernels)
    source = folder / f"{name}.cu"
    source.write_text(text, encoding="utf-8")
    return Emulated(source, kernels)
