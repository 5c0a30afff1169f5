"""What a compiled kernel tells of its machine code, and what of it is kept in the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from pytest_rmsperf.device import compiler_cache
from pytest_rmsperf.device.compiler import Recipe, cache_key, compiled_before
from pytest_rmsperf.device.compiler_cache import CubinCache, Entry
from pytest_rmsperf.device.cubin import kernel_codes
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule, MachineCode

Write = Callable[[str, str], Path]
Compile = Callable[[Recipe], CompiledModule]
Rotate = Callable[..., Recipe]

COUNTED = MachineCode(128, "ab", instructions=7, counts=(("global load 32", 2),))


def test_every_kernel_has_its_machine_code_without_a_disassembler(
    write: Write, compiled: Compile
) -> None:
    source = write(
        "two.cu",
        'extern "C" __global__ void one(float *x) { x[0] = 1.0f; }\n'
        'extern "C" __global__ void two(float *x) { x[0] = x[1] * x[2]; }\n',
    )

    module = compiled(Recipe(source, "sm_90"))

    codes = kernel_codes(module.cubin, ["one", "two"])
    assert [one.code for one in module.kernels] == [codes[k].machine_code for k in ("one", "two")]


def test_machine_code_from_the_cache_is_that_of_the_build(
    rotate: Rotate, compiled: Compile
) -> None:
    first, second = (compiled(rotate()).kernels[0].code for _ in range(2))

    assert first == second
    assert first is not None
    assert (first.instructions, first.counts) == (None, ())


def test_counts_are_never_frozen_into_a_cubins_entry(
    rotate: Rotate, compiled: Compile, cache_dir: Path
) -> None:
    module = compiled(rotate())
    counted = replace(module.kernels[0], code=COUNTED)
    cache = CubinCache(cache_dir, 0.0)

    cache.store(module.key, Entry(module.cubin, (counted,)))

    entry = cache.load(module.key)
    assert entry is not None
    assert entry.kernels[0].code == MachineCode(128, "ab")


def test_an_entry_of_an_older_format_is_compiled_again(
    rotate: Rotate, compiled: Compile, cache_dir: Path
) -> None:
    first = compiled(rotate())
    file = cache_dir / f"{first.key}.json"
    stored = json.loads(file.read_text())
    for kernel in stored["kernels"]:
        del kernel["code"]  # as before format 3
    figures = json.dumps(stored["kernels"], sort_keys=True).encode()
    file.write_text(json.dumps({**stored, "kernels_sha256": sha256(figures).hexdigest()}))

    again = compiled(rotate())

    assert again == first


def test_entries_of_another_format_have_another_key(
    rotate: Rotate, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cache_key(rotate())

    monkeypatch.setattr(compiler_cache, "FORMAT", compiler_cache.FORMAT + 1)

    assert cache_key(rotate()) != before


def test_what_was_compiled_before_is_found_and_nothing_is_compiled_for_it(
    rotate: Rotate, compiled: Compile, cache_dir: Path
) -> None:
    absent = compiled_before(rotate(), cache_dir=cache_dir)

    module = compiled(rotate())

    assert absent is None
    assert compiled_before(rotate(), cache_dir=cache_dir) == replace(module, from_cache=True)


def test_the_key_is_that_of_the_compiled_module(rotate: Rotate, compiled: Compile) -> None:
    assert cache_key(rotate()) == compiled(rotate()).key


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        (Recipe(Path("none.cu"), "sm_90"), r"none\.cu cannot be read"),
        (Recipe(Path("none.cu"), "sm_20"), "arch sm_20 is not one that "),
        (Recipe(Path("none.cu"), "sm_90", flags=("-x",)), "unknown compiler flag -x"),
    ],
    ids=["source", "arch", "flag"],
)
def test_the_key_of_what_cannot_be_compiled_is_refused(recipe: Recipe, why: str) -> None:
    with pytest.raises(CompileError, match=why):
        cache_key(recipe)
