"""--rmsperf-accept-slower: with --rmsperf-save, what got slower is stored without being named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

SLOW = "scale_rows/vector-graph/16x1024"
LOOSENED = f"loosened: {SLOW} 8.00 -> 8.80 us (+10.0 %)"


def stored_us(project: Project) -> float:
    """Return the stored device time of the slow case, to a tenth."""
    sessions = json.loads(project.baseline.read_bytes())["cases"][SLOW]["sessions"]
    return round(float(sessions[0]["device_ns"][1]) / 1000, 1)


@pytest.fixture
def slower(project: Project) -> Project:
    """The project, saved before one case got 10 % slower."""
    project.save()
    project.script(device_ns={SLOW: 8800})
    return project


def test_loss_that_nobody_accepts_saves_nothing(slower: Project) -> None:
    before = slower.baseline.read_bytes()

    result = slower.run("--rmsperf-save")

    assert (result.ret, slower.baseline.read_bytes()) == (pytest.ExitCode.TESTS_FAILED, before)


def test_loss_is_stored_with_the_option_and_shown_as_loosened(slower: Project) -> None:
    result = slower.run("--rmsperf-save", "--rmsperf-accept-slower")

    assert (result.ret, stored_us(slower)) == (pytest.ExitCode.OK, 8.8)
    result.stdout.fnmatch_lines([LOOSENED])


def test_loss_is_stored_where_the_case_is_named_and_shown_as_loosened(slower: Project) -> None:
    result = slower.run("--rmsperf-save", "-k", SLOW)

    assert (result.ret, stored_us(slower)) == (pytest.ExitCode.OK, 8.8)
    result.stdout.fnmatch_lines([LOOSENED])


def test_ini_key_accepts_losses(slower: Project) -> None:
    slower.ini("rmsperf_accept_slower = true")

    slower.run("--rmsperf-save")

    assert stored_us(slower) == 8.8


@pytest.mark.parametrize("option", ["--rmsperf-accept-slower", "--rmsperf-accept-dirty"])
def test_option_that_could_do_nothing_in_a_check_is_a_usage_error(
    slower: Project, option: str
) -> None:
    result = slower.check(option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option} says what may be saved, *add --rmsperf-save*"])


def test_option_without_the_gate_is_a_usage_error(project: Project) -> None:
    result = project.run("--rmsperf-accept-slower")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rmsperf-accept-slower is an option of the gate, *"])


def test_bad_ini_value_is_a_usage_error_with_key_and_value(project: Project) -> None:
    project.ini("rmsperf_accept_slower = perhaps")

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: ini key rmsperf_accept_slower=perhaps: must be true or false *"]
    )
