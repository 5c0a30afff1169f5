"""Whoever installed the plugin and does not use it must not notice it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

# Fails when one of them is imported; no plugin but this one is loaded beside it.
SUITE = """
import sys

HEAVY = "torch cupy cuda pynvml numpy scipy filelock platformdirs".split()

def test_nothing_heavy_is_imported():
    assert [one for one in HEAVY if one in sys.modules] == []

def test_nothing_of_the_gate_is_imported():
    found = {one for one in sys.modules if one.startswith("pytest_rmsperf")}
    light = "collected errors fixtures hookspecs options plugin telling undistributed".split()
    light += ["judge", "judge.policy"]
    assert found == {"pytest_rmsperf"} | {f"pytest_rmsperf.{one}" for one in light}
"""
ONLY_THIS_PLUGIN = ("-p", "pytest_rmsperf.plugin")


def without_times(lines: list[str]) -> list[str]:
    """Return the output without durations and without the list of installed plugins."""
    kept = [line for line in lines if not line.startswith("plugins:")]
    return [re.sub(r"in \d+\.\d+s", "", line) for line in kept]


def prepare(project: Project) -> None:
    """Leave only unmarked tests, and a conftest that imports nothing."""
    (project.path / "test_scale_rows.py").unlink()
    (project.path / "conftest.py").unlink()
    project.write("test_suite.py", SUITE)


def test_nothing_heavy_is_imported_without_the_option(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(project)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    result = project.pytester.runpytest_subprocess(*ONLY_THIS_PLUGIN)

    result.assert_outcomes(passed=2)


def test_output_is_that_of_a_run_without_the_plugin(project: Project) -> None:
    prepare(project)
    project.write("test_suite.py", "def test_one(): pass\ndef test_two(): assert not 1\n")

    with_plugin = project.run()
    without_plugin = project.run("-p", "no:rmsperf")

    assert without_times(with_plugin.outlines) == without_times(without_plugin.outlines)
    assert with_plugin.errlines == without_plugin.errlines


def test_no_folder_is_left_behind_without_the_option(project: Project) -> None:
    project.run()

    assert not (project.path / ".rmsperf").exists()
