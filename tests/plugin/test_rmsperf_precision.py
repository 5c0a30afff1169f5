"""--rmsperf-precision: how surely medians must be known for a session to end early."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def precision_ppm_of(project: Project) -> int:
    """Return what the run file says of the protocol."""
    run = json.loads((project.path / ".rmsperf" / "run.json").read_bytes())
    found: int = run["settings"]["protocol"]["precision_ppm"]
    return found


def test_precision_has_a_default(project: Project) -> None:
    project.run("--rmsperf")

    assert precision_ppm_of(project) == 500


def test_ini_key_gives_the_precision(project: Project) -> None:
    project.ini("rmsperf_precision = 0.2")

    project.run("--rmsperf")

    assert precision_ppm_of(project) == 2000


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_precision = 0.2")

    project.run("--rmsperf", "--rmsperf-precision=0")

    assert precision_ppm_of(project) == 0


def test_baseline_of_another_precision_can_be_compared(project: Project) -> None:
    project.save("--rmsperf-precision=0.001")

    result = project.check()

    result.assert_outcomes(passed=4, deselected=8)


@pytest.mark.parametrize("value", ["-0.1", "100", "nan", "1%"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-precision={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-precision={value}: *"])
