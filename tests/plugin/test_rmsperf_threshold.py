"""--rmsperf-threshold and --rmsperf-completion-threshold: the changes that count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

OPTIONS = ("--rmsperf-threshold", "--rmsperf-completion-threshold")


@pytest.fixture
def slower(project: Project) -> Project:
    """The project, saved, before every case got 10 % slower in device time."""
    project.save()
    project.script(device_ns={"scale_rows": 8800})
    return project


@pytest.mark.parametrize(("percent", "passed"), [("9.9", 0), ("10.1", 4)])
def test_change_fails_beyond_the_threshold(slower: Project, percent: str, passed: int) -> None:
    result = slower.check(f"--rmsperf-threshold={percent}")

    result.assert_outcomes(passed=passed, failed=4 - passed, deselected=8)


def test_ini_key_gives_the_threshold(slower: Project) -> None:
    slower.ini("rmsperf_threshold = 12.5")

    result = slower.check()

    result.assert_outcomes(passed=4, deselected=8)


def test_command_line_goes_before_the_ini_key(slower: Project) -> None:
    slower.ini("rmsperf_threshold = 12.5")

    result = slower.check("--rmsperf-threshold=3")

    result.assert_outcomes(failed=4, deselected=8)


@pytest.mark.parametrize(("percent", "passed"), [("49", 0), ("51", 4)])
def test_host_completion_has_a_threshold_of_its_own(
    project: Project, percent: str, passed: int
) -> None:
    project.save()
    project.script(completion_ns={"scale_rows": 19500})

    result = project.check(f"--rmsperf-completion-threshold={percent}")

    result.assert_outcomes(passed=passed, failed=4 - passed, deselected=8)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("value", ["0", "-3", "nan", "inf", "3%", "3,5"])
def test_bad_value_is_a_usage_error_with_option_and_value(
    project: Project, option: str, value: str
) -> None:
    result = project.run("--rmsperf", f"{option}={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option}={value}: *"])
