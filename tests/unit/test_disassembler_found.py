"""Which nvdisasm is taken, and what the real one says of what the compiler made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.device import disassembler
from pytest_rmsperf.device.compiler import Recipe
from pytest_rmsperf.device.disassembler import (
    Disassembler,
    InstructionCounter,
    find_disassembler,
)
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule
from tiny_cubin import script

Compile = Callable[[Recipe], CompiledModule]
Rotate = Callable[..., Recipe]

REAL = find_disassembler()
needs_nvdisasm = pytest.mark.skipif(REAL is None, reason="nvdisasm is not installed")
VERSION = '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V{}"\n'


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Path]:
    """The folders that CUDA_PATH, CUDA_HOME and PATH name; no wheel is installed."""
    monkeypatch.setattr(disassembler, "WHEEL", "no-such-wheel")
    found = {name: tmp_path / name.lower() for name in ("CUDA_PATH", "CUDA_HOME", "PATH")}
    for name, folder in found.items():
        monkeypatch.setenv(name, str(folder))
    return {"CUDA_PATH": found["CUDA_PATH"] / "bin", "CUDA_HOME": found["CUDA_HOME"] / "bin"} | {
        "PATH": found["PATH"]
    }


@pytest.mark.parametrize(
    "present", [("CUDA_PATH", "CUDA_HOME", "PATH"), ("CUDA_HOME", "PATH"), ("PATH",)]
)
def test_the_first_place_that_has_one_is_taken(
    places: dict[str, Path], present: tuple[str, ...]
) -> None:
    for number, name in enumerate(present):
        script(places[name], VERSION.format(f"13.0.{number}"))

    found = find_disassembler()

    assert found == Disassembler(places[present[0]] / "nvdisasm", "13.0.0", present[0])


def test_there_may_be_none(places: dict[str, Path]) -> None:
    for folder in places.values():
        script(folder, "").chmod(0o644)  # a file that is no program

    assert (find_disassembler(), InstructionCounter.found()) == (None, None)


def test_one_that_does_not_tell_its_version_is_refused(places: dict[str, Path]) -> None:
    path = script(places["PATH"], "#!/bin/sh\necho hello\n")

    with pytest.raises(CompileError) as caught:
        find_disassembler()

    lines = str(caught.value).splitlines()
    assert lines[0] == f"instructions cannot be counted: {path} does not tell its version"
    assert lines[1] == "  found via PATH; it says 'hello\\n'"


# ---- the real one ----------------------------------------------------------------------------


@needs_nvdisasm
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"])
def test_nvdisasm_counts_what_the_compiler_made(
    rotate: Rotate, compiled: Compile, cache_dir: Path, arch: str
) -> None:
    assert REAL is not None
    module = compiled(replace(rotate(), arch=arch))

    (found,) = InstructionCounter(REAL, cache_dir).counted([module])

    code = found.kernel("rotate").code
    assert code is not None
    kinds = dict(code.counts)
    assert {"global load 32", "global store 32", "shared load 32", "barrier"} <= kinds.keys()
    assert code.instructions is not None
    assert sum(kinds.values()) < code.instructions < code.code_bytes / 16


@pytest.mark.skipif(
    REAL is None or REAL.found_via != disassembler.WHEEL, reason="no wheel of nvdisasm is installed"
)
def test_the_wheel_of_this_environment_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script(tmp_path / "bin", VERSION.format("1.2.3"))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))

    assert find_disassembler() == REAL


@needs_nvdisasm
def test_counts_are_kept_in_the_users_cache_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    found = InstructionCounter.found()

    assert found is not None
    assert found.folder == tmp_path / "pytest-rmsperf" / "instructions"
