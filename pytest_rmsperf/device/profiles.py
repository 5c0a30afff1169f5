"""The devices that a plan can be held against without having one.

A profile is data: what one part is, and where each of its numbers comes from. What a compute
capability limits is in `pytest_rmsperf.device.occupancy`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.errors import SettingError


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """A device by its full CUDA name, and the source of its numbers.

    `identity.memory_mib` is the total that NVML and nvidia-smi report. CUDA's own total is
    smaller (81079 against 81559 MiB on an H100) and moves with the driver.
    """

    identity: DeviceIdentity
    source: str

    @property
    def arch(self) -> str:
        return self.identity.arch


# The first profile of an arch is the default for that arch.
PROFILES: tuple[DeviceProfile, ...] = (
    DeviceProfile(
        DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81559),
        source="SMs: NVIDIA H100 Tensor Core GPU Architecture (whitepaper), H100 SXM5; "
        "memory: nvidia-smi, driver 550.54.15",
    ),
    DeviceProfile(
        DeviceIdentity("NVIDIA H100 PCIe", 114, "9.0", 81559),
        source="SMs: NVIDIA H100 Tensor Core GPU Architecture (whitepaper), H100 PCIe; "
        "memory: nvidia-smi, driver 570.211.01",
    ),
    DeviceProfile(
        DeviceIdentity("NVIDIA H200", 132, "9.0", 143771),
        source="SMs: as H100 SXM5, the same GH100 configuration; memory: nvidia-smi, driver 580",
    ),
    DeviceProfile(
        DeviceIdentity("NVIDIA A100-SXM4-80GB", 108, "8.0", 81920),
        source="SMs: NVIDIA A100 Tensor Core GPU Architecture (whitepaper); memory: nvidia-smi",
    ),
    DeviceProfile(
        DeviceIdentity("NVIDIA L4", 58, "8.9", 23034),
        source="SMs: 7424 CUDA cores of the L4 at 128 per SM of compute capability 8.9; "
        "memory: nvidia-smi",
    ),
)


def profile_for_arch(arch: str) -> DeviceProfile:
    """Return the default profile of an arch such as "sm_90".

    "sm_90a" and "sm_90f" name the same devices as "sm_90": the suffix widens the instruction set.

    Raises:
        SettingError: no profile has this arch; the message names those that exist.
    """
    base = re.sub(r"[af]$", "", arch)
    for profile in PROFILES:
        if profile.arch == base:
            return profile
    known = ", ".join(dict.fromkeys(profile.arch for profile in PROFILES))
    raise SettingError(
        f"no device profile for arch {arch!r}\n"
        f"  known archs  {known}\n"
        "choose one of them with --rmsperf-arch, or run on a machine with the device itself"
    )
