"""Which instructions tell something of a kernel, by the opcodes that `nvdisasm` prints.

An opcode is a name and modifiers, as in `LDG.E.128.CONSTANT`. The names are those of NVIDIA's CUDA
Binary Utilities, "Instruction Set Reference", for compute capabilities 7.5 to 12.0; each was seen
in the output of NVRTC 13.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

PADDING = "NOP"

# Loads and stores are told by their width in bits.
ACCESSES = {
    "LDG": "global load",
    "STG": "global store",
    "LDS": "shared load",
    "STS": "shared store",
    "LDL": "local load",
    "STL": "local store",
    "LD": "generic load",
    "ST": "generic store",
}
WIDTHS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "64": 64, "128": 128, "256": 256}
DEFAULT_WIDTH = 32

NAMES = {
    "matrix load": "LDSM",
    "matrix store": "STSM",
    # Prefetches are none: nothing waits for them.
    "async copy": "LDGSTS STAS UBLKCP UBLKRED UTMALDG UTMASTG UTMAREDG UTCCP",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDAS",
    "special function": "MUFU",
    "barrier": "BAR",
    "cluster barrier": "UCGABAR_ARV UCGABAR_WAIT",
    "mbarrier": "SYNCS ARRIVES",
    "memory fence": "MEMBAR",
    "shuffle": "SHFL",
    "warp reduction": "REDUX CREDUX",
    "fp32": "FADD FMUL FFMA FADD2 FMUL2 FFMA2 UFADD UFMUL UFFMA",
    "fp64": "DADD DMUL DFMA",
}
KINDS = {name: kind for kind, names in NAMES.items() for name in names.split()}
MATRIX_MULTIPLY = "MMA"  # HMMA, IMMA, HGMMA, UTCHMMA ...: the end of the name, whatever the types


def kind_of(opcode: str) -> str | None:
    """Return the telling kind of an instruction, such as "global load 128"; None of any other."""
    name, *modifiers = opcode.split(".")
    if name in ACCESSES:
        width = next((WIDTHS[one] for one in modifiers if one in WIDTHS), DEFAULT_WIDTH)
        return f"{ACCESSES[name]} {width}"
    if name == "ATOMS" and "ARRIVE" in modifiers:  # before compute capability 9.0
        return "mbarrier"
    if name.endswith(MATRIX_MULTIPLY):
        return "tensor core"
    return KINDS.get(name)


def count_kinds(opcodes: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return how many instructions of each telling kind these are, sorted and without zeros."""
    found = Counter(kind for one in opcodes if (kind := kind_of(one)) is not None)
    return tuple(sorted(found.items()))


def without_padding(opcodes: Sequence[str]) -> Sequence[str]:
    """Return the instructions of one section without those that only fill its end."""
    end = len(opcodes)
    while end and opcodes[end - 1].partition(".")[0] == PADDING:
        end -= 1
    return opcodes[:end]
