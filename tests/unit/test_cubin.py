"""The machine code of a cubin: what belongs to a kernel, what does not, and honest refusals."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.device.compiler import Recipe
from pytest_rmsperf.device.cubin import kernel_codes, max_threads_per_block
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule, MachineCode
from tiny_cubin import cubin_of, text_of

Write = Callable[[str, str], Path]
Compile = Callable[[Recipe], CompiledModule]

SCALE = 'extern "C" __global__ void scale(float *x) { x[threadIdx.x] *= 2.0f; }\n'
# A call that is not inlined, a table of jumps, and a literal that does not fit an instruction.
ALL = """
__device__ __noinline__ float helper(const float *x) {
    float sum = 0.0f;
    for (int i = 0; i < 7; i++) sum += x[i];
    return sum;
}
extern "C" __global__ void all(float *x) {
    x[threadIdx.x] = helper(x) * 3.14159;
    switch (threadIdx.x) {
        case 0: x[1] = 5.0f; break;
        case 1: x[2] = sinf(x[3]); break;
        case 2: x[4] = tanf(x[5]); break;
        case 3: x[6] = expf(x[7]); break;
        case 4: x[8] = erff(x[9]); break;
        case 5: x[10] = 1.0f / x[11]; break;
    }
}
"""
HELPED = """
__device__ __noinline__ float helper(float x) { return x * 3.0f; }
extern "C" __global__ void first(float *x) { x[0] = helper(x[1]); }
extern "C" __global__ void second(float *x) { x[0] = x[1]; }
"""

ROW = text_of(1, 2, 3, 0)


def code_of(module: CompiledModule, kernel: str) -> MachineCode:
    code = module.kernel(kernel).code
    assert code is not None
    return code


@pytest.fixture
def scaled(write: Write, compiled: Compile) -> Callable[..., MachineCode]:
    """Compiles SCALE with a part of it replaced, and returns the machine code of `scale`."""

    def compile_one(old: str = "", new: str = "") -> MachineCode:
        source = write("scale.cu", SCALE.replace(old, new))
        return code_of(compiled(Recipe(source, "sm_90")), "scale")

    return compile_one


# ---- real cubins -----------------------------------------------------------------------------


def test_a_source_in_two_folders_at_two_times_has_one_machine_code(
    write: Write, compiled: Compile, tmp_path: Path
) -> None:
    sources = [write("one/all.cu", ALL), write("two/all.cu", ALL)]
    os.utime(sources[1], (1_000_000_000, 1_000_000_000))

    first, second = (compiled(Recipe(one, "sm_90")) for one in sources)

    assert first.kernels == second.kernels


def test_where_a_source_lies_is_in_the_cubin_and_not_in_the_machine_code(
    write: Write, compiled: Compile, cache_dir: Path
) -> None:
    first = compiled(Recipe(write("one/all.cu", ALL), "sm_90"))
    (cache_dir / f"{first.key}.cubin").unlink()  # built again in the other folder

    second = compiled(Recipe(write("elsewhere/two/all.cu", ALL), "sm_90"))

    assert (first.cubin == second.cubin, first.kernels == second.kernels) == (False, True)


@pytest.mark.parametrize(
    ("old", "new", "is_equal"),
    [
        ("2.0f", "4.0f", False),
        ("*=", "+=", False),
        ("float *x", "float *values, float *x", False),
        ("x[threadIdx.x]", "x[threadIdx.x] /* each */", True),
        ("\n", '\nextern "C" __global__ void other(float *x) { x[0] = 1.0f; }\n', True),
    ],
    ids=["literal", "instruction", "parameter", "comment", "another kernel"],
)
def test_machine_code_changes_with_what_the_device_executes_and_with_nothing_else(
    scaled: Callable[..., MachineCode], old: str, new: str, *, is_equal: bool
) -> None:
    assert (scaled() == scaled(old, new)) is is_equal


def test_a_literal_in_a_constant_bank_is_part_of_the_machine_code(
    write: Write, compiled: Compile
) -> None:
    first = code_of(compiled(Recipe(write("all.cu", ALL), "sm_90")), "all")
    other = write("all.cu", ALL.replace("3.14159", "3.14160"))

    second = code_of(compiled(Recipe(other, "sm_90")), "all")

    assert first.code_bytes == second.code_bytes
    assert first.sha256 != second.sha256


def test_the_value_of_a_constant_that_the_host_may_replace_is_no_machine_code(
    write: Write, compiled: Compile
) -> None:
    text = "__constant__ float factor = 2.0f;\n" + SCALE.replace("2.0f", "factor")
    first = compiled(Recipe(write("scale.cu", text), "sm_90"))

    second = compiled(Recipe(write("scale.cu", text.replace("2.0f", "4.0f")), "sm_90"))

    assert first.kernels == second.kernels


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_the_code_of_a_kernel_has_whole_instructions_on_every_arch(
    write: Write, compiled: Compile, arch: str
) -> None:
    module = compiled(Recipe(write("all.cu", ALL), arch))

    code = kernel_codes(module.cubin, ["all"])["all"]

    assert [len(text) % 16 for text in code.texts] == [0]
    assert code_of(module, "all") == code.machine_code
    assert code.literals != b""


def test_debug_build_counts_a_function_in_a_section_of_its_own_for_every_kernel(
    write: Write, compiled: Compile
) -> None:
    module = compiled(Recipe(write("helped.cu", HELPED), "sm_90", flags=("-G",)))

    codes = kernel_codes(module.cubin, ["first", "second"])

    assert codes["first"].texts[1:] == codes["second"].texts[1:] != ()


# ---- the format ------------------------------------------------------------------------------


def test_code_bytes_are_those_of_the_kernel_and_of_functions_that_lie_apart() -> None:
    cubin = cubin_of({".text.row": ROW, ".text.helper": text_of(3), ".text.tile": text_of(1, 3)})

    codes = kernel_codes(cubin, ["row", "tile"])

    assert codes["row"].machine_code.code_bytes == len(ROW) + 16
    assert codes["tile"].texts == (text_of(1, 3), text_of(3))


def test_the_order_of_sections_does_not_matter() -> None:
    sections = {".text.row": ROW, ".text.b": text_of(2), ".text.a": text_of(3)}
    backwards = dict(reversed(sections.items()))

    codes = [kernel_codes(cubin_of(one), ["row"])["row"] for one in (sections, backwards)]

    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    ("section", "is_part"),
    [
        (".nv.constant2.row", True),
        (".nv.constant0.row", False),
        (".nv.constant3", False),
        (".nv.constant2.tile", False),
        (".debug_line", False),
    ],
)
def test_literals_are_the_kernels_own_banks_but_for_its_parameters(
    section: str, *, is_part: bool
) -> None:
    without = cubin_of({".text.row": ROW})
    with_it = cubin_of({".text.row": ROW, section: b"1234"})

    first, second = (kernel_codes(one, ["row"])["row"].machine_code for one in (without, with_it))

    assert (first != second) is is_part


def test_bytes_that_move_from_one_section_to_another_are_other_code() -> None:
    code = kernel_codes(cubin_of({".text.row": ROW, ".text.helper": ROW}), ["row"])["row"]

    joined = replace(code, texts=(ROW + ROW,))

    assert joined.machine_code.sha256 != code.machine_code.sha256


@pytest.mark.parametrize(
    ("cubin", "why"),
    [
        (b"#!/bin/sh" + b"\0" * 64, "it begins with b'#!/bin' and is for machine 0, not for CUDA"),
        (cubin_of({".text.row": ROW}, machine=62), "is for machine 62, not for CUDA"),
        (cubin_of({".text.tile": ROW}), "it has no section .text.row"),
        (cubin_of({".text.row": ROW})[:-40], "it is torn: "),
        (b"", "it is torn: "),
    ],
    ids=["script", "machine", "kernel", "torn", "empty"],
)
def test_a_cubin_that_is_not_understood_is_refused(cubin: bytes, why: str) -> None:
    with pytest.raises(CompileError) as caught:
        kernel_codes(cubin, ["row"])

    lines = str(caught.value).splitlines()
    assert lines[0] == "the machine code is unknown: this cubin is not understood"
    assert why in lines[1]


def test_a_section_beyond_the_end_is_refused_and_not_read_as_short() -> None:
    cubin = bytearray(cubin_of({".text.row": ROW}))
    header = len(cubin) - 2 * 64  # of .text.row, the last but one
    cubin[header + 32 : header + 40] = (10_000).to_bytes(8, "little")

    with pytest.raises(CompileError, match="it is torn: a section ends at byte "):
        kernel_codes(bytes(cubin), ["row"])


def test_launch_bounds_of_a_torn_cubin_are_refused_too() -> None:
    with pytest.raises(CompileError, match="this cubin is not understood"):
        max_threads_per_block(cubin_of({".nv.info.row": b"\x04\x05"}))
