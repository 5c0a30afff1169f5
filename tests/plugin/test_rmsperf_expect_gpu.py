"""--rmsperf-expect-gpu stops a run that landed on another machine than was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_expected_device_lets_the_run_begin(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-expect-gpu=NVIDIA H200", "-k", "residency")

    result.assert_outcomes(passed=4, deselected=8)


def test_other_device_stops_the_run_and_both_names_are_given(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-expect-gpu=NVIDIA H200 NVL")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --rmsperf-expect-gpu=NVIDIA H200 NVL: this machine has NVIDIA H200*"]
    )


def test_no_device_stops_the_run_with_the_reason(project: Project) -> None:
    project.script(device=None)

    result = project.run("--rmsperf", "--rmsperf-expect-gpu=NVIDIA H200")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --rmsperf-expect-gpu=NVIDIA H200: this machine has no*(none in the script)*"]
    )


@pytest.mark.parametrize("option", ["-v", "-q", "--no-header"])
def test_nothing_is_checked_or_timed_on_the_wrong_device(project: Project, option: str) -> None:
    project.run("--rmsperf", "--rmsperf-expect-gpu=NVIDIA H200 NVL", option)

    assert project.calls() == ["close"]
