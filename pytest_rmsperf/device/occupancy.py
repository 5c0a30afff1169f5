"""How many blocks of a kernel one SM holds, computed without a device.

The arithmetic is that of NVIDIA's `cuda_occupancy.h` (wheel nvidia-cuda-runtime) for a kernel that
opted in to the dynamic shared memory it asks for, left the carve-out at its default and has one
barrier. A test compiles that header and compares every entry of `LIMITS` with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

THREADS_PER_WARP = 32
# cuda_occupancy.h lets 256 pass; the machine encodes register 255 as the zero register.
MAX_REGISTERS_PER_THREAD = 255


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What one compute capability allows; sizes in bytes, registers of 32 bits.

    The defaults hold for every compute capability from 8.0 to 12.1.
    """

    compute_capability: str
    max_threads_per_sm: int
    max_blocks_per_sm: int
    smem_bytes_per_sm: int
    max_threads_per_block: int = 1024
    registers_per_sm: int = 65536
    registers_per_unit: int = 256  # allocated per warp in steps of this
    max_registers_per_thread: int = MAX_REGISTERS_PER_THREAD
    sub_partitions_per_sm: int = 4
    reserved_smem_bytes_per_block: int = 1024
    smem_bytes_per_unit: int = 128  # allocated per block in steps of this

    @property
    def max_warps_per_sm(self) -> int:
        return self.max_threads_per_sm // THREADS_PER_WARP

    @property
    def registers_per_partition(self) -> int:
        return self.registers_per_sm // self.sub_partitions_per_sm

    @property
    def max_smem_bytes_per_block(self) -> int:
        """Static plus dynamic, after opting in: all of the SM's but what is reserved."""
        return self.smem_bytes_per_sm - self.reserved_smem_bytes_per_block


# Every compute capability that NVRTC 13.0 compiles for. Sources: `cuda::arch_traits` of CCCL; the
# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", says the same of
# those it lists. The header owns the blocks and the step sizes; threads and shared memory per SM
# are inputs to it. Older guides gave 12.0 32 blocks; the header has 24.
LIMITS: tuple[DeviceLimits, ...] = (
    DeviceLimits(
        "7.5", 1024, 16, 64 * 1024, reserved_smem_bytes_per_block=0, smem_bytes_per_unit=256
    ),
    DeviceLimits("8.0", 2048, 32, 164 * 1024),
    DeviceLimits("8.6", 1536, 16, 100 * 1024),
    DeviceLimits("8.7", 1536, 16, 164 * 1024),
    DeviceLimits("8.8", 1536, 16, 100 * 1024),
    DeviceLimits("8.9", 1536, 24, 100 * 1024),
    DeviceLimits("9.0", 2048, 32, 228 * 1024),
    DeviceLimits("10.0", 2048, 32, 228 * 1024),
    DeviceLimits("10.3", 2048, 32, 228 * 1024),
    DeviceLimits("11.0", 1536, 24, 228 * 1024),
    DeviceLimits("12.0", 1536, 24, 100 * 1024),
    DeviceLimits("12.1", 1536, 24, 100 * 1024),
)


def limits_for(compute_capability: str) -> DeviceLimits:
    """Return the limits of a compute capability such as "9.0"; SettingError names the known."""
    for limits in LIMITS:
        if limits.compute_capability == compute_capability:
            return limits
    known = ", ".join(limits.compute_capability for limits in LIMITS)
    raise SettingError(
        f"no occupancy limits for compute capability {compute_capability!r}\n"
        f"  known  {known}\n"
        "run on a machine with the device, where the driver is asked, or add the row to LIMITS"
    )


def blocks_per_sm(
    limits: DeviceLimits, kernel: CompiledKernel, threads_per_block: int, dynamic_smem_bytes: int
) -> int:
    """Return how many blocks one SM holds at a time; 0 when not even one block fits.

    `threads_per_block` is at least 1 and `dynamic_smem_bytes` at least 0, as a `KernelLaunch` has
    checked. Registers are allocated to warps, shared memory to blocks.
    """
    if threads_per_block > min(limits.max_threads_per_block, kernel.max_threads_per_block):
        return 0
    warps_per_block = _warps(threads_per_block)
    smem_bytes = kernel.static_smem_bytes + dynamic_smem_bytes
    return min(
        limits.max_blocks_per_sm,
        limits.max_warps_per_sm // warps_per_block,
        _warps_by_registers(limits, kernel.registers_per_thread) // warps_per_block,
        _blocks_by_smem(limits, smem_bytes),
    )


@dataclass(frozen=True, slots=True)
class TippingPoint:
    """The fewest `more` of a resource that lose a block per SM, and how many blocks are left then.

    The very first block that is lost may take others with it.
    """

    more: int
    blocks_per_sm: int


