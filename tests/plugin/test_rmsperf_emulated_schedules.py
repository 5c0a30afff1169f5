"""--rmsperf-emulated-schedules: by how many schedules the emulated device runs each case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_there_are_as_many_schedules_as_asked_for(project: Project) -> None:
    project.script(device="emulated")

    result = project.run("--rmsperf", "--rmsperf-emulated-schedules=1", "-k", "numerics")

    result.stdout.fnmatch_lines(["numerics of 4 cases, emulated, *1 schedule, seed 0)"])


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-emulated-schedules={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --rmsperf-emulated-schedules={value}: must be a whole number of at least 1*"]
    )
