"""Flags are spelled as nvcc spells them, and reach NVRTC or are refused by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.device.compiler import (
    BOOLEANS,
    NUMBERS,
    SWITCHES,
    Recipe,
    _program_options,
    compile_recipe,
    flag_options,
)
from pytest_rmsperf.device.toolchain import find_toolchain
from pytest_rmsperf.errors import CompileError


@pytest.mark.parametrize(
    "flag",
    [*SWITCHES, *(f"{name}=false" for name in BOOLEANS), *(f"{name}=64" for name in NUMBERS)],
)
def test_known_flag_reaches_nvrtc_as_it_was_written(flag: str) -> None:
    from cuda.core import ProgramOptions

    options = ProgramOptions(arch="sm_90", **flag_options((flag,)))

    written = "--device-debug" if flag == "-G" else flag
    assert written.encode() in options.as_bytes("nvrtc", "cubin")


@pytest.mark.parametrize("flag", ["--fast", "--fmad=no", "--maxrregcount=many", "--maxrregcount"])
def test_unknown_flag_is_named_beside_the_known_ones(tmp_path: Path, flag: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_recipe(Recipe(tmp_path / "any.cu", "sm_90", flags=(flag,)))

    message = str(caught.value)
    assert message.startswith(f"unknown compiler flag {flag}\n")
    for known in ("--use_fast_math", "--fmad=true|false", "--maxrregcount=NUMBER"):
        assert known in message


def test_flag_against_another_is_refused() -> None:
    with pytest.raises(CompileError, match="compiler flag --fmad=true is given twice or against"):
        flag_options(("--fmad=false", "--fmad=true"))


def options_under(nvrtc: str, *flags: str) -> list[bytes]:
    """What a recipe with these flags gives an NVRTC of this version."""
    recipe = Recipe(Path("any.cu"), "sm_90", flags=flags)
    tools = replace(find_toolchain(), nvrtc=nvrtc)
    options = _program_options(recipe, flag_options(flags), tools)
    given: list[bytes] = options.as_bytes("nvrtc", "cubin")
    return given


def test_cache_of_nvrtc_is_off_where_there_is_one_because_a_hit_in_it_has_no_log() -> None:
    assert b"--no-cache" in options_under("13.0.88")
    assert b"--no-cache" not in options_under("12.8.93")


def test_line_information_gives_way_to_device_debug() -> None:
    assert b"--generate-line-info" in options_under("13.0.88")
    assert b"--generate-line-info" not in options_under("13.0.88", "-G")
