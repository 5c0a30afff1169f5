"""What the log of `ptxas -v` says that the kernels of one source cost."""

from __future__ import annotations

import re

from pytest_rmsperf.device.toolchain import INSTALL_EXTRA
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.resources import CompiledKernel


def parse_ptxas_log(log: str) -> tuple[CompiledKernel, ...]:
    """Return the figures of every entry function in a log of `ptxas -v`, sorted by name.

    A function that is called and not inlined has its own spills: ptxas lists it after the kernel
    that calls it, or, in a device debug build, before all kernels. They are added to the kernel's.
    """
    if "ptxas info" not in log:
        raise CompileError(
            "the cost of the kernels is unknown: the compiler wrote no ptxas log\n"
            f"  it wrote {log!r}\n"
            f"install the compiler this release was tested with: {INSTALL_EXTRA}"
        )
    before, *blocks = re.split(r"Compiling entry function '([^']+)'", log)
    names, texts = blocks[::2], blocks[1::2]
    common = _functions(before)
    kernels = (
        _kernel(name, text, {**common, **_functions(text)})
        for name, text in zip(names, texts, strict=True)
    )
    return tuple(sorted(kernels, key=lambda kernel: kernel.name))


def _functions(text: str) -> dict[str, tuple[int, int, int]]:
    """Return stack, spill store and spill load bytes of every function in a piece of the log."""
    found = re.findall(
        r"Function properties for (\S+)\s+ptxas\s+\.\s+(\d+) bytes stack frame, "
        r"(\d+) bytes spill stores, (\d+) bytes spill loads",
        text,
    )
    return {name: (int(stack), int(store), int(load)) for name, stack, store, load in found}


def _kernel(name: str, text: str, functions: dict[str, tuple[int, int, int]]) -> CompiledKernel:
    used = re.search(r"Used (\d+) registers(.*)", text)
    if used is None or name not in functions:
        raise CompileError(
            f"the cost of kernel {name} is unknown: this ptxas writes another log\n"
            f"{text.rstrip()}\n"
            f"install the compiler this release was tested with: {INSTALL_EXTRA}"
        )
    return CompiledKernel(
        name=name,
        registers_per_thread=int(used[1]),
        static_smem_bytes=_bytes_of("smem", used[2]),
        # The cumulative stack counts the functions that are called as well.
        local_bytes=max(functions[name][0], _bytes_of("cumulative stack size", used[2])),
        spill_store_bytes=sum(store for _, store, _ in functions.values()),
        spill_load_bytes=sum(load for _, _, load in functions.values()),
    )


def _bytes_of(what: str, line: str) -> int:
    match = re.search(rf"(\d+) bytes {what}", line)
    return int(match[1]) if match else 0
