"""The resolver: command line over ini key over default, for every option; paths; the header."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.judge.thresholds import STORED
from pytest_rmsperf.options import OPTIONS
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.settings import Settings, resolve

# Option, what the ini file says and what that means, and the same for the command line.
SOURCES = [
    ("device", "auto", DeviceChoice.AUTO, "cuda", DeviceChoice.CUDA),
    ("emulated-seed", "7", 7, "0", 0),
    ("emulated-schedules", "9", 9, "1", 1),
    ("expect-gpu", "NVIDIA A100", "NVIDIA A100", "NVIDIA H200", "NVIDIA H200"),
    ("arch", "sm_80", "sm_80", "sm_89", "sm_89"),
    ("devices", "l4", profiles_named("l4"), "l40s, a10", profiles_named("l40s a10")),
    ("headroom-loss", "5", 0.05, "0", 0.0),
    ("details", "true", True, None, True),
    ("sessions", "5", 5, "7", 7),
    ("samples", "9", 9, "11", 11),
    ("precision", "0.5", 5000, "0", 0),
    ("budget", "12.5", 12_500, "0.0001", 1),
    ("cooldown", "0.5", 500, "0", 0),
    ("cache", "cold", Cache.COLD, "warm", Cache.WARM),
    ("deadline", "12.5", 12.5, "7", 7.0),
    ("against", "main", "main", "HEAD~1", "HEAD~1"),
    ("preset", "strict", "strict", "permissive", "permissive"),
    (
        "policy",
        "missing=warn",
        Policy(((Status.MISSING, Outcome.WARN),)),
        "stale=pass",
        Policy(((Status.STALE, Outcome.PASS),)),
    ),
    ("threshold", "2.5", 0.025, "1", 0.01),
    ("floor", "0.2", 200, "1.5", 1500),
    ("completion-threshold", "50", 0.5, "33", 0.33),
    ("power-limit", "500", 500_000, "350.5", 350_500),
    ("accept-slower", "true", True, None, True),
    ("accept-dirty", "true", True, None, True),
    ("require-gpu", "true", True, None, True),
    ("baselines", "stored", "stored", "others", "others"),
    ("json", "a.json", "a.json", "b.json", "b.json"),
]


def value_of(settings: Settings, option: str) -> object:
    """Return what an option amounts to."""
    protocol, limits = settings.protocol, settings.thresholds
    elsewhere: dict[str, object] = {
        "sessions": protocol.sessions,
        "samples": protocol.blocks,
        "precision": protocol.precision_ppm,
        "budget": protocol.budget_ms,
        "cooldown": protocol.cooldown_ms,
        "cache": protocol.cache,
        "deadline": settings.deadline_s,
        "threshold": limits.device.share,
        "floor": limits.device.floor_ns,
        "completion-threshold": limits.completion.share,
        "power-limit": settings.power_limit_mw,
        "baselines": settings.baselines.name,
        "json": settings.json.name if settings.json else None,
    }
    if option in elsewhere:
        return elsewhere[option]
    found: object = getattr(settings, option.replace("-", "_"))
    return found


def settings(pytester: pytest.Pytester, *arguments: str, ini: str = "") -> Settings:
    (pytester.path / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    return resolve(pytester.parseconfig(*arguments))


def test_defaults(pytester: pytest.Pytester, default_settings: Settings) -> None:
    expected = replace(default_settings, baselines=pytester.path / "baselines", thresholds=STORED)

    assert settings(pytester) == expected


# ---- command line over ini key over default ------------------------------------------


def test_every_option_is_tested_here() -> None:
    assert {option for option, *_ in SOURCES} == {one.word for one in OPTIONS}


@pytest.mark.parametrize(("option", "ini", "meant", "_given", "_other"), SOURCES)
def test_ini_key_goes_before_the_default(
    pytester: pytest.Pytester,
    option: str,
    ini: str,
    meant: object,
    _given: str | None,
    _other: object,
) -> None:
    key = f"rmsperf_{option.replace('-', '_')}"

    found = settings(pytester, ini=f"{key} = {ini}")

    assert value_of(found, option) == meant


@pytest.mark.parametrize(("option", "ini", "_meant", "given", "meant"), SOURCES)
def test_command_line_goes_before_the_ini_key(
    pytester: pytest.Pytester,
    option: str,
    ini: str,
    _meant: object,
    given: str | None,
    meant: object,
) -> None:
    key = f"rmsperf_{option.replace('-', '_')}"
    said = "false" if given is None else ini
    argument = f"--rmsperf-{option}" + ("" if given is None else f"={given}")

    found = settings(pytester, argument, ini=f"{key} = {said}")

    assert value_of(found, option) == meant


@pytest.mark.parametrize("flag", [one.flag for one in OPTIONS if one.metavar is not None])
@pytest.mark.parametrize("value", ["", "  "])
def test_empty_value_is_an_error_and_never_the_default(
    pytester: pytest.Pytester, flag: str, value: str
) -> None:
    with pytest.raises(SettingError, match=rf"^{flag} is empty; give a value or leave it out"):
        settings(pytester, f"{flag}={value}")


@pytest.mark.parametrize("key", [one.dest for one in OPTIONS])
def test_empty_ini_key_is_an_error_and_never_the_default(
    pytester: pytest.Pytester, key: str
) -> None:
    with pytest.raises(SettingError, match=f"^ini key {key} is empty; give a value or leave it"):
        settings(pytester, ini=f"{key} =")


@pytest.mark.parametrize(
    ("argument", "ini", "text"),
    [
        ("--rmsperf-threshold=0", "", "--rmsperf-threshold=0: must be positive and finite"),
        ("", "rmsperf_threshold = 0", "ini key rmsperf_threshold=0: must be positive and finite"),
        ("--rmsperf-policy=slow=fail", "", "--rmsperf-policy=slow=fail: 'slow=fail' is not"),
        ("", "rmsperf_policy = slow=fail", "ini key rmsperf_policy=slow=fail: 'slow=fail' is not"),
    ],
)
def test_bad_value_is_named_with_where_it_was_given(
    pytester: pytest.Pytester, argument: str, ini: str, text: str
) -> None:
    with pytest.raises(SettingError, match=f"^{text}"):
        settings(pytester, *([argument] if argument else []), ini=ini)


# ---- paths ---------------------------------------------------------------------------


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


def test_baselines_in_a_file_are_refused(pytester: pytest.Pytester) -> None:
    (pytester.path / "stored").write_text("", encoding="utf-8")

    with pytest.raises(SettingError, match=r"^--rmsperf-baselines=stored is a file; name"):
        settings(pytester, "--rmsperf-baselines=stored")


# ---- the header ----------------------------------------------------------------------


def test_description_gives_what_decides_a_verdict(pytester: pytest.Pytester) -> None:
    found = settings(pytester, "--rmsperf-threshold=1.5")

    assert found.describe() == (
        f"baselines {pytester.path / 'baselines'}, 3 sessions x 15 samples, warm cache, "
        "thresholds 1.5 % device time (at least 0.05 us) and 25 % host completion, deadline 30 s"
    )


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--rmsperf-against=HEAD",), "against HEAD, 3 sessions"),
        (("--rmsperf-cache=cold",), ", cold cache, "),
        (("--rmsperf-policy=faster=fail",), ", policy faster=fail"),
        (("--rmsperf-static", "--rmsperf-policy=missing=warn"), " holds, policy missing=warn"),
    ],
)
def test_description_says_what_is_unusual(
    pytester: pytest.Pytester, arguments: tuple[str, ...], part: str
) -> None:
    assert part in settings(pytester, *arguments).describe()


def test_description_of_a_static_run_is_of_costs_alone(pytester: pytest.Pytester) -> None:
    found = settings(pytester, "--rmsperf-static", "--rmsperf-headroom-loss=2.5")

    assert found.describe() == (
        f"baselines {pytester.path / 'baselines'}, headroom may lose 2.5 % of what a device holds"
    )


def test_every_setting_comes_from_an_option_or_an_action(pytester: pytest.Pytester) -> None:
    names = {one.name for one in fields(settings(pytester))}
    options = {one.dest.removeprefix("rmsperf_") for one in OPTIONS}
    elsewhere = {"protocol", "thresholds", "deadline_s", "power_limit_mw"}
    elsewhere |= {"save", "calibrate", "static"}
    elsewhere |= {"last_failed"}  # of pytest

    assert names - options - elsewhere == set()
