"""How many blocks of a kernel one SM holds, computed without a device.

The arithmetic is that of NVIDIA's `cuda_occupancy.h` (wheel nvidia-cuda-runtime) for a kernel that
opted in to the dynamic shared memory it asks for and left the carve-out at its default. A test
compiles that header and compares every entry of `LIMITS` with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

THREADS_PER_WARP = 32


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
    # cuda_occupancy.h lets 256 pass; the machine encodes register 255 as the zero register.
    max_registers_per_thread: int = 255
    sub_partitions_per_sm: int = 4
    reserved_smem_bytes_per_block: int = 1024
    smem_bytes_per_unit: int = 128  # allocated per block in steps of this

    @property
    def max_warps_per_sm(self) -> int:
        return self.max_threads_per_sm // THREADS_PER_WARP

    @property
    def max_smem_bytes_per_block(self) -> int:
        """Static plus dynamic, after opting in: all of the SM's but what is reserved."""
        return self.smem_bytes_per_sm - self.reserved_smem_bytes_per_block


# Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and
# `cuda::arch_traits` of CCCL, which agree. The header owns the blocks and the step sizes; threads
# and shared memory per SM are inputs to it. Older guides gave 12.0 32 blocks; the header has 24.
LIMITS: tuple[DeviceLimits, ...] = (
    DeviceLimits("8.0", 2048, 32, 164 * 1024),
    DeviceLimits("8.6", 1536, 16, 100 * 1024),
    DeviceLimits("8.9", 1536, 24, 100 * 1024),
    DeviceLimits("9.0", 2048, 32, 228 * 1024),
    DeviceLimits("10.0", 2048, 32, 228 * 1024),
    DeviceLimits("12.0", 1536, 24, 100 * 1024),
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
    warps_per_block = -(-threads_per_block // THREADS_PER_WARP)
    smem_bytes = kernel.static_smem_bytes + dynamic_smem_bytes
    return min(
        limits.max_blocks_per_sm,
        limits.max_warps_per_sm // warps_per_block,
        _warps_by_registers(limits, kernel.registers_per_thread) // warps_per_block,
        _blocks_by_smem(limits, smem_bytes),
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


def _round_up(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _warps_by_registers(limits: DeviceLimits, registers_per_thread: int) -> int:
    """Warps whose registers fit: each sub-partition has its own share of the register file."""
    if registers_per_thread > limits.max_registers_per_thread:
        return 0
    if registers_per_thread == 0:
        return limits.max_warps_per_sm
    per_warp = _round_up(registers_per_thread * THREADS_PER_WARP, limits.registers_per_unit)
    per_partition = limits.registers_per_sm // limits.sub_partitions_per_sm
    return per_partition // per_warp * limits.sub_partitions_per_sm


def _blocks_by_smem(limits: DeviceLimits, smem_bytes: int) -> int:
    # Above `max_smem_bytes_per_block` a block takes more than the SM has, so that this gives 0.
    taken = smem_bytes + limits.reserved_smem_bytes_per_block
    return limits.smem_bytes_per_sm // _round_up(taken, limits.smem_bytes_per_unit)
