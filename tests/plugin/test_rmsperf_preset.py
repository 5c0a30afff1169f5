"""--rmsperf-preset: thresholds and policy by one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"


def check_change(project: Project, device_ns: int, *arguments: str) -> pytest.ExitCode:
    """Save, let one case take so long, and check it."""
    project.save()
    project.script(device_ns={CASE: device_ns})
    return pytest.ExitCode(project.check(*arguments).ret)


@pytest.mark.parametrize(
    ("preset", "device_ns", "code"),
    [
        ("strict", 8062, pytest.ExitCode.TESTS_FAILED),
        ("default", 8062, pytest.ExitCode.OK),
        ("default", 8082, pytest.ExitCode.TESTS_FAILED),
        ("permissive", 8082, pytest.ExitCode.OK),
        ("permissive", 8402, pytest.ExitCode.TESTS_FAILED),
    ],
)
def test_preset_gives_the_threshold(
    project: Project, preset: str, device_ns: int, code: pytest.ExitCode
) -> None:
    assert check_change(project, device_ns, f"--rmsperf-preset={preset}") is code


@pytest.mark.parametrize(
    ("preset", "code"),
    [("strict", pytest.ExitCode.TESTS_FAILED), ("default", pytest.ExitCode.OK)],
)
def test_strict_preset_wants_a_gain_to_be_stored(
    project: Project, preset: str, code: pytest.ExitCode
) -> None:
    assert check_change(project, 7200, f"--rmsperf-preset={preset}") is code


def test_threshold_goes_before_the_preset(project: Project) -> None:
    code = check_change(project, 8082, "--rmsperf-preset=strict", "--rmsperf-threshold=2")

    assert code is pytest.ExitCode.OK


def test_policy_goes_before_the_preset(project: Project) -> None:
    code = check_change(project, 7200, "--rmsperf-preset=strict", "--rmsperf-policy=faster=pass")

    assert code is pytest.ExitCode.OK


def test_permissive_preset_warns_of_what_was_compared_with_nothing(project: Project) -> None:
    project.save("-k", "latency and scalar")

    result = project.check("--rmsperf-preset=permissive")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"{CASE}: missing: no baseline"])


def test_bad_value_is_a_usage_error_with_the_known_ones(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-preset=loose")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --rmsperf-preset=loose: must be one of default, strict, permissive*"]
    )
