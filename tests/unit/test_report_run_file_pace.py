"""When a run is written while it goes on, and where."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.checks import CheckedCase, Machine, SessionResult, TimedSession
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.report.run_file import RunFile
from pytest_rmsperf.settings import Settings

SESSION = SessionResult(TimedSession({}))


@dataclass
class Clock:
    """A clock on which each reading takes a second."""

    now_s: float = 0.0

    def __call__(self) -> float:
        self.now_s += 1.0
        return self.now_s


def checks_in(path: Path) -> int:
    return len(json.loads(path.read_text(encoding="utf-8"))["checked"])


def grown(cases: int, *sessions: SessionResult) -> Campaign:
    checked = {str(one): CheckedCase(str(one)) for one in range(cases)}
    return Campaign(Machine(None, "none"), checked, (sessions,))


@pytest.fixture
def run_file(tmp_path: Path, default_settings: Settings) -> RunFile:
    """A run's file `run.json` by a slow clock."""
    return RunFile(replace(default_settings, json=tmp_path / "run.json"), Clock())


def test_checks_are_written_for_at_most_a_tenth_of_the_time(
    tmp_path: Path, default_settings: Settings
) -> None:
    path, clock = tmp_path / "run.json", Clock()
    file = RunFile(replace(default_settings, json=path), clock)

    file.keep(grown(1))
    file.keep(grown(2))
    early = checks_in(path)
    clock.now_s += 10
    file.keep(grown(3))

    assert (early, checks_in(path)) == (1, 3)


def test_every_session_is_written_at_once(tmp_path: Path, run_file: RunFile) -> None:
    run_file.keep(grown(1))
    run_file.keep(grown(2, SESSION))

    assert checks_in(tmp_path / "run.json") == 2


def test_an_interrupted_run_leaves_what_was_last_kept(tmp_path: Path, run_file: RunFile) -> None:
    run_file.keep(grown(1))
    run_file.keep(grown(2))
    run_file.write_latest()

    assert checks_in(tmp_path / "run.json") == 2


def test_a_run_is_written_to_its_own_folder_and_to_the_file_that_is_asked_for(
    tmp_path: Path, run_file: RunFile
) -> None:
    run_file.open_folder(tmp_path)

    run_file.keep(grown(1))

    found = [checks_in(tmp_path / name) for name in ("run.json", ".rmsperf/run.json")]
    assert found == [1, 1]


def test_a_file_that_cannot_be_written_is_a_setting_error_with_the_remedy(
    tmp_path: Path, default_settings: Settings
) -> None:
    file = RunFile(replace(default_settings, json=tmp_path / "absent" / "run.json"))

    with pytest.raises(SettingError, match=r"(?s)^cannot write the run: .*absent.*--rmsperf-json="):
        file.keep(grown(1))
