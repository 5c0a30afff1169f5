"""Devices as they are typed on the command line and in the ini file."""

from __future__ import annotations

import pytest

from pytest_rmsperf.device.profiles import LISTING, PROFILES, DeviceProfile, profiles_named

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda one: one.word)


def words_of(text: str) -> list[str]:
    return [profile.word for profile in profiles_named(text)]


@each_profile
def test_a_device_goes_by_its_word(profile: DeviceProfile) -> None:
    assert profiles_named(profile.word) == (profile,)


@each_profile
def test_a_device_goes_by_the_key_of_its_full_name(profile: DeviceProfile) -> None:
    assert profiles_named(profile.identity.key) == (profile,)


@pytest.mark.parametrize(
    "text",
    ["l4,h100-sxm", "l4, h100-sxm", "l4 h100-sxm", "\n    l4\n    h100-sxm\n", "L4,H100-SXM,"],
)
def test_devices_are_separated_by_commas_or_space_and_keep_their_order(text: str) -> None:
    assert words_of(text) == ["l4", "h100-sxm"]


def test_all_stands_for_every_device_that_is_no_slice() -> None:
    assert profiles_named("all") == tuple(
        one for one in PROFILES if " MIG " not in one.identity.name
    )


def test_a_slice_may_follow_all() -> None:
    assert words_of("all h100-sxm-mig-1g.10gb")[-1] == "h100-sxm-mig-1g.10gb"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l4,l4", "l4 is named twice, by 'l4' and by 'l4'; name each device once"),
        ("l4,nvidia-l4", "l4 is named twice, by 'l4' and by 'nvidia-l4'; name each device once"),
        ("l4,all", "l4 is named twice, by 'l4' and by 'all'; name each device once"),
        ("all,t4", "t4 is named twice, by 'all' and by 't4'; name each device once"),
    ],
)
def test_a_device_that_is_named_twice_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"named twice") as refusal:
        profiles_named(text)

    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("entry", "near"),
    [
        ("a100", "a100-sxm-80gb, a100-sxm-40gb, a100-pcie-80gb, a100-pcie-40gb"),
        ("h1oo-sxm", "h100-sxm"),
        ("rtx4090", "rtx-4090"),
    ],
)
def test_an_unknown_device_is_refused_with_the_nearest_and_how_to_list_all(
    entry: str, near: str
) -> None:
    with pytest.raises(ValueError, match=r"no device is called") as refusal:
        profiles_named(f"l4,{entry}")

    start = f"no device is called '{entry}'; the nearest are {near}"
    assert (str(refusal.value)[: len(start)], str(refusal.value).endswith(LISTING)) == (start, True)


def test_a_device_that_nothing_resembles_has_no_nearest() -> None:
    with pytest.raises(ValueError, match=r"no device is called 'zzz'; none is near; all of them: "):
        profiles_named("zzz")


@pytest.mark.parametrize("text", ["", " ", ",", "\n"])
def test_no_device_at_all_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no device is named; all of them: python -m"):
        profiles_named(text)
