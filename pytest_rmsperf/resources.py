"""What a compiled kernel costs, and how much of it a device holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import MAX_THREADS_PER_BLOCK, KernelLaunch


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The machine code of one kernel, with the functions that it calls.

    `sha256` is of the bytes that the device executes, so two builds with the same one run the same
    instructions. `counts` are instructions by telling kind, such as `global load 128`, sorted and
    without zeros; it and `instructions`, which leaves out the padding, are unknown where no
    disassembler is installed.
    """

    code_bytes: int
    sha256: str
    instructions: int | None = None
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """The resources of one kernel as the compiler reported them, per thread or per block.

    `max_threads_per_block` is that of its `__launch_bounds__`, else what every device allows.
    `code` is None where nobody looked into the cubin.
    """

    name: str
    registers_per_thread: int
    static_smem_bytes: int
    local_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    max_threads_per_block: int = MAX_THREADS_PER_BLOCK
    code: MachineCode | None = None


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """One source compiled for one arch: the cubin and the resources of each of its kernels.

    `identity` names everything outside the source that shaped the machine code: compiler version,
    arch and flags.
    """

    source: str
    identity: tuple[tuple[str, str], ...]
    key: str
    cubin: bytes
    kernels: tuple[CompiledKernel, ...]
    from_cache: bool

    def kernel(self, name: str) -> CompiledKernel:
        """Return the kernel called `name`; GateFailure lists what the source has instead."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        known = ", ".join(kernel.name for kernel in self.kernels) or "none"
        raise GateFailure(f"no kernel {name!r} in {self.source}; it defines: {known}")


class Capacity(Protocol):
    """How many blocks of a kernel one device holds at a time."""

    @property
    def device(self) -> str: ...

    @property
    def sms(self) -> int: ...

    def blocks_per_sm(self, kernel: str, threads_per_block: int, dynamic_smem_bytes: int) -> int:
        """Return the resident blocks on one SM; 0 when not even one block fits."""
        ...

    def active_clusters(self, launch: KernelLaunch) -> int | None:
        """Return how many clusters of this launch are resident at a time.

        None where nobody can say: it depends on which SMs the very board has, so that only its
        driver knows.
        """
        ...


def resident_blocks(
    capacity: Capacity, kernel: str, threads_per_block: int, dynamic_smem_bytes: int
) -> int:
    """Return how many blocks of `kernel` the whole device holds at a time."""
    per_sm = capacity.blocks_per_sm(kernel, threads_per_block, dynamic_smem_bytes)
    return per_sm * capacity.sms
