"""--rmsperf-device: which device may do the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_auto_takes_the_device_that_is_there(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-device=auto", "-k", "numerics")

    result.assert_outcomes(passed=4, deselected=8)


@pytest.mark.parametrize("value", ["gpu", "CUDA", "0"])
def test_bad_value_is_a_usage_error_with_the_known_ones(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-device={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-device={value}: must be one of auto, cuda*"])


def test_ini_key_that_is_no_truth_value_is_a_usage_error(project: Project) -> None:
    project.ini("rmsperf_require_gpu = maybe")

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: ini key rmsperf_require_gpu=maybe: must be true or false*"]
    )
