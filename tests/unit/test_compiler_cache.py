"""A cubin is found again exactly when nothing that went into it has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.compiler_cache import content_key, source_texts
from pytest_rmsperf.device.ptxas_log import parse_ptxas_log
from pytest_rmsperf.device.toolchain import find_toolchain
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule

ROTATE = (Path(__file__).parent / "data" / "rotate.cu").read_text(encoding="utf-8")

Write = Callable[[str, str], Path]
Compile = Callable[[Recipe], CompiledModule]
Rotate = Callable[..., Recipe]


def key_of(source: Path) -> str:
    """The key of a source alone, so that a test of keys costs no compile."""
    return content_key(source, ())


def test_edit_of_an_included_header_changes_the_key(write: Write) -> None:
    source = write("rotate.cu", '#include "sub/outer.cuh"\n' + ROTATE)
    write("sub/outer.cuh", '#  include "inner.cuh"\n')
    write("sub/inner.cuh", "#define INNER 1\n")
    before = key_of(source)

    write("sub/inner.cuh", "#define INNER 2\n")

    assert key_of(source) != before


def test_edit_of_an_unrelated_header_keeps_the_key(write: Write) -> None:
    source = write("rotate.cu", '#include "used.cuh"\n// #include "other.cuh"\n' + ROTATE)
    write("used.cuh", "")
    write("other.cuh", "#define OTHER 1\n")
    before = key_of(source)

    write("other.cuh", "#define OTHER 2\n")

    assert key_of(source) == before


@pytest.mark.parametrize(
    "directive",
    [
        "#include <near.cuh>",
        '#include /* why */ "near.cuh"',
        '#include \\\n "near.cuh"',
        '#define SLASHES "//*"\n#include "near.cuh"',
        '#if __has_include("near.cuh")\n#endif',
        '#include "sub/../near.cuh"',
    ],
)
def test_own_header_is_found_however_it_is_included(write: Write, directive: str) -> None:
    header = write("near.cuh", "// near\n")
    source = write("rotate.cu", f"{directive}\n{ROTATE}")

    texts = [text for _, text in source_texts(source)]

    assert header.read_bytes() in texts


def test_header_named_by_a_macro_is_refused_because_no_key_can_hold_it(write: Write) -> None:
    source = write("rotate.cu", '#define CHOICE "near.cuh"\n#include CHOICE\n')

    with pytest.raises(CompileError, match=r"rotate\.cu includes a file by the macro CHOICE"):
        source_texts(source)


def test_header_in_a_subfolder_includes_one_beside_the_source(write: Write) -> None:
    write("sub/outer.cuh", '#include "top.cuh"\n')
    write("top.cuh", "// top\n")
    source = write("rotate.cu", '#include "sub/outer.cuh"\n')

    assert [name for name, _ in source_texts(source)] == ["", "sub/outer.cuh", "top.cuh"]


def test_headers_that_include_each_other_are_read_once(write: Write) -> None:
    write("a.cuh", '#include "b.cuh"\n')
    write("b.cuh", '#include "a.cuh"\n')
    source = write("rotate.cu", '#include "a.cuh"\n')

    assert [name for name, _ in source_texts(source)] == ["", "a.cuh", "b.cuh"]


def test_same_texts_in_another_folder_have_the_same_key(write: Write) -> None:
    header = "#define COMMON 1\n"
    sources = []
    for folder in ("one", "two"):
        write(f"{folder}/common.cuh", header)
        sources.append(write(f"{folder}/rotate.cu", '#include "common.cuh"\n' + ROTATE))

    assert len({key_of(source) for source in sources}) == 1


def test_constant_flag_arch_and_source_each_change_the_key(
    write: Write, rotate: Rotate, compiled: Compile
) -> None:
    recipe = rotate()
    other = write("other.cu", ROTATE + "// other\n")
    recipes = [
        recipe,
        replace(recipe, constants=(("TILE", 1),)),
        replace(recipe, constants=(("TILE", 2),)),
        replace(recipe, flags=("--use_fast_math",)),
        replace(recipe, arch="sm_80"),
        replace(recipe, source=other),
    ]

    keys = {compiled(one).key for one in recipes}

    assert len(keys) == len(recipes)


def test_compiler_of_another_build_changes_the_key(rotate: Rotate, cache_dir: Path) -> None:
    recipe = rotate()
    bumped = replace(find_toolchain(), nvrtc="13.0.99")

    modules = [
        compile_recipe(recipe, cache_dir=cache_dir, toolchain=tools)
        for tools in (find_toolchain(), bumped)
    ]

    assert modules[0].key != modules[1].key
    assert not modules[1].from_cache


def test_second_compile_is_from_the_cache_with_equal_numbers(
    rotate: Rotate, compiled: Compile
) -> None:
    recipe = rotate()
    first = compiled(recipe)
    second = compiled(recipe)

    assert not first.from_cache
    assert second == replace(first, from_cache=True)


@pytest.mark.parametrize("suffix", ["cubin", "json"])
def test_torn_cache_file_is_compiled_again(
    rotate: Rotate, compiled: Compile, cache_dir: Path, suffix: str
) -> None:
    recipe = rotate()
    first = compiled(recipe)
    file = cache_dir / f"{first.key}.{suffix}"
    file.write_bytes(file.read_bytes()[:-40])

    assert compiled(recipe) == first
    assert compiled(recipe).from_cache


@pytest.mark.parametrize("suffix", ["cubin", "json"])
def test_half_an_entry_is_compiled_again(
    rotate: Rotate, compiled: Compile, cache_dir: Path, suffix: str
) -> None:
    recipe = rotate()
    first = compiled(recipe)
    (cache_dir / f"{first.key}.{suffix}").unlink()

    assert compiled(recipe) == first


def test_changed_figure_in_the_cache_is_not_trusted(
    rotate: Rotate, compiled: Compile, cache_dir: Path
) -> None:
    recipe = rotate()
    first = compiled(recipe)
    file = cache_dir / f"{first.key}.json"
    stored = json.loads(file.read_text())
    stored["kernels"][0]["registers_per_thread"] += 1
    file.write_text(json.dumps(stored))

    assert compiled(recipe) == first


def test_failed_compile_leaves_no_entry(write: Write, compiled: Compile, cache_dir: Path) -> None:
    with pytest.raises(CompileError):
        compiled(Recipe(write("broken.cu", "int answer = missing;\n"), "sm_90"))

    assert [file.suffix for file in cache_dir.iterdir() if file.suffix != ".lock"] == []


def test_stored_entry_leaves_no_temporary_file(
    rotate: Rotate, compiled: Compile, cache_dir: Path
) -> None:
    key = compiled(rotate()).key

    names = {file.name for file in cache_dir.iterdir()}
    assert names - {f"{key}.lock"} == {f"{key}.cubin", f"{key}.json"}


def test_source_edited_while_it_is_compiled_is_not_cached(
    write: Write,
    rotate: Rotate,
    compiled: Compile,
    cache_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recipe = rotate()

    def parse_late(log: str) -> object:
        write("rotate.cu", ROTATE + "// edited\n")
        return parse_ptxas_log(log)

    monkeypatch.setattr("pytest_rmsperf.device.compiler.parse_ptxas_log", parse_late)

    with pytest.raises(CompileError, match="changed while it was being compiled"):
        compiled(recipe)
    assert list(cache_dir.glob("*.cubin")) == []


def test_cache_folder_that_cannot_be_made_is_named(rotate: Rotate, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file, not a folder")

    with pytest.raises(CompileError, match=r"the cache folder .*taken/cubin cannot be written"):
        compile_recipe(rotate(), cache_dir=taken / "cubin")


def test_stale_lock_file_of_a_killed_build_does_not_block(rotate: Rotate, cache_dir: Path) -> None:
    recipe = rotate()
    key = compile_recipe(recipe, cache_dir=cache_dir / "elsewhere").key
    (cache_dir / f"{key}.lock").write_text("4194304")

    module = compile_recipe(recipe, cache_dir=cache_dir, lock_timeout_s=0.0)

    assert not module.from_cache


def test_failed_build_gives_its_lock_back(write: Write, cache_dir: Path) -> None:
    recipe = Recipe(write("broken.cu", "__device__ int answer = missing;\n"), "sm_90")

    for _ in range(2):
        with pytest.raises(CompileError, match="does not compile"):
            compile_recipe(recipe, cache_dir=cache_dir, lock_timeout_s=0.0)


def test_held_lock_times_out_and_names_the_lock_file(rotate: Rotate, cache_dir: Path) -> None:
    recipe = rotate()
    key = compile_recipe(recipe, cache_dir=cache_dir / "elsewhere").key
    lock_file = cache_dir / f"{key}.lock"

    with FileLock(lock_file), pytest.raises(CompileError) as caught:
        compile_recipe(recipe, cache_dir=cache_dir, lock_timeout_s=0.1)

    lines = str(caught.value).splitlines()
    assert lines[0] == "not compiled: another process has held the build lock for 0.1 s"
    assert lines[1] == f"  lock file {lock_file}"


def test_entry_that_is_there_is_used_without_the_lock(rotate: Rotate, cache_dir: Path) -> None:
    first = compile_recipe(rotate(), cache_dir=cache_dir)

    with FileLock(cache_dir / f"{first.key}.lock"):
        second = compile_recipe(rotate(), cache_dir=cache_dir, lock_timeout_s=0.0)

    assert second.from_cache
