"""The compiler and its headers are found, named, and held against each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.toolchain import (
    HEADER_SETS,
    Toolchain,
    find_headers,
    find_toolchain,
    read_headers,
)
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledModule

Write = Callable[[str, str], Path]
Compile = Callable[[Recipe], CompiledModule]
Rotate = Callable[..., Recipe]


@pytest.fixture
def fresh_toolchain() -> Iterator[None]:
    """Look for the toolchain anew in this test, and again after it."""
    find_toolchain.cache_clear()
    yield
    find_toolchain.cache_clear()


def test_nvrtc_version_has_its_build_number() -> None:
    assert find_toolchain().nvrtc.count(".") == 2


@pytest.mark.parametrize("arch", ["sm_61", "sm_999", "hopper"])
def test_arch_that_nvrtc_does_not_know_is_refused_in_one_line(rotate: Rotate, arch: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_recipe(replace(rotate(), arch=arch))

    message = str(caught.value)
    assert message.startswith(f"arch {arch} is not one that NVRTC {find_toolchain().nvrtc} ")
    assert "sm_80, sm_86" in message
    assert "\n" not in message


@pytest.mark.parametrize("package", ["cuda.bindings", "cuda.pathfinder"])
@pytest.mark.usefixtures("fresh_toolchain")
def test_missing_extra_is_refused_with_the_command_that_installs_it(
    rotate: Rotate, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(CompileError) as caught:
        compile_recipe(rotate())

    lines = str(caught.value).splitlines()
    assert lines[0] == f"nothing can be compiled: {package} is not installed"
    assert lines[-1] == 'pip install "pytest-rmsperf[cuda13]"'


def test_missing_cuda_core_alone_is_refused_with_the_same_command(
    rotate: Rotate, compiled: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cuda.core", None)

    with pytest.raises(CompileError, match=r"nothing can be compiled: cuda\.core is not installed"):
        compiled(rotate())


def test_all_missing_headers_are_named_in_one_message_with_their_wheels(tmp_path: Path) -> None:
    places = {"cudart": None, "cccl": (tmp_path, "CUDA_PATH")}

    with pytest.raises(CompileError) as caught:
        find_headers(places.__getitem__, "13.0")

    assert str(caught.value).splitlines() == [
        "nothing can be compiled: CUDA headers are missing",
        "  vector_types.h of the cudart headers: no folder found",
        f"  nv/target of the cccl headers: not in {tmp_path} (found via CUDA_PATH)",
        'pip install "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cccl==13.0.*"',
    ]


def headers_of_release(folder: Path, number: int) -> Toolchain:
    """The toolchain here, but with the runtime headers of another CUDA release."""
    (folder / "cuda_runtime_api.h").write_text(f"#define CUDART_VERSION  {number}\n")
    cudart = read_headers(HEADER_SETS[0], folder, "CUDA_PATH")
    return replace(find_toolchain(), headers=(cudart, find_toolchain().headers[1]))


def test_headers_of_another_release_are_in_the_identity_and_warned_of(tmp_path: Path) -> None:
    tools = headers_of_release(tmp_path, 12090)
    mismatch = f"cudart headers of CUDA 12.9, NVRTC {tools.nvrtc}"

    assert ("headers_mismatch", mismatch) in tools.identity
    assert len(tools.warnings) == 1
    assert tools.warnings[0].startswith(f"two CUDA installs are mixed: {mismatch}\n")
    assert str(tmp_path) in tools.warnings[0]
    assert f'pip install "nvidia-cuda-runtime=={tools.release}.*"' in tools.warnings[0]


def test_headers_of_the_same_release_are_not_warned_of(tmp_path: Path) -> None:
    number = int(find_toolchain().release.replace(".", "0")) * 10
    tools = headers_of_release(tmp_path, number)

    assert tools.warnings == ()
    assert "headers_mismatch" not in dict(tools.identity)


def test_headers_of_another_release_still_compile(rotate: Rotate, cache_dir: Path) -> None:
    cudart, cccl = find_toolchain().headers
    tools = replace(find_toolchain(), headers=(replace(cudart, release="12.9"), cccl))

    module = compile_recipe(rotate(), cache_dir=cache_dir, toolchain=tools)

    assert "headers_mismatch" in dict(module.identity)


def test_cccl_headers_tell_the_release_of_the_folder_they_lie_in(tmp_path: Path) -> None:
    version = tmp_path / "cccl" / "cuda" / "std" / "__cccl" / "version.h"
    version.parent.mkdir(parents=True)
    version.write_text("#define CCCL_VERSION 3000001\n")
    (tmp_path / "cuda_runtime_api.h").write_text("#define CUDART_VERSION 13000\n")

    headers = read_headers(HEADER_SETS[1], tmp_path / "cccl", "supported_install_dir")

    assert (headers.text, headers.release) == ("3.0.1 (supported_install_dir)", "13.0")


def test_identity_holds_no_path_of_this_machine() -> None:
    tools = find_toolchain()

    assert not [value for _, value in tools.identity if "/" in value]


def test_wheels_of_cuda_12_have_its_suffix() -> None:
    nowhere: dict[str, tuple[Path, str] | None] = {"cudart": None, "cccl": None}

    with pytest.raises(CompileError, match=r'"nvidia-cuda-runtime-cu12==12\.9\.\*"'):
        find_headers(nowhere.get, "12.9")


def test_own_cache_of_nvrtc_is_known_from_12_9_on() -> None:
    known = {
        nvrtc: replace(find_toolchain(), nvrtc=nvrtc).has_own_cache
        for nvrtc in ("12.8.93", "12.9.41", "13.0.88")
    }

    assert known == {"12.8.93": False, "12.9.41": True, "13.0.88": True}
