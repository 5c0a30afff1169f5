"""What a cubin says of its kernels and the compiler's log does not.

A cubin is a 64-bit ELF file. Its section `.nv.info.<kernel>` lists attributes: a byte each for
format and name, two for a size or a value, and behind them so many bytes (`readelf` of binutils
shows the sections, `cuobjdump -elf` the attributes).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

SECTION = ".nv.info."
SIZED = 4  # the format of an attribute with bytes behind it
MAX_THREADS = 5  # EIATTR_MAX_THREADS: three sizes of 4 bytes, of which a launch has one


def max_threads_per_block(cubin: bytes) -> dict[str, int]:
    """Return, for each kernel with `__launch_bounds__`, how many threads its blocks may have."""
    return {
        kernel: struct.unpack_from("<I", value)[0]
        for kernel, attributes in _kernels(cubin)
        for name, value in _attributes(attributes)
        if name == MAX_THREADS
    }


def _kernels(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each kernel's name with the bytes of its attributes."""
    (headers_at,) = struct.unpack_from("<Q", cubin, 0x28)
    header_bytes, count, names_number = struct.unpack_from("<3H", cubin, 0x3A)
    headers = [
        struct.unpack_from("<IIQQQQ", cubin, headers_at + number * header_bytes)
        for number in range(count)
    ]
    names_at = headers[names_number][4]
    for name_at, _, _, _, start, nbytes in headers:
        text = cubin[names_at + name_at :].partition(b"\0")[0].decode()
        if text.startswith(SECTION):
            yield text.removeprefix(SECTION), cubin[start : start + nbytes]


def _attributes(section: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(section):
        layout, name, nbytes = struct.unpack_from("<BBH", section, at)
        at += 4
        if layout == SIZED:
            yield name, section[at : at + nbytes]
            at += nbytes
