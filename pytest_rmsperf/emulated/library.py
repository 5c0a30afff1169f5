"""A source's kernels as loaded into this process, and one launch of one of them."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.emulated.build import DYNAMIC_SMEM_BYTES, SOURCE_FOLDER
from pytest_rmsperf.emulated.faults import Fault, Frames, Residence, WaitingThreads, locate
from pytest_rmsperf.emulated.runtime import (
    Kernel,
    ProgressFunction,
    Report,
    Request,
    Waiting,
    load_runtime,
)
from pytest_rmsperf.errors import CompileError, GateFailure

Progress = Callable[[int, int], None]  # blocks that have ended, blocks of the launch

GUARD_PREFIX = "_ZGV"  # of the mangled names of guards of local variables

KINDS = {b"p": "a pointer", b"i": "an integer", b"f": "a floating-point number", b"s": "a struct"}


@dataclass(frozen=True, slots=True)
class BlockCapacity:
    """How many blocks of a launch are resident together: the product."""

    blocks_per_sm: int
    sms: int


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a launch meets: room for its blocks, a schedule, and how strictly it is watched.

    Without `read_check` a read of what nobody wrote is no fault.
    """

    capacity: BlockCapacity
    seed: int = 0
    read_check: bool = True


@dataclass(frozen=True, slots=True)
class Grid:
    """The shape of a launch; `selection` names the blocks that run where not all shall."""

    blocks: int
    threads_per_block: int
    dynamic_smem_bytes: int = 0
    cooperative: bool = False
    blocks_per_cluster: int = 1
    selection: tuple[int, ...] | None = None


class KernelLibrary:
    """A shared object of kernels, built of a text in `sources`; it stays loaded for good."""

    def __init__(self, path: Path, sources: Path = Path(SOURCE_FOLDER)) -> None:
        load_runtime()  # whose functions the kernels call
        self.path = path
        self.sources = sources
        self._library = _loaded(path)
        self._library.rmsperf_kernels.restype = ctypes.POINTER(Kernel)
        self._library.rmsperf_dynamic_shared.restype = ctypes.c_void_p
        count = ctypes.c_int()
        table = self._library.rmsperf_kernels(ctypes.byref(count))
        self._kernels = {table[i].name.decode(): table[i] for i in range(count.value)}
        self._table = ctypes.cast(table, ctypes.c_void_p).value
        self._base = self._make_known()

    def require_arguments(self, kernel: str, arguments: Sequence[bytes]) -> None:
        """Raise GateFailure unless there is one argument of the right size for each parameter."""
        entry = self._kernels[kernel]
        sizes = [entry.parameters[i].nbytes for i in range(entry.parameter_count)]
        if len(arguments) != len(sizes):
            raise GateFailure(
                f"wrong arguments: {kernel} has {len(sizes)} parameters, the plan passes "
                f"{len(arguments)}\nmend the launch plan or the kernel's signature"
            )
        for number, (argument, nbytes) in enumerate(zip(arguments, sizes, strict=True)):
            if len(argument) != nbytes:
                kind = KINDS[entry.parameters[number].kind]
                raise GateFailure(
                    f"wrong arguments: parameter {number} of {kernel} is {kind} of {nbytes} bytes, "
                    f"the plan passes {len(argument)} bytes\n"
                    "mend the launch plan or the kernel's signature"
                )

    def launch(
        self,
        kernel: str,
        grid: Grid,
        arguments: Sequence[bytes],
        conditions: Conditions,
        progress: Progress | None = None,
    ) -> Fault | None:
        """Run one launch to its end, or to the first fault, which is returned.

        `progress` is told twice a second, while blocks end, how many have. Raises KeyboardInterrupt
        when one comes meanwhile.
        """
        runtime = load_runtime()
        callback = ProgressFunction(_Telling(progress or _ignore))
        runtime.rmsperf_tell_progress(callback)
        values = [ctypes.create_string_buffer(one, max(len(one), 1)) for one in arguments]
        addresses = (ctypes.c_void_p * max(len(values), 1))(*map(ctypes.addressof, values))
        selection = grid.selection or ()
        request = Request(
            kernel=ctypes.pointer(self._kernels[kernel]),
            arguments=addresses,
            blocks=grid.blocks,
            threads_per_block=grid.threads_per_block,
            blocks_per_cluster=grid.blocks_per_cluster,
            dynamic_smem_bytes=grid.dynamic_smem_bytes,
            blocks_per_sm=conditions.capacity.blocks_per_sm,
            sms=conditions.capacity.sms,
            cooperative=grid.cooperative,
            read_check=conditions.read_check,
            seed=conditions.seed,
            selection=(ctypes.c_uint32 * len(selection))(*selection) if selection else None,
            selected=len(selection),
        )
        report = Report()
        self._show_shared_memory()
        runtime.rmsperf_launch(self._table, ctypes.byref(request), ctypes.byref(report))
        if report.interrupted:
            raise KeyboardInterrupt
        return self._fault(kernel, grid, conditions, report) if report.faulted else None

    def _fault(self, kernel: str, grid: Grid, conditions: Conditions, report: Report) -> Fault:
        waiting = report.waiting[: report.waiting_places]
        alone = bool(report.text)
        return Fault(
            kind=report.kind.decode(),
            kernel=kernel,
            text=report.text.decode(errors="replace").replace(SOURCE_FOLDER, str(self.sources)),
            seed=conditions.seed,
            residence=Residence(
                blocks=len(grid.selection) if grid.selection else grid.blocks,
                started=report.blocks_started,
                finished=report.blocks_finished,
                blocks_per_sm=conditions.capacity.blocks_per_sm,
                sms=conditions.capacity.sms,
            ),
            block=report.block if alone else None,
            thread=report.thread if alone else None,
            frames=self._locate(report.code),
            waiting=tuple(self._waiting(one) for one in waiting),
        )

    def _locate(self, code: int | None) -> Frames:
        return locate(self.path, code - self._base, self.sources) if code else ()

    def _waiting(self, one: Waiting) -> WaitingThreads:
        return WaitingThreads(
            threads=one.threads,
            blocks=one.blocks,
            block=one.block,
            thread=one.thread,
            what=one.what.decode(),
            detail=one.detail.decode(errors="replace"),
            frames=self._locate(one.code),
        )

    def _make_known(self) -> int:
        """Tell the runtime what this module's shared memory holds; return the module's base."""
        runtime = load_runtime()
        self._show_shared_memory()
        for offset, nbytes, name in _shared_variables(self.path):
            encoded = name.encode() if name else None
            runtime.rmsperf_add_shared_variable(self._table, offset, nbytes, encoded)
        return int(runtime.rmsperf_module_base(self._table))

    def _show_shared_memory(self) -> None:
        """Tell the runtime where it is: every thread of the process has its own."""
        dynamic = self._library.rmsperf_dynamic_shared()
        load_runtime().rmsperf_add_module(self._table, dynamic, DYNAMIC_SMEM_BYTES)