@dataclass(frozen=True, slots=True)
class Slack:
    """How much more one launch of a kernel may take before an SM holds fewer of its blocks.

    `registers_per_thread` is None where even 255 keep the blocks: no thread has more, and beyond it
    the compiler spills to local memory instead. Both are None where not even one block fits.
    """

    blocks_per_sm: int
    registers_per_thread: TippingPoint | None
    smem_bytes_per_block: TippingPoint | None

    @property
    def lines(self) -> tuple[str, ...]:
        """What is told of each resource: "one more register per thread: 3 -> 2 blocks per SM"."""
        if not self.blocks_per_sm:
            return ("not even one block per SM",)
        return (
            self._told(self.registers_per_thread, "register", "per thread"),
            self._told(self.smem_bytes_per_block, "shared byte", "per block"),
        )

    def __str__(self) -> str:
        return "; ".join(self.lines)

    def _told(self, point: TippingPoint | None, what: str, per: str) -> str:
        if point is None:
            most = f"up to {MAX_REGISTERS_PER_THREAD} {what}s {per}"
            plural = "s" if self.blocks_per_sm > 1 else ""
            return f"{most}: still {self.blocks_per_sm} block{plural} per SM"
        amount = f"one more {what}" if point.more == 1 else f"{point.more} more {what}s"
        return f"{amount} {per}: {self.blocks_per_sm} -> {point.blocks_per_sm} blocks per SM"


def slack(
    limits: DeviceLimits, kernel: CompiledKernel, threads_per_block: int, dynamic_smem_bytes: int
) -> Slack:
    """Return the tipping points of a launch on one SM; the parameters are `blocks_per_sm`'s.

    The compiler reports registers exactly and the device hands them out in steps of eight, so that
    the fewest more are those that the source may add. With launch bounds the compiler spills before
    it takes the registers that would lose the last block.
    """
    held = blocks_per_sm(limits, kernel, threads_per_block, dynamic_smem_bytes)
    if not held:
        return Slack(0, None, None)
    most = _registers_holding(limits, held * _warps(threads_per_block))
    heavier = replace(kernel, registers_per_thread=most + 1)
    smem_bytes = kernel.static_smem_bytes + dynamic_smem_bytes
    grown = _smem_bytes_holding(limits, held) + 1 - smem_bytes
    return Slack(
        blocks_per_sm=held,
        registers_per_thread=None
        if most >= limits.max_registers_per_thread
        else TippingPoint(
            most + 1 - kernel.registers_per_thread,
            blocks_per_sm(limits, heavier, threads_per_block, dynamic_smem_bytes),
        ),
        smem_bytes_per_block=TippingPoint(
            grown, blocks_per_sm(limits, kernel, threads_per_block, dynamic_smem_bytes + grown)
        ),
    )


@dataclass(frozen=True, slots=True)
class ProfileCapacity:
    """The capacity of a profiled device for the kernels of one module, by computation.

    The SM count is the profile's: a slice of a device is a profile with fewer SMs.
    """

    profile: DeviceProfile
    module: CompiledModule

    @property
    def device(self) -> str:
        return self.profile.identity.name

    @property
    def sms(self) -> int:
        return self.profile.identity.sms

    def blocks_per_sm(self, kernel: str, threads_per_block: int, dynamic_smem_bytes: int) -> int:
        """Return the resident blocks on one SM; 0 when not even one block fits.

        Raises:
            GateFailure: the module has no kernel of this name.
            SettingError: the limits of the device's compute capability are not known.
        """
        limits = limits_for(self.profile.identity.compute_capability)
        compiled = self.module.kernel(kernel)
        return blocks_per_sm(limits, compiled, threads_per_block, dynamic_smem_bytes)

    def active_clusters(self, launch: KernelLaunch) -> int | None:  # noqa: ARG002
        """Return None: which SMs share a GPC differs from board to board of one part."""
        return None


def _round_up(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _warps(threads: int) -> int:
    return -(-threads // THREADS_PER_WARP)


def _warps_by_registers(limits: DeviceLimits, registers_per_thread: int) -> int:
    """Warps whose registers fit: each sub-partition has its own share of the register file."""
    if registers_per_thread > limits.max_registers_per_thread:
        return 0
    if registers_per_thread == 0:
        return limits.max_warps_per_sm
    per_warp = _round_up(registers_per_thread * THREADS_PER_WARP, limits.registers_per_unit)
    return limits.registers_per_partition // per_warp * limits.sub_partitions_per_sm


def _registers_holding(limits: DeviceLimits, warps: int) -> int:
    """Return the most registers per thread with which an SM holds so many warps."""
    per_partition = -(-warps // limits.sub_partitions_per_sm)
    units = limits.registers_per_partition // per_partition // limits.registers_per_unit
    return units * limits.registers_per_unit // THREADS_PER_WARP


def _blocks_by_smem(limits: DeviceLimits, smem_bytes: int) -> int:
    # Above `max_smem_bytes_per_block` a block takes more than the SM has, so that this gives 0.
    taken = smem_bytes + limits.reserved_smem_bytes_per_block
    if not taken:
        return limits.max_blocks_per_sm
    return limits.smem_bytes_per_sm // _round_up(taken, limits.smem_bytes_per_unit)


def _smem_bytes_holding(limits: DeviceLimits, blocks: int) -> int:
    """Return the most shared bytes per block with which an SM holds so many blocks."""
    units = limits.smem_bytes_per_sm // blocks // limits.smem_bytes_per_unit
    return units * limits.smem_bytes_per_unit - limits.reserved_smem_bytes_per_block
