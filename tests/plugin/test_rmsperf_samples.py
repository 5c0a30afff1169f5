"""--rmsperf-samples: how many blocks of samples each case gets in a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def samples_of(project: Project) -> int:
    run = json.loads((project.path / ".rmsperf" / "run.json").read_bytes())
    timed = run["rounds"][0][0]["timed"]
    return len(timed["samples"]["scale_rows/scalar-direct/16x1024"]["device_ns"])


def test_15_samples_are_taken_by_default(project: Project) -> None:
    project.run("--rmsperf")

    assert samples_of(project) == 15


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_samples = 5")

    project.run("--rmsperf", "--rmsperf-samples=2")

    assert samples_of(project) == 2


def test_other_number_than_the_baselines_is_incomparable(project: Project) -> None:
    project.save("--rmsperf-samples=5")

    result = project.check()

    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["incomparable: other protocol: blocks 5 -> 15"])


@pytest.mark.parametrize("value", ["0", "many"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-samples={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-samples={value}: *"])
