"""What a compiled kernel costs, and whether a launch of it can be resident as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import MAX_THREADS_PER_BLOCK, KernelLaunch, LaunchPlan


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """The resources of one kernel as the compiler reported them, per thread or per block.

    `max_threads_per_block` is that of its `__launch_bounds__`, else what every device allows.
    """

    name: str
    registers_per_thread: int
    static_smem_bytes: int
    local_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    max_threads_per_block: int = MAX_THREADS_PER_BLOCK


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


def resident_blocks(
    capacity: Capacity, kernel: str, threads_per_block: int, dynamic_smem_bytes: int
) -> int:
    """Return how many blocks of `kernel` the whole device holds at a time."""
    per_sm = capacity.blocks_per_sm(kernel, threads_per_block, dynamic_smem_bytes)
    return per_sm * capacity.sms


@dataclass(frozen=True, slots=True)
class LaunchResidency:
    """One launch against the device: what it asks for and what fits."""

    launch: KernelLaunch
    kernel: CompiledKernel
    blocks_per_sm: int
    sms: int

    @property
    def limit_blocks(self) -> int:
        return self.blocks_per_sm * self.sms

    @property
    def headroom_blocks(self) -> int:
        """Blocks to spare; negative when the launch does not fit."""
        return self.limit_blocks - self.launch.blocks

    @property
    def fits(self) -> bool:
        if self.launch.must_be_resident:
            return self.headroom_blocks >= 0
        return self.blocks_per_sm > 0

    def explain(self, unit: str) -> str:
        """Return the evidence for a launch that does not fit: both numbers and their causes."""
        launch, kernel = self.launch, self.kernel
        smem = kernel.static_smem_bytes + launch.dynamic_smem_bytes
        cost = (
            f"{kernel.registers_per_thread} registers per thread, "
            f"{launch.threads_per_block} threads and {smem} shared bytes "
            f"({launch.dynamic_smem_bytes} of them dynamic) per block"
        )
        if launch.threads_per_block > kernel.max_threads_per_block:
            cost += f"; its __launch_bounds__ allow {kernel.max_threads_per_block} threads"
        units = self.limit_blocks // launch.blocks_per_unit
        plural = "s" if launch.blocks_per_unit > 1 else ""
        return (
            f"  {launch.kernel} asks for {launch.blocks} blocks at once; "
            f"{self.blocks_per_sm} blocks per SM x {self.sms} SMs = {self.limit_blocks} fit\n"
            f"  because    {cost}\n"
            f"  would fit  {units} {unit}s per launch "
            f"({launch.blocks_per_unit} block{plural} per {unit})"
        )


@dataclass(frozen=True, slots=True)
class Residency:
    """All launches of one plan against one device."""

    device: str
    source: str  # "driver" when the driver was asked, "computed" from a device profile
    unit: str
    launches: tuple[LaunchResidency, ...]

    @property
    def fits(self) -> bool:
        return all(launch.fits for launch in self.launches)

    @property
    def tightest(self) -> LaunchResidency:
        """The launch that must be resident and has least headroom, else the first launch."""
        waiting = [one for one in self.launches if one.launch.must_be_resident]
        return min(waiting or self.launches[:1], key=lambda one: one.headroom_blocks)

    @property
    def headroom_blocks(self) -> int | None:
        """Blocks to spare of the tightest launch; None when no launch waits on other blocks."""
        tightest = self.tightest
        return tightest.headroom_blocks if tightest.launch.must_be_resident else None

    def __str__(self) -> str:
        if self.fits:
            spare = self.headroom_blocks
            if spare is None:
                return f"fits {self.device} ({self.source}): no launch waits on other blocks"
            tightest = self.tightest
            return (
                f"fits {self.device} ({self.source}): {tightest.launch.blocks} of "
                f"{tightest.limit_blocks} blocks, {spare} to spare"
            )
        broken = next(one for one in self.launches if not one.fits)
        excess = -broken.headroom_blocks
        headline = (
            f"does not fit {self.device}: {excess} block{'s' if excess > 1 else ''} too many"
            if broken.blocks_per_sm
            else f"does not fit {self.device}: not even one block per SM"
        )
        remedy = (
            "a launch that waits on blocks which are not resident never ends; split its "
            f"{self.unit}s into more launches or make the block smaller"
            if broken.blocks_per_sm
            else "the driver refuses such a launch; make the block smaller"
        )
        return (
            f"{headline} ({self.source})\n{broken.explain(self.unit)}\n"
            f"{remedy}, then: pytest --rmsperf --lf"
        )

    def require(self) -> None:
        """Raise GateFailure with both numbers and the remedy when a launch does not fit."""
        if not self.fits:
            raise GateFailure(str(self))


def check_residency(
    plan: LaunchPlan, module: CompiledModule, capacity: Capacity, *, source: str
) -> Residency:
    """Hold each launch of `plan` against `capacity`; nothing is launched and nothing clamped."""
    launches = tuple(
        LaunchResidency(
            launch=launch,
            kernel=module.kernel(launch.kernel),
            blocks_per_sm=capacity.blocks_per_sm(
                launch.kernel, launch.threads_per_block, launch.dynamic_smem_bytes
            ),
            sms=capacity.sms,
        )
        for launch in plan.launches
    )
    return Residency(device=capacity.device, source=source, unit=plan.unit, launches=launches)