class _Telling:
    """Passes on how many blocks have ended, when more have.

    An interrupt is raised in here, for nowhere else is Python running, and ctypes drops it: what is
    left to see is that the launch was not told to go on.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._finished = 0

    def __call__(self, finished: int, total: int, report: ctypes._Pointer[Report]) -> None:
        if finished != self._finished:
            self._finished = finished
            self._progress(finished, total)
        report.contents.interrupted = 0


def _loaded(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise CompileError(
            f"cannot be loaded: {path}\n  {error}\ndelete this file of the cache, then run again"
        ) from error


def _ignore(finished: int, total: int) -> None:
    pass


def _shared_variables(path: Path) -> list[tuple[int, int, str]]:
    """Return offset, bytes and readable name of each static `__shared__` variable.

    The name is empty for the guards that the compiler adds to arrays of a class with constructors.
    """
    done = subprocess.run(
        ["readelf", "-sW", str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    found = re.findall(r":\s+([0-9a-f]+)\s+(\d+)\s+TLS\s+\w+\s+\w+\s+\d+\s+(\S+)", done.stdout)
    named = {(int(offset, 16), int(nbytes), name) for offset, nbytes, name in found}
    names = _demangled([name for _, _, name in sorted(named)])
    return [
        (offset, nbytes, "" if name.startswith(GUARD_PREFIX) else readable)
        for (offset, nbytes, name), readable in zip(sorted(named), names, strict=True)
        if nbytes < DYNAMIC_SMEM_BYTES
    ]


def _demangled(names: list[str]) -> list[str]:
    done = subprocess.run(
        ["c++filt"], input="\n".join(names), capture_output=True, text=True, timeout=60, check=True
    )
    return [line.rpartition("::")[2] for line in done.stdout.splitlines()]
