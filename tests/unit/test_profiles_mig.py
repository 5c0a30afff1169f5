"""Slices of devices: what `nvidia-smi mig -lgip` lists, by the numbers of its table."""

from __future__ import annotations

import pytest

from pytest_rmsperf.device.profiles import PROFILES, DeviceProfile, profiles_named

SLICES = [profile for profile in PROFILES if profile.is_slice]
each_slice = pytest.mark.parametrize("profile", SLICES, ids=lambda one: one.word)


def whole_of(profile: DeviceProfile) -> DeviceProfile:
    """Return the device that is sliced, by the part of the word before the slice."""
    [whole] = profiles_named(profile.word.partition("-mig-")[0])
    return whole


@pytest.mark.parametrize(
    ("word", "listed"),
    [
        (
            "a100-sxm-40gb",
            {
                "1g.5gb": (14, 4.75),
                "1g.10gb": (14, 9.625),
                "2g.10gb": (28, 9.625),
                "3g.20gb": (42, 19.5),
                "4g.20gb": (56, 19.5),
                "7g.40gb": (98, 39.25),
            },
        ),
        (
            "a100-sxm-80gb",
            {
                "1g.10gb": (14, 9.5),
                "1g.20gb": (14, 19.5),
                "2g.20gb": (28, 19.5),
                "3g.40gb": (42, 39.25),
                "4g.40gb": (56, 39.25),
                "7g.80gb": (98, 78.75),
            },
        ),
        (
            "h100-sxm",
            {
                "1g.10gb": (16, 9.75),
                "1g.20gb": (26, 19.625),
                "2g.20gb": (32, 19.625),
                "3g.40gb": (60, 39.5),
                "4g.40gb": (64, 39.5),
                "7g.80gb": (132, 79.25),
            },
        ),
    ],
)
def test_the_slices_of_a_device_are_those_that_are_listed(
    word: str, listed: dict[str, tuple[int, float]]
) -> None:
    found = {
        one.word.removeprefix(f"{word}-mig-"): (one.identity.sms, one.identity.memory_mib / 1024)
        for one in SLICES
        if one.word.startswith(word)
    }

    assert found == listed


@each_slice
def test_a_slice_has_the_name_that_cuda_gives_it(profile: DeviceProfile) -> None:
    size = profile.word.partition("-mig-")[2]

    assert profile.identity.name == f"{whole_of(profile).identity.name} MIG {size}"


@each_slice
def test_a_slice_is_no_more_than_the_whole(profile: DeviceProfile) -> None:
    one, whole = profile.identity, whole_of(profile).identity

    assert (one.sms <= whole.sms, one.memory_mib < whole.memory_mib) == (True, True)


@each_slice
def test_a_slice_has_the_arch_of_the_whole(profile: DeviceProfile) -> None:
    assert profile.arch == whole_of(profile).arch


def test_no_slice_is_the_default_of_an_arch() -> None:
    first = {profile.arch: profile for profile in reversed(PROFILES)}

    assert [one.word for one in first.values() if one.is_slice] == []


def test_a_slice_of_all_sms_is_a_slice_all_the_same() -> None:
    whole, part = profiles_named("h100-sxm h100-sxm-mig-7g.80gb")

    assert part.identity.sms == whole.identity.sms
    assert (whole.is_slice, part.is_slice) == (False, True)
