"""A source becomes a cubin with figures, an identity and honest refusals; no driver is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_rmsperf.device.compiler import Recipe
from pytest_rmsperf.device.ptxas_log import parse_ptxas_log
from pytest_rmsperf.device.toolchain import find_toolchain
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule

ROTATE = (Path(__file__).parent / "data" / "rotate.cu").read_text(encoding="utf-8")

# 64 values live across a barrier do not fit 32 registers.
SPILLING_BODY = """
    float kept[64];
    #pragma unroll
    for (int i = 0; i < 64; i++) kept[i] = values[i * 32 + threadIdx.x];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < 64; i++) values[i * 32 + threadIdx.x] = kept[i] * kept[63 - i];
"""
WIDE = 'extern "C" __global__ void wide(float *values) {' + SPILLING_BODY + "}\n"
CALLS_WIDE = (
    "__device__ __noinline__ void helper(float *values) {" + SPILLING_BODY + "}\n"
    'extern "C" __global__ void calls(float *values) { helper(values); helper(values + 1); }\n'
    'extern "C" __global__ void plain(float *values) { values[0] = 1.0f; }\n'
)

Write = Callable[[str, str], Path]
Compile = Callable[[Recipe], CompiledModule]
Rotate = Callable[..., Recipe]


def test_cubin_holds_line_information_of_the_source(rotate: Rotate, compiled: Compile) -> None:
    module = compiled(rotate())

    assert b".debug_line" in module.cubin


def test_static_shared_bytes_are_those_of_the_declared_array(
    rotate: Rotate, compiled: Compile
) -> None:
    kernel = compiled(rotate()).kernel("rotate")

    assert kernel.static_smem_bytes == 32 * 4


def test_kernel_without_spills_has_no_local_bytes(write: Write, compiled: Compile) -> None:
    kernel = compiled(Recipe(write("wide.cu", WIDE), "sm_90")).kernel("wide")

    assert kernel.registers_per_thread > 32
    assert (kernel.local_bytes, kernel.spill_store_bytes, kernel.spill_load_bytes) == (0, 0, 0)


def test_register_limit_forces_spills_that_are_reported(write: Write, compiled: Compile) -> None:
    recipe = Recipe(write("wide.cu", WIDE), "sm_90", flags=("--maxrregcount=32",))

    kernel = compiled(recipe).kernel("wide")

    assert kernel.registers_per_thread == 32
    assert min(kernel.local_bytes, kernel.spill_store_bytes, kernel.spill_load_bytes) > 0


def test_spills_of_a_called_function_count_for_the_kernel_that_calls_it(
    write: Write, compiled: Compile
) -> None:
    recipe = Recipe(write("calls.cu", CALLS_WIDE), "sm_90", flags=("--maxrregcount=32",))

    module = compiled(recipe)

    assert module.kernel("calls").spill_store_bytes > 0
    assert module.kernel("plain").spill_store_bytes == 0


def test_stack_of_a_called_function_counts_in_a_device_debug_build(
    write: Write, compiled: Compile
) -> None:
    text = CALLS_WIDE.replace("#pragma unroll", "")
    recipe = Recipe(write("calls.cu", text), "sm_90", flags=("-G",))

    module = compiled(recipe)

    assert module.kernel("calls").local_bytes >= 64 * 4


def test_spills_of_a_function_listed_before_all_kernels_count_for_each_of_them() -> None:
    figures = "0 bytes stack frame, {0} bytes spill stores, {0} bytes spill loads"
    log = (
        "ptxas info    : Function properties for helper\n"
        f"ptxas         .     {figures.format(8)}\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
        "ptxas info    : Function properties for k\n"
        f"ptxas         .     {figures.format(4)}\n"
        "ptxas info    : Used 24 registers, used 0 barriers\n"
    )

    (kernel,) = parse_ptxas_log(log)

    assert (kernel.spill_store_bytes, kernel.spill_load_bytes) == (12, 12)


def test_every_kernel_of_a_source_is_listed_by_name(write: Write, compiled: Compile) -> None:
    module = compiled(Recipe(write("calls.cu", CALLS_WIDE), "sm_90"))

    assert [kernel.name for kernel in module.kernels] == ["calls", "plain"]


def test_launch_bounds_of_a_kernel_are_known_and_others_are_the_devices(
    write: Write, compiled: Compile
) -> None:
    source = write(
        "bounds.cu",
        "template <int n> __global__ void __launch_bounds__(n) own(float *x) { x[0] = n; }\n"
        "template __global__ void own<64>(float *);\n"
        "template __global__ void own<96>(float *);\n"
        "__global__ void none(float *x) { x[0] = 1; }\n",
    )

    kernels = compiled(Recipe(source, "sm_90")).kernels

    assert {one.name: one.max_threads_per_block for one in kernels} == {
        "_Z3ownILi64EEvPf": 64,
        "_Z3ownILi96EEvPf": 96,
        "_Z4nonePf": 1024,
    }


def test_constant_becomes_a_macro_of_the_source(write: Write, compiled: Compile) -> None:
    source = write("rotate.cu", ROTATE.replace("32", "TILE"))

    module = compiled(Recipe(source, "sm_90", constants=(("TILE", 64),)))

    assert module.kernel("rotate").static_smem_bytes == 64 * 4


def test_log_without_the_register_line_is_refused_and_not_read_as_zero() -> None:
    log = (
        "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
        "ptxas info    : Function properties for k\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    )

    with pytest.raises(CompileError, match="the cost of kernel k is unknown"):
        parse_ptxas_log(log)


def test_log_that_ptxas_did_not_write_is_refused_and_not_read_as_no_kernels() -> None:
    with pytest.raises(CompileError, match="the compiler wrote no ptxas log"):
        parse_ptxas_log("")


def test_cooperative_groups_compile_in_a_process_that_sees_no_device(
    write: Write, cache_dir: Path
) -> None:
    source = write(
        "grid.cu",
        "#include <cooperative_groups.h>\n"
        'extern "C" __global__ void grid(float *x) {\n'
        "    cooperative_groups::this_grid().sync();\n"
        "    x[0] = 1.0f;\n}\n",
    )
    program = (
        "import sys; from pathlib import Path\n"
        "from pytest_rmsperf.device.compiler import Recipe, compile_recipe\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'cuda']\n"
        "recipe = Recipe(Path(sys.argv[1]), 'sm_90')\n"
        "print(compile_recipe(recipe, cache_dir=Path(sys.argv[2])).kernel('grid').name)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(source), str(cache_dir)],
        capture_output=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stdout.split(), done.stderr) == (["grid"], "")


def test_identity_names_compiler_headers_arch_and_flags(rotate: Rotate, compiled: Compile) -> None:
    tools = find_toolchain()

    module = compiled(rotate(flags=("--use_fast_math", "--fmad=false")))

    assert module.identity == (
        *tools.identity,
        ("arch", "sm_90"),
        ("flags", "--fmad=false --use_fast_math"),
    )


def test_order_of_flags_changes_neither_key_nor_identity(rotate: Rotate, compiled: Compile) -> None:
    first = compiled(rotate(flags=("--use_fast_math", "--fmad=false")))
    second = compiled(rotate(flags=("--fmad=false", "--use_fast_math")))

    assert (second.key, second.identity) == (first.key, first.identity)


def test_compile_error_starts_with_the_verdict_and_shows_file_and_line(
    write: Write, compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write("broken.cu", ROTATE + "__device__ int answer = missing;\n")
    monkeypatch.chdir(source.parent.parent)

    with pytest.raises(CompileError) as caught:
        compiled(Recipe(source, "sm_90"))

    lines = str(caught.value).splitlines()
    assert lines[0] == "does not compile: kernels/broken.cu for sm_90"
    assert lines[1] == f'  {source}(8): error: identifier "missing" is undefined'
    assert lines[-1] == "fix the lines that the compiler names"


def test_compile_error_in_an_included_header_shows_the_header(
    write: Write, compiled: Compile
) -> None:
    header = write("common.cuh", "\nint answer = missing;\n")
    source = write("rotate.cu", '#include "common.cuh"\n' + ROTATE)

    with pytest.raises(CompileError) as caught:
        compiled(Recipe(source, "sm_90"))

    assert f"{header}(2): error" in str(caught.value)


def test_absent_header_is_named_in_the_remedy(write: Write, compiled: Compile) -> None:
    source = write("rotate.cu", '#include "absent.cuh"\n' + ROTATE)

    with pytest.raises(CompileError) as caught:
        compiled(Recipe(source, "sm_90"))

    assert str(caught.value).splitlines()[-1].startswith("put absent.cuh beside the source")


def test_too_much_static_shared_memory_gives_the_limit_without_ptxas_chatter(
    write: Write, compiled: Compile
) -> None:
    source = write("rotate.cu", ROTATE.replace("tile[32]", "tile[12289]"))

    with pytest.raises(CompileError) as caught:
        compiled(Recipe(source, "sm_90"))

    assert "uses too much shared data (0xc004 bytes, 0xc000 max)" in str(caught.value)
    assert "ptxas info" not in str(caught.value)


def test_absent_source_is_named(tmp_path: Path, compiled: Compile) -> None:
    with pytest.raises(CompileError, match=r"does not compile: .*none\.cu cannot be read"):
        compiled(Recipe(tmp_path / "none.cu", "sm_90"))


def test_source_that_is_not_utf8_is_named(write: Write, compiled: Compile) -> None:
    source = write("rotate.cu", ROTATE)
    source.write_bytes(b"// \xe9\n" + source.read_bytes())

    with pytest.raises(CompileError, match=r"does not compile: .*rotate\.cu is not UTF-8"):
        compiled(Recipe(source, "sm_90"))


def test_arch_with_a_feature_suffix_compiles(write: Write, compiled: Compile) -> None:
    module = compiled(Recipe(write("rotate.cu", ROTATE), "sm_90a"))

    assert ("arch", "sm_90a") in module.identity
