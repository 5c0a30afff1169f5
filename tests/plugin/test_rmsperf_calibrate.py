"""--rmsperf-calibrate measures many sessions and stores each case's noise with its baseline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def stored(project: Project) -> dict[str, Any]:
    """The stored cases by id."""
    cases: dict[str, Any] = json.loads(project.baseline.read_bytes())["cases"]
    return cases


def test_noise_of_every_case_is_stored(project: Project) -> None:
    project.save()

    result = project.run("--rmsperf-calibrate")

    assert result.ret == pytest.ExitCode.OK
    assert [one["noise"]["sessions"] for one in stored(project).values()] == [12] * 4


def test_nothing_but_the_noise_changes(project: Project) -> None:
    project.save()
    before = stored(project)

    project.run("--rmsperf-calibrate")

    assert {k: {**one, "noise": None} for k, one in stored(project).items()} == before


def test_case_without_a_baseline_fails_as_missing_and_nothing_is_stored(project: Project) -> None:
    result = project.run("--rmsperf-calibrate", "-k", "latency")

    result.assert_outcomes(failed=4, deselected=8)
    assert not project.baseline.exists()


def test_noise_survives_the_next_save(project: Project) -> None:
    project.save()
    project.run("--rmsperf-calibrate")

    project.save()

    assert [one["noise"]["sessions"] for one in stored(project).values()] == [12] * 4


def test_threshold_below_the_noise_is_warned_of(project: Project) -> None:
    project.save()
    times = [8000, 7800, 8200, 7900, 8100, 7850, 8150, 7950, 8050, 8000, 7990, 8010]
    project.script(device_ns={"scale_rows/scalar-graph": times})

    result = project.run("--rmsperf-calibrate")

    result.stdout.fnmatch_lines(
        ["WARNING: threshold 0.8 % of device time lies below the noise floor of * of scale_rows/*"]
    )
