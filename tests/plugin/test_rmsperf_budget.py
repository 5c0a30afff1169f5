"""--rmsperf-budget: the seconds of timing after which a session ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def budget_ms_of(project: Project) -> int:
    """Return what the run file says of the protocol."""
    run = json.loads((project.path / ".rmsperf" / "run.json").read_bytes())
    found: int = run["settings"]["protocol"]["budget_ms"]
    return found


def test_budget_has_a_default(project: Project) -> None:
    project.run("--rmsperf")

    assert budget_ms_of(project) == 60_000


def test_ini_key_gives_the_budget(project: Project) -> None:
    project.ini("rmsperf_budget = 2.5")

    project.run("--rmsperf")

    assert budget_ms_of(project) == 2500


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_budget = 2.5")

    project.run("--rmsperf", "--rmsperf-budget=90")

    assert budget_ms_of(project) == 90_000


def test_baseline_of_another_budget_can_be_compared(project: Project) -> None:
    project.save("--rmsperf-budget=600")

    result = project.check()

    result.assert_outcomes(passed=4, deselected=8)


@pytest.mark.parametrize("value", ["0", "-1", "inf", "1min"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-budget={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-budget={value}: *"])
