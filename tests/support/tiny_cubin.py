"""Cubins of a few bytes, and a disassembler that a script of a few lines stands for."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_rmsperf.device.cubin import kernel_codes
from pytest_rmsperf.device.disassembler import Disassembler
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

CUDA_MACHINE = 190
HEADER_BYTES, SECTION_BYTES = 64, 64
# What the first byte of an instruction of 16 stands for; any other is an FADD.
OPCODES = {0: "NOP", 1: "LDG.E.128", 2: "STG.E", 3: "EXIT"}

SCRIPT = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
code = pathlib.Path(arguments[-1]).read_bytes()
with open({log!r}, "a") as log:
    print(*arguments[:-1], len(code) // 16, file=log)
opcodes = {opcodes}
found = [{{"opcode": opcodes.get(code[at], "FADD")}} for at in range(0, len(code), 16)]
print(json.dumps([{{}}, [{{"function-name": "Unknown", "sass-instructions": found}}]]))
"""


def text_of(*instructions: int) -> bytes:
    """Return machine code whose instructions begin with these bytes."""
    return b"".join(bytes([one]) * 16 for one in instructions)


def cubin_of(sections: Mapping[str, bytes], *, machine: int = CUDA_MACHINE) -> bytes:
    """Return an ELF file with these sections and the one of their names."""
    contents = {"": b"", **sections, ".shstrtab": b""}
    names, name_at = b"", {}
    for name in contents:
        name_at[name] = len(names)
        names += name.encode() + b"\0"
    contents[".shstrtab"] = names
    headers, body = b"", b""
    for name, content in contents.items():
        place = HEADER_BYTES + len(body)
        headers += struct.pack("<IIQQQQ", name_at[name], 1, 0, 0, place, len(content)).ljust(
            SECTION_BYTES, b"\0"
        )
        body += content
    start = struct.pack("<2H", 2, machine).rjust(4 + 16, b"\0")
    start = b"\x7fELF\x02\x01" + start[6:]
    start = start.ljust(0x28, b"\0") + struct.pack("<Q", HEADER_BYTES + len(body))
    start = start.ljust(0x3A, b"\0") + struct.pack(
        "<3H", SECTION_BYTES, len(contents), len(contents) - 1
    )
    return start + body + headers


def module_of(arch: str = "sm_90", **texts: bytes) -> CompiledModule:
    """Return a module of kernels with these instructions, compiled for an arch."""
    cubin = cubin_of({f".text.{name}": text for name, text in texts.items()})
    codes = kernel_codes(cubin, texts)
    kernels = tuple(
        CompiledKernel(name, 40, 0, 0, 0, 0, code=codes[name].machine_code) for name in texts
    )
    return CompiledModule("row.cu", (("arch", arch),), "key", cubin, kernels, from_cache=False)


def script(folder: Path, text: str) -> Path:
    """Write a program called nvdisasm into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "nvdisasm"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)
    return file


def fake_disassembler(folder: Path) -> Disassembler:
    """Return a disassembler that goes by OPCODES and writes each call into calls.txt."""
    log = str(folder / "calls.txt")
    path = script(folder, SCRIPT.format(python=sys.executable, log=log, opcodes=OPCODES))
    return Disassembler(path, "13.5.37", "PATH")


def calls_in(folder: Path) -> Sequence[str]:
    """Return how the disassembler of a folder was called: options, and how many instructions."""
    log = folder / "calls.txt"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []
