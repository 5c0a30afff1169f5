"""--rmsperf-cooldown: idle time before each block, which is part of the protocol."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def stored_cooldowns_ms(project: Project) -> set[int]:
    """Return what the baseline file says of the protocol of its runs."""
    runs = json.loads(project.baseline.read_bytes())["runs"]
    return {one["protocol"]["cooldown_ms"] for one in runs.values()}


@pytest.mark.parametrize(
    ("arguments", "cooldown_ms"), [((), 0), (("--rmsperf-cooldown=0.25",), 250)]
)
def test_cooldown_is_stored_with_the_baseline(
    project: Project, arguments: tuple[str, ...], cooldown_ms: int
) -> None:
    project.save(*arguments)

    assert stored_cooldowns_ms(project) == {cooldown_ms}


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_cooldown = 2")

    project.run("--rmsperf-save", "--rmsperf-cooldown=0.5")

    assert stored_cooldowns_ms(project) == {500}


def test_ini_key_gives_the_cooldown(project: Project) -> None:
    project.ini("rmsperf_cooldown = 2")

    project.run("--rmsperf-save")

    assert stored_cooldowns_ms(project) == {2000}


def test_other_cooldown_than_the_baselines_is_incomparable(project: Project) -> None:
    project.save()

    result = project.check("--rmsperf-cooldown=0.5")

    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["incomparable: other protocol: cooldown_ms 0 -> 500"])


@pytest.mark.parametrize("value", ["-1", "3600", "nan", "1s"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-cooldown={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-cooldown={value}: *"])
