"""The resolver: command line over ini key over default, for every option of the table."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.options import OPTIONS, gate_is_on
from pytest_rmsperf.settings import Settings, resolve

# option, what the ini file says and what that means, and the same for the command line
SOURCES = [
    ("device", "auto", "auto", "cuda", "cuda"),
    ("emulated-seed", "7", 7, "0", 0),
    ("emulated-schedules", "9", 9, "1", 1),
    ("expect-gpu", "NVIDIA A100", "NVIDIA A100", "NVIDIA H200", "NVIDIA H200"),
    ("arch", "sm_80", "sm_80", "sm_89", "sm_89"),
    ("sessions", "5", 5, "7", 7),
    ("samples", "9", 9, "11", 11),
    ("deadline", "12.5", 12.5, "7", 7.0),
    ("threshold", "2.5", 2.5, "1", 1.0),
    ("completion-threshold", "50", 50.0, "33.3", 33.3),
]
FIELDS = {
    "deadline": "deadline_s",
    "threshold": "threshold_percent",
    "completion-threshold": "completion_threshold_percent",
}


def field_of(option: str) -> str:
    return FIELDS.get(option, option.replace("-", "_"))


def settings(pytester: pytest.Pytester, *arguments: str, ini: str = "") -> Settings:
    (pytester.path / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    return resolve(pytester.parseconfig(*arguments))


def test_defaults(pytester: pytest.Pytester, default_settings: Settings) -> None:
    expected = replace(default_settings, baselines=pytester.path / "baselines")

    assert settings(pytester) == expected


@pytest.mark.parametrize(("option", "ini", "meant", "_given", "_other"), SOURCES)
def test_ini_key_goes_before_the_default(
    pytester: pytest.Pytester, option: str, ini: str, meant: object, _given: str, _other: object
) -> None:
    key = f"rmsperf_{option.replace('-', '_')}"

    found = settings(pytester, ini=f"{key} = {ini}")

    assert getattr(found, field_of(option)) == meant


@pytest.mark.parametrize(("option", "ini", "_meant", "given", "meant"), SOURCES)
def test_command_line_goes_before_the_ini_key(
    pytester: pytest.Pytester, option: str, ini: str, _meant: object, given: str, meant: object
) -> None:
    key = f"rmsperf_{option.replace('-', '_')}"

    found = settings(pytester, f"--rmsperf-{option}={given}", ini=f"{key} = {ini}")

    assert getattr(found, field_of(option)) == meant


@pytest.mark.parametrize("flag", [one.flag for one in OPTIONS if one.metavar is not None])
def test_empty_value_is_an_error_and_never_the_default(
    pytester: pytest.Pytester, flag: str
) -> None:
    with pytest.raises(SettingError, match=rf"^{flag} is empty; give a value or leave it out"):
        settings(pytester, f"{flag}=")


@pytest.mark.parametrize(
    ("text", "meant"),
    [("true", True), ("True", True), ("1", True), ("yes", True), ("false", False), ("no", False)],
)
def test_ini_words_for_a_switch(pytester: pytest.Pytester, text: str, *, meant: bool) -> None:
    assert settings(pytester, ini=f"rmsperf_require_gpu = {text}").require_gpu is meant


@pytest.mark.parametrize(
    ("given", "ini"),
    [
        ("--rmsperf-save", ""),
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
    ("arguments", "usable"),
    [
        ((), DeviceChoice.AUTO),
        (("--rmsperf-device=cuda",), DeviceChoice.CUDA),
        (("--rmsperf-require-gpu",), DeviceChoice.CUDA),
        (("--rmsperf-expect-gpu=NVIDIA H200",), DeviceChoice.CUDA),
        (("--rmsperf-save",), DeviceChoice.CUDA),
        (("--rmsperf-device=emulated",), DeviceChoice.EMULATED),
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


def test_device_cuda_requires_a_gpu(pytester: pytest.Pytester) -> None:
    assert settings(pytester, "--rmsperf-device=cuda").require_gpu


@pytest.mark.parametrize(
    ("arguments", "on"), [((), False), (("--rmsperf",), True), (("--rmsperf-save",), True)]
)
def test_gate_is_on_only_where_it_was_asked_for(
    pytester: pytest.Pytester, arguments: tuple[str, ...], *, on: bool
) -> None:
    assert gate_is_on(pytester.parseconfig(*arguments)) is on


def test_baselines_are_below_the_root_and_json_below_the_folder_of_the_call(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pytester.mkdir("sub")
    monkeypatch.chdir(folder)

    found = settings(pytester, "--rmsperf-baselines=stored", "--rmsperf-json=run.json")

    assert (found.baselines, found.json) == (pytester.path / "stored", folder / "run.json")


def test_absolute_paths_stay_as_they_are(pytester: pytest.Pytester, tmp_path: Path) -> None:
    found = settings(pytester, f"--rmsperf-baselines={tmp_path}", f"--rmsperf-json={tmp_path}/a")

    assert (found.baselines, found.json) == (tmp_path, tmp_path / "a")


def test_every_option_has_a_setting(pytester: pytest.Pytester) -> None:
    names = {one.name for one in fields(settings(pytester))}

    assert {field_of(one.word) for one in OPTIONS} == names - {"save"}


def test_help_gives_the_default_of_every_ini_key(pytester: pytest.Pytester) -> None:
    text = pytester.runpytest_inprocess("--help").stdout.str()

    assert all(f"(default: {one.default})" in " ".join(text.split()) for one in OPTIONS)


def test_description_gives_what_decides_a_verdict(pytester: pytest.Pytester) -> None:
    found = settings(pytester, "--rmsperf-threshold=1.5")

    assert found.describe() == (
        f"baselines {pytester.path / 'baselines'}, 3 sessions x 15 samples, thresholds 1.5 % "
        "device time and 25 % host completion, deadline 30 s"
    )
