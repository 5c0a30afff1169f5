"""The host's compiler: which one is taken, and what is said where none can be."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_rmsperf.emulated import toolchain
from pytest_rmsperf.emulated.device import why_no_emulation
from pytest_rmsperf.emulated.toolchain import BINUTILS, find_host_compiler
from pytest_rmsperf.errors import DeviceError

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """The answer is kept for a process: here each test asks anew."""
    find_host_compiler.cache_clear()
    yield
    find_host_compiler.cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put programs of these names, and a g++ that calls itself this version, on an empty path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(toolchain.COMPILER_VARIABLE, raising=False)

    def add(version: str | None = "12.2.0", tools: tuple[str, ...] = BINUTILS) -> None:
        programs = dict.fromkeys(tools, "") | ({} if version is None else {"g++": version})
        for name, answer in programs.items():
            file = tmp_path / name
            file.write_text(f"#!/bin/sh\necho {answer}\n", encoding="utf-8")
            file.chmod(0o755)

    return add


def test_gcc_on_the_path_is_taken(install: Install, tmp_path: Path) -> None:
    install()

    found = find_host_compiler()

    assert (found.path, found.name) == (str(tmp_path / "g++"), "g++ 12.2.0")


@pytest.mark.parametrize("version", ["11.1.0", "15.2"])
def test_gcc_from_11_on_is_taken(install: Install, version: str) -> None:
    install(version)

    assert find_host_compiler().version == version


@pytest.mark.parametrize(
    ("version", "tools", "words"),
    [
        (None, BINUTILS, "no C++ compiler: g++ is no program on the path"),
        ("10.4.0", BINUTILS, "is GCC 10.4.0, older than 11"),
        ("'clang version 17'", BINUTILS, "is not GCC: it calls its version 'clang version 17'"),
        ("12.2.0", ("readelf", "addr2line"), "no c++filt on the path"),
        ("12.2.0", (), "no readelf, c++filt, addr2line on the path"),
    ],
)
def test_what_cannot_compile_kernels_is_told_with_what_to_install(
    install: Install, version: str | None, tools: tuple[str, ...], words: str
) -> None:
    install(version, tools)

    reason = why_no_emulation() or ""

    assert words in reason
    assert "apt-get install g++" in reason


def test_variable_names_another_compiler(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    (tmp_path / "g++").rename(tmp_path / "my-g++")
    monkeypatch.setenv("RMSPERF_CXX", str(tmp_path / "my-g++"))

    assert find_host_compiler().path == str(tmp_path / "my-g++")


def test_variable_that_names_no_program_is_told(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install()
    monkeypatch.setenv("RMSPERF_CXX", str(tmp_path / "no-g++"))

    with pytest.raises(DeviceError, match=re.escape(f"{tmp_path / 'no-g++'} is no program")):
        find_host_compiler()


def test_this_machine_has_what_the_tests_of_this_folder_need() -> None:
    assert os.environ.get("PATH")
    assert why_no_emulation() is None
