"""What options amount to together: presets below what is given, a device or none, calibration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judge.policy import Outcome, Status
from pytest_rmsperf.judge.thresholds import PRESETS, Limit, Thresholds
from pytest_rmsperf.settings import CALIBRATION_SESSIONS, Settings, override, resolve


def settings(pytester: pytest.Pytester, *arguments: str, ini: str = "") -> Settings:
    (pytester.path / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    return resolve(pytester.parseconfig(*arguments))


# ---- presets -------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_preset_gives_the_thresholds_of_the_mode_in_force(
    pytester: pytest.Pytester, name: str
) -> None:
    stored, paired = (
        settings(pytester, f"--rmsperf-preset={name}", *more).thresholds
        for more in ((), ("--rmsperf-against=HEAD",))
    )

    assert (stored, paired) == (PRESETS[name].stored, PRESETS[name].paired)


@pytest.mark.parametrize("name", PRESETS)
def test_preset_gives_the_policy(pytester: pytest.Pytester, name: str) -> None:
    found = settings(pytester, f"--rmsperf-preset={name}").policy

    assert [found.outcome(one) for one in Status] == [
        PRESETS[name].policy.outcome(one) for one in Status
    ]


@pytest.mark.parametrize("more", [(), ("--rmsperf-against=HEAD",)], ids=["stored", "paired"])
def test_threshold_that_is_given_goes_before_the_presets_in_either_mode(
    pytester: pytest.Pytester, more: tuple[str, ...]
) -> None:
    usual = settings(pytester, "--rmsperf-preset=strict", *more).thresholds

    found = settings(pytester, "--rmsperf-preset=strict", "--rmsperf-threshold=7", *more).thresholds

    assert found == replace(usual, device=Limit(0.07, usual.device.floor_ns))


def test_threshold_of_the_ini_file_goes_before_a_preset_of_the_command_line(
    pytester: pytest.Pytester,
) -> None:
    found = settings(pytester, "--rmsperf-preset=strict", ini="rmsperf_threshold = 7")

    assert found.thresholds.device.share == pytest.approx(0.07)


def test_entry_of_the_policy_goes_before_the_presets(pytester: pytest.Pytester) -> None:
    found = settings(pytester, "--rmsperf-preset=strict", "--rmsperf-policy=faster=pass").policy

    assert (found.outcome(Status.FASTER), found.outcome(Status.INCONCLUSIVE)) == (
        Outcome.PASS,
        Outcome.FAIL,
    )


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ((), Outcome.FAIL),
        (("--rmsperf-against=HEAD",), Outcome.WARN),
        (("--rmsperf-against=HEAD", "--rmsperf-policy=missing=fail"), Outcome.FAIL),
    ],
)
def test_case_that_another_commit_lacks_is_new_unless_the_policy_says_otherwise(
    pytester: pytest.Pytester, arguments: tuple[str, ...], outcome: Outcome
) -> None:
    assert settings(pytester, *arguments).policy.outcome(Status.MISSING) is outcome


# ---- thresholds that are given -------------------------------------------------------

BASE = Thresholds(Limit(0.01, 50), Limit(0.25, 1000))


def test_override_of_nothing_changes_nothing() -> None:
    assert override(BASE) == BASE


def test_override_replaces_only_what_is_given() -> None:
    found = (
        override(BASE, percent=3),
        override(BASE, floor_us=0.2),
        override(BASE, completion_percent=50),
    )

    assert found == (
        Thresholds(Limit(0.03, 50), BASE.completion),
        Thresholds(Limit(0.01, 200), BASE.completion),
        Thresholds(BASE.device, Limit(0.5, 1000)),
    )


# ---- a device, or none ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "ini"),
    [
        ("--rmsperf-save", ""),
        ("--rmsperf-calibrate", ""),
        ("--rmsperf-require-gpu", ""),
        ("--rmsperf-expect-gpu=NVIDIA H200", ""),
        ("", "rmsperf_require_gpu = true"),
    ],
)
def test_emulated_device_contradicts_what_asks_for_a_gpu(
    pytester: pytest.Pytester, given: str, ini: str
) -> None:
    arguments = [one for one in ("--rmsperf-device=emulated", given) if one]
    option = given.partition("=")[0] or "--rmsperf-require-gpu"

    with pytest.raises(
        SettingError, match=rf"^--rmsperf-device=emulated contradicts {option}: .*; leave one"
    ):
        settings(pytester, *arguments, ini=ini)


@pytest.mark.parametrize(
    ("given", "ini"),
    [
        ("--rmsperf-device=cuda", ""),
        ("--rmsperf-device=emulated", ""),
        ("--rmsperf-require-gpu", ""),
        ("--rmsperf-expect-gpu=NVIDIA H200", ""),
        ("--rmsperf-calibrate", ""),
        ("--rmsperf-against=HEAD", ""),
        ("", "rmsperf_require_gpu = true"),
    ],
)
def test_static_run_contradicts_what_needs_a_device_or_another_commit(
    pytester: pytest.Pytester, given: str, ini: str
) -> None:
    arguments = [one for one in ("--rmsperf-static", given) if one]
    option = given if "GPU=" not in given.upper() else given.partition("=")[0]

    with pytest.raises(
        SettingError,
        match=rf"^--rmsperf-static contradicts {option or '--rmsperf-require-gpu'}: .*; leave one",
    ):
        settings(pytester, *arguments, ini=ini)


@pytest.mark.parametrize(
    ("arguments", "devices"),
    [
        ((), "h100-sxm"),
        (("--rmsperf-arch=sm_89",), "l4"),
        (("--rmsperf-arch=sm_89", "--rmsperf-devices=a10"), "a10"),
    ],
)
def test_device_of_interest_is_that_of_the_arch_unless_others_are_named(
    pytester: pytest.Pytester, arguments: tuple[str, ...], devices: str
) -> None:
    assert settings(pytester, *arguments).devices == profiles_named(devices)


@pytest.mark.parametrize("option", ["--rmsperf-save", "--rmsperf-calibrate"])
def test_pairs_with_another_commit_enter_no_baseline(
    pytester: pytest.Pytester, option: str
) -> None:
    with pytest.raises(SettingError, match=rf"^--rmsperf-against=HEAD contradicts {option}: "):
        settings(pytester, "--rmsperf-against=HEAD", option)


@pytest.mark.parametrize(
    ("arguments", "usable"),
    [
        ((), DeviceChoice.AUTO),
        (("--rmsperf-device=cuda",), DeviceChoice.CUDA),
        (("--rmsperf-require-gpu",), DeviceChoice.CUDA),
        (("--rmsperf-expect-gpu=NVIDIA H200",), DeviceChoice.CUDA),
        (("--rmsperf-save",), DeviceChoice.CUDA),
        (("--rmsperf-calibrate",), DeviceChoice.CUDA),
        (("--rmsperf-device=emulated",), DeviceChoice.EMULATED),
        (("--rmsperf-static",), DeviceChoice.NONE),
        (("--rmsperf-static", "--rmsperf-save"), DeviceChoice.NONE),
    ],
)
def test_nothing_stands_for_a_gpu_that_was_asked_for(
    pytester: pytest.Pytester, arguments: tuple[str, ...], usable: DeviceChoice
) -> None:
    assert settings(pytester, *arguments).usable_device is usable


def test_seed_and_number_of_the_schedules_come_from_two_options(
    pytester: pytest.Pytester,
) -> None:
    found = settings(pytester, "--rmsperf-emulated-seed=7", "--rmsperf-emulated-schedules=2")

    assert found.schedules == Schedules(first_seed=7, count=2)


@pytest.mark.parametrize(
    ("argument", "asked_by"),
    [
        ("--rmsperf-device=cuda", "--rmsperf-device=cuda"),
        ("--rmsperf-require-gpu", "--rmsperf-require-gpu"),
    ],
)
def test_option_that_makes_a_missing_device_a_failure_is_named(
    pytester: pytest.Pytester, argument: str, asked_by: str
) -> None:
    found = settings(pytester, argument)

    assert (found.require_gpu, found.gpu_asked_by) == (True, asked_by)


# ---- calibration ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "sessions"),
    [(CALIBRATION_SESSIONS - 1, CALIBRATION_SESSIONS), (CALIBRATION_SESSIONS + 1, 13)],
)
def test_calibration_takes_many_sessions_and_more_where_they_are_asked_for(
    pytester: pytest.Pytester, asked: int, sessions: int
) -> None:
    found = settings(pytester, "--rmsperf-calibrate", f"--rmsperf-sessions={asked}")

    assert found.protocol.sessions == sessions
