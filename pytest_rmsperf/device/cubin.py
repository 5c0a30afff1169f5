"""What a cubin holds of its kernels: their machine code, and what the compiler's log leaves out.

A cubin is a 64-bit ELF file (`readelf` of binutils shows its sections). Three kinds are read, which
are the same from sm_75 to sm_120:

- `.text.<kernel>` has the instructions, and behind them those of the functions that the kernel
  calls, copied for it. Only in a device debug build (`-G`) these lie in sections of their own and
  leave their addresses to the driver; which kernel calls which is not looked at there: every one
  counts for all kernels, as in the compiler's log.
- `.nv.constant<bank>.<kernel>` has the kernel's literals and jump tables; bank 0 is left for the
  parameters of a launch.
- `.nv.info.<kernel>` lists attributes: a byte each for format and name, two for a size or a value,
  and behind them so many bytes (`cuobjdump -elf` shows them).

No machine code are line and debug information (they hold the source's path and modification time),
the values of `__constant__` and `__device__` variables (the host may replace them), and from sm_100
on the same code in a form that is not executed (`.nv.capmerc.text.<kernel>`).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from pytest_rmsperf.device.toolchain import INSTALL_EXTRA
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import MachineCode

IDENTIFICATION = b"\x7fELF\x02\x01"  # 64 bits, the lowest byte first
CUDA_MACHINE = 190
SECTION_HEADER = "<IIQQQQ"  # name, type, flags, address, offset, size
TEXT = ".text."
ATTRIBUTES = ".nv.info."
LITERALS = re.compile(r"\.nv\.constant[1-9]\d*\.(.+)")
SIZED = 4  # the format of an attribute with bytes behind it
MAX_THREADS = 5  # EIATTR_MAX_THREADS: three sizes of 4 bytes, of which a launch has one


@dataclass(frozen=True, slots=True)
class KernelCode:
    """What the device executes of one kernel.

    `texts` are the instructions of each section, the kernel's own first; `literals` are its
    constants, bank after bank.
    """

    texts: tuple[bytes, ...]
    literals: bytes

    @property
    def machine_code(self) -> MachineCode:
        """The size of the instructions, and one hash of them and of the literals."""
        parts = (*self.texts, self.literals)
        digest = sha256(b"".join(len(one).to_bytes(8, "little") + one for one in parts))
        return MachineCode(sum(map(len, self.texts)), digest.hexdigest())


def kernel_codes(cubin: bytes, kernels: Iterable[str]) -> dict[str, KernelCode]:
    """Return what is executed of each of these kernels, which are all that the cubin has.

    Raises CompileError when the cubin is not one, is torn or lacks a kernel.
    """
    names = tuple(kernels)
    with _understood():
        texts: dict[str, bytes] = {}
        literals = dict.fromkeys(names, b"")
        for section, content in sorted(_sections(cubin)):
            if section.startswith(TEXT):
                texts[section.removeprefix(TEXT)] = content
            elif (bank := LITERALS.fullmatch(section)) and bank[1] in literals:
                literals[bank[1]] += content
    called = tuple(content for name, content in texts.items() if name not in literals)
    absent = [name for name in names if name not in texts]
    if absent:
        raise _refusal(f"it has no section {TEXT}{absent[0]}")
    return {name: KernelCode((texts[name], *called), literals[name]) for name in names}


def max_threads_per_block(cubin: bytes) -> dict[str, int]:
    """Return, for each kernel with `__launch_bounds__`, how many threads its blocks may have.

    Raises CompileError when the cubin is not one or is torn.
    """
    with _understood():
        return {
            section.removeprefix(ATTRIBUTES): struct.unpack_from("<I", value)[0]
            for section, content in _sections(cubin)
            if section.startswith(ATTRIBUTES)
            for name, value in _attributes(content)
            if name == MAX_THREADS
        }


@contextmanager
def _understood() -> Iterator[None]:
    """Turn what a torn file does to its reader into a CompileError."""
    try:
        yield
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise _refusal(f"it is torn: {error}") from error


def _refusal(why: str) -> CompileError:
    return CompileError(
        f"the machine code is unknown: this cubin is not understood\n  {why}\n"
        f"install the compiler this release was tested with: {INSTALL_EXTRA}"
    )


def _sections(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each section with content for the device: its name and its bytes."""
    (machine,) = struct.unpack_from("<H", cubin, 0x12)
    if not cubin.startswith(IDENTIFICATION) or machine != CUDA_MACHINE:
        raise _refusal(f"it begins with {cubin[:6]!r} and is for machine {machine}, not for CUDA")
    (headers_at,) = struct.unpack_from("<Q", cubin, 0x28)
    header_bytes, count, names_number = struct.unpack_from("<3H", cubin, 0x3A)
    headers = [
        struct.unpack_from(SECTION_HEADER, cubin, headers_at + number * header_bytes)
        for number in range(count)
    ]
    names_at = headers[names_number][4]
    for name_at, _, _, _, start, nbytes in headers:
        name = cubin[names_at + name_at :].partition(b"\0")[0].decode()
        if name.startswith((TEXT, ATTRIBUTES)) or LITERALS.fullmatch(name):
            yield name, _part(cubin, start, nbytes)


def _part(cubin: bytes, start: int, nbytes: int) -> bytes:
    if start + nbytes > len(cubin):
        raise IndexError(f"a section ends at byte {start + nbytes} of {len(cubin)}")
    return cubin[start : start + nbytes]


def _attributes(section: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(section):
        layout, name, nbytes = struct.unpack_from("<BBH", section, at)
        at += 4
        if layout == SIZED:
            yield name, section[at : at + nbytes]
            at += nbytes
