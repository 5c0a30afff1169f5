"""How many instructions of which kind the kernels have, counted by NVIDIA's disassembler.

`nvdisasm` is optional. A call of it takes 0.4 to 1.2 s whatever it is given (13.5.37), so all
kernels of one arch go through one call, and what was counted is kept on disk.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import metadata
from itertools import islice
from pathlib import Path

from platformdirs import user_cache_path

from pytest_rmsperf.device.build_lock import build_lock, replace_file
from pytest_rmsperf.device.cubin import KernelCode, kernel_codes
from pytest_rmsperf.device.instructions import count_kinds, without_padding
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

TOOL = "nvdisasm"
WHEEL = "nvidia-cuda-nvdisasm"
INSTALL = 'pip install "pytest-rmsperf[disassemble]"'
LOCK_TIMEOUT_S = 120.0
BYTES_PER_INSTRUCTION = 16  # since compute capability 7.0
# Part of every key: raise it when the kinds of instructions or the layout of an entry change.
FORMAT = 1

Counts = tuple[int, tuple[tuple[str, int], ...]]  # all instructions, and those of each kind


@dataclass(frozen=True, slots=True)
class Disassembler:
    """An nvdisasm, and where it was found."""

    path: Path
    version: str
    found_via: str

    def opcodes(self, arch: str, code: bytes) -> list[str]:
        """Return the opcode of each instruction of machine code for an arch such as "sm_90".

        Raises CompileError when it fails or prints something else.
        """
        with tempfile.TemporaryDirectory(prefix="rmsperf-") as folder:
            file = Path(folder, "code")
            file.write_bytes(code)
            asserted = f"SM{arch.removeprefix('sm_')}"
            done = _run(self.path, "--emit-json", "--binary", asserted, str(file))
        opcodes = _listed(done.stdout) if done.returncode == 0 else []
        if len(opcodes) * BYTES_PER_INSTRUCTION != len(code):
            what = (
                f"ended with exit code {done.returncode}"
                if done.returncode
                else f"lists {len(opcodes)} instructions in {len(code)} bytes"
            )
            raise _refusal(
                f"{TOOL} {self.version} {what} for {arch}",
                *done.stderr.splitlines()[:4],
                f"it is {self.path}, found via {self.found_via}",
            )
        return opcodes


def find_disassembler() -> Disassembler | None:
    """Return the disassembler of this machine, None where there is none.

    The wheel of this environment comes first, then CUDA_PATH and CUDA_HOME, then PATH. Raises
    CompileError when what is found does not tell its version.
    """
    for path, found_via in _places():
        if path.is_file() and os.access(path, os.X_OK):
            told = _run(path, "--version").stdout
            version = re.search(r"V(\d+\.\d+\.\d+)", told)
            if version is None:
                evidence = f"found via {found_via}; it says {told[:200]!r}"
                raise _refusal(f"{path} does not tell its version", evidence)
            return Disassembler(path, version[1], found_via)
    return None


@dataclass(frozen=True, slots=True)
class InstructionCounter:
    """Counts instructions with a disassembler, and keeps the counts in a folder."""

    disassembler: Disassembler
    folder: Path

    @classmethod
    def found(cls) -> InstructionCounter | None:
        """Return one with what this machine has, and the user's cache folder; None without any."""
        disassembler = find_disassembler()
        if disassembler is None:
            return None
        return cls(disassembler, user_cache_path("pytest-rmsperf") / "instructions")

    def counted(self, modules: Sequence[CompiledModule]) -> tuple[CompiledModule, ...]:
        """Return modules of one arch with counts in each kernel; one call counts all new ones.

        Raises CompileError when the disassembler fails or the cache folder cannot be written.
        """
        keys = {self._key(one, kernel) for one in modules for kernel in one.kernels}
        known = self._known(keys)
        if len(known) < len(keys):
            arch = _arch(modules[0])
            with build_lock(self.folder, arch, LOCK_TIMEOUT_S):
                known = self._known(keys)  # another process may have counted them meanwhile
                known |= self._count(arch, modules, known.keys())
        return tuple(self._completed(one, known) for one in modules)

    def lacks(self, module: CompiledModule) -> bool:
        """Say whether some kernel of a module is still to be counted."""
        return any(self._load(self._key(module, one)) is None for one in module.kernels)

    def _known(self, keys: Collection[str]) -> dict[str, Counts]:
        return {key: found for key in keys if (found := self._load(key)) is not None}

    def _count(
        self, arch: str, modules: Sequence[CompiledModule], known: Collection[str]
    ) -> dict[str, Counts]:
        """Disassemble every kernel that is not known, keep what is counted, and return it."""
        codes: dict[str, KernelCode] = {}
        for one in modules:
            found = kernel_codes(one.cubin, [kernel.name for kernel in one.kernels])
            keyed = {self._key(one, kernel): found[kernel.name] for kernel in one.kernels}
            codes |= {key: code for key, code in keyed.items() if key not in known}
        if not codes:
            return {}
        whole = b"".join(text for code in codes.values() for text in code.texts)
        opcodes = iter(self.disassembler.opcodes(arch, whole))
        counted = {key: _counts(code, opcodes) for key, code in codes.items()}
        for key, counts in counted.items():
            replace_file(self._file(key), json.dumps(counts).encode())
        return counted

    def _completed(self, module: CompiledModule, known: Mapping[str, Counts]) -> CompiledModule:
        kernels = []
        for one in module.kernels:
            assert one.code is not None
            instructions, kinds = known[self._key(module, one)]
            code = replace(one.code, instructions=instructions, counts=kinds)
            kernels.append(replace(one, code=code))
        return replace(module, kernels=tuple(kernels))

    def _key(self, module: CompiledModule, kernel: CompiledKernel) -> str:
        assert kernel.code is not None
        facts = (FORMAT, self.disassembler.version, _arch(module), kernel.code.sha256)
        return sha256(json.dumps(facts).encode()).hexdigest()

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _load(self, key: str) -> Counts | None:
        """Return what is kept under a key; None when it is absent or is not what was stored."""
        try:
            instructions, kinds = json.loads(self._file(key).read_text(encoding="utf-8"))
            return int(instructions), tuple((str(kind), int(count)) for kind, count in kinds)
        except (OSError, ValueError, TypeError):
            return None


def _arch(module: CompiledModule) -> str:
    return dict(module.identity)["arch"]


def _counts(code: KernelCode, opcodes: Iterator[str]) -> Counts:
    """Take the opcodes of one kernel from those of all, and count them."""
    own: list[str] = []
    for text in code.texts:
        section = list(islice(opcodes, len(text) // BYTES_PER_INSTRUCTION))
        own += without_padding(section)
    return len(own), count_kinds(own)


def _places() -> Iterator[tuple[Path, str]]:
    """Yield where an nvdisasm may be, and in which words that is told."""
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        files = []
    yield from ((Path(str(one.locate())), WHEEL) for one in files if one.name == TOOL)
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(variable):
            yield Path(os.environ[variable], "bin", TOOL), variable
    on_path = shutil.which(TOOL)
    if on_path is not None:
        yield Path(on_path), "PATH"


def _run(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [path, *arguments], capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise _refusal(f"{path} cannot be run", str(error)) from error


def _listed(listing: str) -> list[str]:
    """Return the opcodes of a listing as --emit-json prints it; none of any other text."""
    try:
        _, functions = json.loads(listing)
        return [str(one["opcode"]) for each in functions for one in each["sass-instructions"]]
    except (ValueError, TypeError, LookupError):
        return []


def _refusal(what: str, *evidence: str) -> CompileError:
    lines = "\n".join(f"  {line}" for line in evidence)
    return CompileError(f"instructions cannot be counted: {what}\n{lines}\n{INSTALL}")
