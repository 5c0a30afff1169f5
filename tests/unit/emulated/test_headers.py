"""The stand-in headers: what CUDA text compiles against them, and what they refuse by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.emulated.build import INCLUDE
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[3]
PROBES = ROOT / "pytest_rmsperf" / "probes" / "probes.cu"
BUNDLED = {
    **{one.source.stem: (one.source, one.constants) for one in OPERATOR.variants},
    "probes": (PROBES, (("THREADS_PER_BLOCK", 256), ("VECTORS_PER_THREAD", 4))),
}
TEXTS = ("words", "libraries", "together")
# Warnings of a user's text are its own matter; #pragma unroll is one of CUDA's.
WARNINGS = ("-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-sign-compare")

Compile = Callable[..., "CompletedProcess[str]"]


# ---- what compiles ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_kernels_compile_without_a_word(compiled: Compile, name: str) -> None:
    source, constants = BUNDLED[name]

    done = compiled(source, constants=constants)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("text", TEXTS)
def test_headers_are_clean_under_all_warnings(compiled: Compile, text: str) -> None:
    done = compiled(DATA / f"{text}.cu", *WARNINGS)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("text", TEXTS)
def test_what_the_headers_accept_is_cuda(tmp_path: Path, text: str) -> None:
    module = compile_recipe(Recipe(DATA / f"{text}.cu", "sm_90"), cache_dir=tmp_path)

    assert module.kernels


@pytest.mark.parametrize("order", [1, -1])
def test_all_headers_compile_together_in_either_order(
    compiled: Compile, tmp_path: Path, order: int
) -> None:
    source = tmp_path / "all.cu"
    names = [name for name in _headers() if "#error" not in (INCLUDE / name).read_text()]
    source.write_text("".join(f"#include <{name}>\n" for name in sorted(names)[::order]))

    done = compiled(source, "-Wall", "-Wextra", "-fsyntax-only")

    assert (done.returncode, done.stderr) == (0, "")


def _headers() -> list[str]:
    files = [file.relative_to(INCLUDE) for file in INCLUDE.rglob("*") if file.is_file()]
    return [str(file) for file in files if file.parts[0] != "rmsperf"]


def test_text_sees_the_architecture_and_the_emulation(compiled: Compile, tmp_path: Path) -> None:
    source = tmp_path / "asks.cu"
    source.write_text(
        "#if __CUDA_ARCH__ != 900 || !defined(__CUDACC__) || !defined(RMSPERF_EMULATED)\n"
        "#error wrong\n#endif\n"
    )

    assert compiled(source, "-fsyntax-only").returncode == 0


# ---- what is refused -------------------------------------------------------------------------

PTX = "inline PTX is not emulated"
REFUSED = {
    "asm": ('asm volatile("bar.sync 0;");', PTX),
    "asm without volatile": ('asm("bar.sync 0;");', PTX),
    "__asm__": ('__asm__ volatile("bar.sync 0;" ::: "memory");', PTX),
    "textures": ("x[0] = tex1Dfetch<float>(0, 1);", "tex1Dfetch"),
    "texture objects": ("cudaTextureObject_t texture = 0;", "cudaTextureObject_t"),
    "surfaces": ("surf2Dwrite(1.0f, 0, 0, 0);", "surf2Dwrite"),
    "launches": ("kernel<<<1, 1>>>(x);", "<<<"),
    "new atomics": ("__nv_atomic_add(x, 1.0f, 0, 0);", "__nv_atomic_add"),
    "words of bytes": ("x[0] = __vadd4(1u, 2u);", "__vadd4"),
    "atomics of a wrong type": ("atomicMin(x, 1.0f);", "atomicMin: the type has no such"),
    "several devices": ("cooperative_groups::this_multi_grid();", "this_multi_grid"),
    "halves of a grid's barrier": (
        "cooperative_groups::this_grid().barrier_arrive();",
        "barrier_arrive",
    ),
    "halves of a block's barrier": (
        "cooperative_groups::this_thread_block().barrier_arrive();",
        "barrier_arrive",
    ),
    "tiles of more than a warp": (
        "cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());",
        "tiled_partition: a thread_block_tile of more than 32",
    ),
}


@pytest.mark.parametrize(("statement", "named"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_emulated_is_refused_by_name(
    compiled: Compile, tmp_path: Path, statement: str, named: str
) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text(
        "#include <cooperative_groups.h>\n"
        f"__global__ void kernel(float* x) {{\n    {statement}\n}}\n"
    )

    done = compiled(source, "-fsyntax-only")

    assert done.returncode != 0
    assert named in done.stderr
    assert "kernel.cu:3" in done.stderr


def test_inline_ptx_is_refused_with_the_way_out(compiled: Compile, tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text('inline void helper() { asm volatile("bar.sync 0;"); }\n')

    done = compiled(source, "-fsyntax-only")

    assert "give the helper a twin in plain C++ under #ifdef RMSPERF_EMULATED" in done.stderr
    assert done.stderr.count("error:") == 1


REFUSED_HEADERS = sorted(name for name in _headers() if "#error" in (INCLUDE / name).read_text())


def test_headers_that_are_not_emulated_name_themselves(compiled: Compile, tmp_path: Path) -> None:
    source = tmp_path / "kernel.cu"
    source.write_text("".join(f"#include <{name}>\n" for name in REFUSED_HEADERS))

    done = compiled(source, "-fsyntax-only")

    missing = [n for n in REFUSED_HEADERS if f"<{n}>" not in _errors(done.stderr)]
    assert (done.returncode, missing) == (1, [])


def _errors(log: str) -> str:
    return "\n".join(line for line in log.splitlines() if " is not emulated: " in line)
