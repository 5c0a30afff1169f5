"""--rmsperf-floor: the smallest change of device time that counts, in microseconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


@pytest.mark.parametrize(("microseconds", "passed"), [("0.79", 0), ("0.81", 4)])
def test_change_below_the_floor_passes_whatever_its_share(
    project: Project, microseconds: str, passed: int
) -> None:
    project.save()
    project.script(device_ns={"scale_rows": 8800})

    result = project.check(f"--rmsperf-floor={microseconds}")

    result.assert_outcomes(passed=passed, failed=4 - passed, deselected=8)


@pytest.mark.parametrize(("device_ns", "passed"), [(1049, 4), (1052, 0)])
def test_default_floor_keeps_a_short_kernel_from_failing_by_its_jitter(
    project: Project, device_ns: int, passed: int
) -> None:
    project.script(device_ns={"scale_rows": 1000, "probe": 500})
    project.save()
    project.script(device_ns={"scale_rows": device_ns, "probe": 500})

    result = project.check()

    result.assert_outcomes(passed=passed, failed=4 - passed, deselected=8)


@pytest.mark.parametrize("value", ["0", "-1", "nan", "50ns"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-floor={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-floor={value}: *"])
