"""The table of devices without a device."""

from __future__ import annotations

import re

import pytest

from pytest_rmsperf.device.occupancy import limits_for
from pytest_rmsperf.device.profiles import PROFILES, DeviceProfile, profile_for_arch
from pytest_rmsperf.errors import SettingError

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda one: one.identity.key)


@each_profile
def test_every_profile_names_the_source_of_each_number(profile: DeviceProfile) -> None:
    assert re.fullmatch(r"SMs: .+; memory: .+", profile.source)


@each_profile
def test_every_profile_has_occupancy_limits(profile: DeviceProfile) -> None:
    capability = profile.identity.compute_capability
    assert limits_for(capability).compute_capability == capability


def test_no_two_profiles_share_a_key() -> None:
    keys = [profile.identity.key for profile in PROFILES]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("name", "sms", "compute_capability", "memory_mib"),
    [
        ("NVIDIA H100 80GB HBM3", 132, "9.0", 81559),
        ("NVIDIA H100 PCIe", 114, "9.0", 81559),
        ("NVIDIA H200", 132, "9.0", 143771),
        ("NVIDIA A100-SXM4-80GB", 108, "8.0", 81920),
        ("NVIDIA L4", 58, "8.9", 23034),
    ],
)
def test_a_profile_is_the_part_that_is_sold_under_its_name(
    name: str, sms: int, compute_capability: str, memory_mib: int
) -> None:
    [identity] = [one.identity for one in PROFILES if one.identity.name == name]
    assert (identity.sms, identity.compute_capability, identity.memory_mib) == (
        sms,
        compute_capability,
        memory_mib,
    )


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        ("sm_90", "NVIDIA H100 80GB HBM3"),
        ("sm_80", "NVIDIA A100-SXM4-80GB"),
        ("sm_89", "NVIDIA L4"),
    ],
)
def test_an_arch_has_one_default_profile(arch: str, name: str) -> None:
    assert profile_for_arch(arch).identity.name == name


@pytest.mark.parametrize("arch", ["sm_90a", "sm_90f"])
def test_an_arch_with_a_wider_instruction_set_names_the_same_device(arch: str) -> None:
    assert profile_for_arch(arch) == profile_for_arch("sm_90")


@pytest.mark.parametrize("arch", ["sm_999", "sm_9", "sm_", "90", "", "sm_90x"])
def test_an_unknown_arch_is_refused_with_the_known_ones_and_a_remedy(arch: str) -> None:
    with pytest.raises(SettingError) as refusal:
        profile_for_arch(arch)
    assert str(refusal.value).splitlines() == [
        f"no device profile for arch {arch!r}",
        "  known archs  sm_90, sm_80, sm_89",
        "choose one of them with --rmsperf-arch, or run on a machine with the device itself",
    ]
