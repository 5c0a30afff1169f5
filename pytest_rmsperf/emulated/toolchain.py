"""The host's C++ compiler, which turns kernels into code for this CPU."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from pytest_rmsperf.errors import DeviceError

# The first release that tells volatile loads from others, which is how a spinning thread is seen.
OLDEST_GCC = 11
COMPILER_VARIABLE = "RMSPERF_CXX"
BINUTILS = ("readelf", "c++filt", "addr2line")
INSTALL = "apt-get install g++ (GCC 11 or later, with binutils), or name one with RMSPERF_CXX=PATH"


@dataclass(frozen=True, slots=True)
class HostCompiler:
    """A usable g++: its path, its version such as 12.2.0, and the machine it compiles for."""

    path: str
    version: str
    machine: str

    @property
    def name(self) -> str:
        return f"g++ {self.version}"


@cache
def find_host_compiler() -> HostCompiler:
    """Return the g++ that RMSPERF_CXX names or the path has; DeviceError says what is wrong."""
    wanted = os.environ.get(COMPILER_VARIABLE) or "g++"
    path = shutil.which(wanted)
    if path is None:
        raise DeviceError(f"no C++ compiler: {wanted} is no program on the path; {INSTALL}")
    version = _ask(path, "-dumpfullversion")
    if not re.fullmatch(r"\d+(\.\d+)+", version):
        raise DeviceError(f"{path} is not GCC: it calls its version {version!r}; {INSTALL}")
    if int(version.split(".")[0]) < OLDEST_GCC:
        raise DeviceError(f"{path} is GCC {version}, older than {OLDEST_GCC}; {INSTALL}")
    missing = [tool for tool in BINUTILS if shutil.which(tool) is None]
    if missing:
        raise DeviceError(f"no {', '.join(missing)} on the path beside {path}; {INSTALL}")
    return HostCompiler(path, version, _ask(path, "-dumpmachine"))


def _ask(path: str, question: str) -> str:
    try:
        done = subprocess.run(
            [path, question], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeviceError(f"{path} {question} does not answer: {error}; {INSTALL}") from error
    return done.stdout.strip()
