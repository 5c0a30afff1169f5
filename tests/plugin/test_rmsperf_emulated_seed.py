"""--rmsperf-emulated-seed: the first of the schedules by which the emulated device runs threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_schedules_begin_with_the_seed(project: Project) -> None:
    project.script(device="emulated")

    result = project.run("--rmsperf", "--rmsperf-emulated-seed=7", "-k", "numerics")

    result.stdout.fnmatch_lines(["numerics of 4 cases, emulated, *4 schedules, seeds 7 to 10)"])


@pytest.mark.parametrize("value", ["-1", "1.5", "some"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-emulated-seed={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --rmsperf-emulated-seed={value}: must be a whole number of at least 0*"]
    )


def test_seed_beyond_64_bits_is_a_usage_error(project: Project) -> None:
    result = project.run("--rmsperf", f"--rmsperf-emulated-seed={2**64}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: schedules need * seeds from 0 to 2^64 - 1, got seed 1844*"]
    )
