"""--rmsperf-sessions: how many fresh workers measure all cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def sessions_of(project: Project) -> int:
    return sum(line.startswith("session") for line in project.calls())


def test_three_sessions_are_measured_by_default(project: Project) -> None:
    project.run("--rmsperf")

    assert sessions_of(project) == 3


def test_ini_key_gives_the_number(project: Project) -> None:
    project.ini("rmsperf_sessions = 5")

    project.run("--rmsperf")

    assert sessions_of(project) == 5


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_sessions = 5")

    project.run("--rmsperf", "--rmsperf-sessions=1")

    assert sessions_of(project) == 1


def test_number_in_pyproject_toml_is_understood(project: Project) -> None:
    (project.path / "pytest.ini").unlink()
    project.write("pyproject.toml", "[tool.pytest.ini_options]\nrmsperf_sessions = 2\n")

    project.run("--rmsperf")

    assert sessions_of(project) == 2


def test_baseline_of_more_sessions_can_be_compared(project: Project) -> None:
    project.save("--rmsperf-sessions=5")

    result = project.check()

    result.assert_outcomes(passed=4, deselected=8)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "three"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-sessions={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-sessions={value}: *"])


def test_bad_ini_value_is_a_usage_error_with_key_and_value(project: Project) -> None:
    project.ini("rmsperf_sessions = none")

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: ini key rmsperf_sessions=none: *"])


def test_bad_value_is_nobodys_concern_without_the_gate(project: Project) -> None:
    project.ini("rmsperf_sessions = none")
    project.write("test_others.py", "def test_one(): pass\n")

    result = project.run()

    result.assert_outcomes(passed=1, deselected=12)
