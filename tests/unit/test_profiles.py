"""The table of devices without a device."""

from __future__ import annotations

import re

import pytest

from pytest_rmsperf.device.occupancy import limits_for
from pytest_rmsperf.device.profiles import ALL, PROFILES, DeviceProfile, profile_for_arch
from pytest_rmsperf.errors import SettingError

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda one: one.word)


@each_profile
def test_every_profile_names_the_source_of_each_number(profile: DeviceProfile) -> None:
    assert re.fullmatch(r"SMs: .+; memory: .+", profile.source)


@each_profile
def test_every_profile_has_occupancy_limits(profile: DeviceProfile) -> None:
    capability = profile.identity.compute_capability
    assert limits_for(capability).compute_capability == capability


def test_no_two_profiles_share_a_key_or_a_word() -> None:
    keys = [profile.identity.key for profile in PROFILES]
    words = [profile.word for profile in PROFILES]

    assert len({ALL, *keys, *words}) == 1 + len(keys) + len(words)


@each_profile
def test_a_word_is_what_can_be_typed_without_quotes(profile: DeviceProfile) -> None:
    assert re.fullmatch(r"[a-z0-9.-]+", profile.word)


@pytest.mark.parametrize(
    "word",
    [
        *("h100-sxm", "h100-pcie", "h100-nvl", "h200", "gh200", "l4", "l40s", "a10", "t4", "b200"),
        *("a100-sxm-40gb", "a100-sxm-80gb", "a100-pcie-40gb", "a100-pcie-80gb"),
        *("rtx-4090", "rtx-5090", "a100-sxm-40gb-mig-1g.5gb", "h100-sxm-mig-7g.80gb"),
    ],
)
def test_the_words_stay_what_ini_files_have(word: str) -> None:
    assert word in {profile.word for profile in PROFILES}


def test_a_profile_of_a_device_that_was_asked_needs_no_word() -> None:
    identity = PROFILES[0].identity

    assert DeviceProfile(identity, "asked from CUDA").word == ""


@pytest.mark.parametrize(
    ("name", "sms", "compute_capability", "memory_mib"),
    [
        ("NVIDIA H100 80GB HBM3", 132, "9.0", 81559),
        ("NVIDIA H100 PCIe", 114, "9.0", 81559),
        ("NVIDIA H100 NVL", 132, "9.0", 95830),
        ("NVIDIA H200", 132, "9.0", 143771),
        ("NVIDIA GH200 480GB", 132, "9.0", 97871),
        ("NVIDIA A100-SXM4-80GB", 108, "8.0", 81920),
        ("NVIDIA A100-SXM4-40GB", 108, "8.0", 40960),
        ("NVIDIA A100 80GB PCIe", 108, "8.0", 81920),
        ("NVIDIA A100-PCIE-40GB", 108, "8.0", 40960),
        ("NVIDIA L4", 58, "8.9", 23034),
        ("NVIDIA L40S", 142, "8.9", 46068),
        ("NVIDIA GeForce RTX 4090", 128, "8.9", 24564),
        ("NVIDIA A10", 72, "8.6", 23028),
        ("Tesla T4", 40, "7.5", 15360),
        ("NVIDIA B200", 148, "10.0", 183359),
        ("NVIDIA GeForce RTX 5090", 170, "12.0", 32607),
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
        ("sm_86", "NVIDIA A10"),
        ("sm_75", "Tesla T4"),
        ("sm_100", "NVIDIA B200"),
        ("sm_120", "NVIDIA GeForce RTX 5090"),
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
        "  known archs  sm_90, sm_80, sm_89, sm_86, sm_75, sm_100, sm_120",
        "choose one of them with --rmsperf-arch, or run on a machine with the device itself",
    ]
