"""Which NVRTC and which CUDA headers compile the kernels here, and whether they belong together.

Nothing in this file needs a driver or a GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.errors import CompileError

if TYPE_CHECKING:
    from types import ModuleType

INSTALL_EXTRA = 'pip install "pytest-rmsperf[cuda13]"'

Located = tuple[Path, str]  # a folder, and the kind of place it was found in


@dataclass(frozen=True, slots=True)
class HeaderSet:
    """A folder of headers that every kernel may need, by pathfinder's name and by one file in it.

    NVRTC itself asks for `vector_types.h` since CUDA 12.2, `cooperative_groups.h` for `nv/target`.
    """

    name: str
    landmark: str
    wheel: str
    version_file: str
    version_macro: str
    version_units: tuple[int, ...]  # 13000 in units of (1000, 10) is 13.0


HEADER_SETS = (
    HeaderSet(
        name="cudart",
        landmark="vector_types.h",
        wheel="nvidia-cuda-runtime",
        version_file="cuda_runtime_api.h",
        version_macro="CUDART_VERSION",
        version_units=(1000, 10),
    ),
    HeaderSet(
        name="cccl",
        landmark="nv/target",
        wheel="nvidia-cuda-cccl",
        version_file="cuda/std/__cccl/version.h",
        version_macro="CCCL_VERSION",
        version_units=(1000000, 1000, 1),
    ),
)


@dataclass(frozen=True, slots=True)
class Headers:
    """One header folder in use; `release` is the CUDA release (13.0) it came with, if it tells."""

    name: str
    folder: Path
    version: str
    release: str | None
    found_via: str

    @property
    def text(self) -> str:
        return f"{self.version} ({self.found_via})"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The compiler and the headers: what a cubin owes to the machine it was compiled on."""

    nvrtc: str
    archs: tuple[int, ...]
    headers: tuple[Headers, ...]

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """Names and versions, without paths, so that two machines set up alike agree on it."""
        pairs = [("nvrtc", self.nvrtc)]
        pairs += [(f"{one.name}_headers", one.version) for one in self.headers]
        pairs += [("headers_mismatch", self._foreign(one)) for one in self.foreign_headers]
        return tuple(pairs)

    @property
    def foreign_headers(self) -> tuple[Headers, ...]:
        """The headers of another CUDA release than NVRTC's; those that do not tell are trusted."""
        return tuple(one for one in self.headers if one.release not in (None, self.release))

    @property
    def release(self) -> str:
        return release_of(self.nvrtc)

    @property
    def has_own_cache(self) -> bool:
        """Whether NVRTC keeps results between processes (since 12.9, where a driver is there)."""
        return tuple(map(int, self.release.split("."))) >= (12, 9)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know though kernels compile: headers of one CUDA, NVRTC of another.

        For the report header; compiling goes on.
        """
        return tuple(
            f"two CUDA installs are mixed: {self._foreign(one)}\n"
            f"  {one.name} headers are in {one.folder}, found via {one.found_via}\n"
            f"unset CUDA_PATH, or install the headers of the same release: "
            f"pip install {_wheel(one.name, self.release)}"
            for one in self.foreign_headers
        )

    def describe(self) -> str:
        """One line for the report header."""
        headers = ", ".join(f"{one.name} headers {one.text}" for one in self.headers)
        return f"NVRTC {self.nvrtc}, {headers}"

    def require_arch(self, arch: str) -> None:
        """Raise CompileError, in one line, when this NVRTC does not compile for `arch`."""
        match = re.fullmatch(r"sm_(\d+)[af]?", arch)
        if match and int(match[1]) in self.archs:
            return
        known = ", ".join(f"sm_{number}" for number in self.archs)
        raise CompileError(
            f"arch {arch} is not one that NVRTC {self.nvrtc} compiles for; it knows {known}: "
            "choose one of these with --rmsperf-arch, or install the CUDA release that knows it"
        )

    def _foreign(self, headers: Headers) -> str:
        return f"{headers.name} headers of CUDA {headers.release}, NVRTC {self.nvrtc}"


@contextmanager
def cuda_extra() -> Iterator[None]:
    """Turn an ImportError of the optional packages into a CompileError with the pip command."""
    try:
        yield
    except ImportError as error:
        raise CompileError(
            f"nothing can be compiled: {error.name or 'a CUDA package'} is not installed\n"
            f"  {error}\n{INSTALL_EXTRA}"
        ) from error


@cache
def find_toolchain() -> Toolchain:
    """Return the compiler and headers of this process; CompileError says what is missing."""
    with cuda_extra():
        from cuda.bindings import nvrtc
        from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib
    try:
        load_nvidia_dynamic_lib("nvrtc")
    except DynamicLibNotFoundError as error:
        raise CompileError(
            f"nothing can be compiled: the NVRTC library is not installed\n  {error}\n"
            f"{INSTALL_EXTRA}"
        ) from error
    _, archs = nvrtc.nvrtcGetSupportedArchs()
    version = nvrtc_version(nvrtc)
    return Toolchain(version, tuple(archs), find_headers(_locate, release_of(version)))


def release_of(version: str) -> str:
    """Return the CUDA release of an NVRTC version: 13.0 of 13.0.88."""
    return ".".join(version.split(".")[:2])


def find_headers(locate: Callable[[str], Located | None], release: str) -> tuple[Headers, ...]:
    """Return the headers that `locate` finds by name.

    One CompileError names all that are missing, with the wheels of the CUDA `release` to install.
    """
    found = {one.name: locate(one.name) for one in HEADER_SETS}
    missing = [one for one in HEADER_SETS if not _has(found[one.name], one.landmark)]
    if missing:
        evidence = "\n".join(
            f"  {one.landmark} of the {one.name} headers: {_where(found[one.name])}"
            for one in missing
        )
        wheels = " ".join(_wheel(one.name, release) for one in missing)
        raise CompileError(
            f"nothing can be compiled: CUDA headers are missing\n{evidence}\npip install {wheels}"
        )
    return tuple(
        read_headers(one, *place) for one in HEADER_SETS if (place := found[one.name]) is not None
    )


def read_headers(one: HeaderSet, folder: Path, found_via: str) -> Headers:
    """Return the headers in `folder` with the version that the files themselves give."""
    # CCCL lies among the CUDA release's own headers, or since 13.0 in a subfolder of them.
    cudart = HEADER_SETS[0]
    release = _version(cudart, folder) or _version(cudart, folder.parent)
    return Headers(
        name=one.name,
        folder=folder,
        version=_version(one, folder) or "unknown version",
        release=release,
        found_via=found_via,
    )


def nvrtc_version(nvrtc: ModuleType) -> str:
    """Return the loaded NVRTC's full version, such as 13.0.88.

    Its API tells major and minor only; the build is in the header of the PTX it writes.
    """
    _, program = nvrtc.nvrtcCreateProgram(b"", b"version.cu", 0, [], [])
    nvrtc.nvrtcCompileProgram(program, 0, [])
    _, ptx_bytes = nvrtc.nvrtcGetPTXSize(program)
    ptx = b" " * ptx_bytes
    nvrtc.nvrtcGetPTX(program, ptx)  # fills the bytes in place
    nvrtc.nvrtcDestroyProgram(program)
    build = re.search(rb"V(\d+\.\d+\.\d+)", ptx)
    if build:
        return build[1].decode()
    _, major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}"


def _locate(name: str) -> Located | None:
    from cuda.pathfinder import locate_nvidia_header_directory

    located = locate_nvidia_header_directory(name)
    if located is None or located.abs_path is None:
        return None
    return Path(located.abs_path), located.found_via


def _has(place: Located | None, landmark: str) -> bool:
    return place is not None and (place[0] / landmark).is_file()


def _where(place: Located | None) -> str:
    return "no folder found" if place is None else f"not in {place[0]} (found via {place[1]})"


def _wheel(name: str, release: str) -> str:
    wheel = next(one.wheel for one in HEADER_SETS if one.name == name)
    suffix = "-cu12" if release.startswith("12.") else ""  # from 13 on without
    return f'"{wheel}{suffix}=={release}.*"'


def _version(one: HeaderSet, folder: Path) -> str | None:
    file = folder / one.version_file
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8", errors="replace")
    match = re.search(rf"#define\s+{one.version_macro}\s+(\d+)", text)
    if match is None:
        return None
    return _dotted(int(match[1]), one.version_units)


def _dotted(number: int, units: tuple[int, ...]) -> str:
    parts = []
    for unit in units:
        part, number = divmod(number, unit)
        parts.append(str(part))
    return ".".join(parts)
