"""Shared objects in the cache: found again, never trusted half, and refused with a remedy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_rmsperf.emulated.build import EmulatedRecipe, build_kernels
from pytest_rmsperf.emulated.toolchain import HostCompiler, find_host_compiler
from pytest_rmsperf.errors import CompileError

KERNEL = 'extern "C" __global__ void fill(float* y) { y[threadIdx.x] = 1.0f; }\n'


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmulatedRecipe:
    """A source of one kernel, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "fill.cu"
    source.write_text(KERNEL, encoding="utf-8")
    return EmulatedRecipe(source, (), ("fill",), "sm_90")


def test_second_build_is_the_file_of_the_first(recipe: EmulatedRecipe) -> None:
    compiler = find_host_compiler()
    first = build_kernels(recipe, compiler)
    made = first.stat().st_mtime_ns

    again = build_kernels(recipe, compiler)

    assert (again, again.stat().st_mtime_ns) == (first, made)


@pytest.mark.parametrize("left", [0, 1000, -1])
def test_torn_file_is_built_again(recipe: EmulatedRecipe, left: int) -> None:
    file = build_kernels(recipe, find_host_compiler())
    whole = file.read_bytes()
    file.write_bytes(whole[:left])

    build_kernels(recipe, find_host_compiler())

    assert len(file.read_bytes()) == len(whole)


def test_changed_text_is_built_anew(recipe: EmulatedRecipe) -> None:
    first = build_kernels(recipe, find_host_compiler())
    recipe.source.write_text(KERNEL.replace("1.0f", "2.0f"), encoding="utf-8")

    assert build_kernels(recipe, find_host_compiler()) != first


def test_construct_that_is_not_emulated_is_named_with_the_way_out(recipe: EmulatedRecipe) -> None:
    recipe.source.write_text(KERNEL.replace("1.0f", "__no_such_intrinsic(1)"), encoding="utf-8")

    with pytest.raises(CompileError, match=r"__no_such_intrinsic(.|\n)*#ifdef RMSPERF_EMULATED"):
        build_kernels(recipe, find_host_compiler())


def test_compiler_that_breaks_down_is_not_blamed_on_the_source(
    recipe: EmulatedRecipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "g++: internal compiler error: Killed")

    monkeypatch.setattr(subprocess, "run", break_down)

    with pytest.raises(CompileError, match="Killed\napt-get install"):
        build_kernels(recipe, HostCompiler("g++", "12.2.0", "x86_64-linux-gnu"))
