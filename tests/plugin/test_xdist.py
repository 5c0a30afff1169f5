"""Under pytest-xdist the gate refuses, and nobody else notices the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

pytest.importorskip("xdist")

OTHERS = "def test_one(): pass\ndef test_two(): pass\n"


@pytest.mark.parametrize("arguments", [("-n2",), ("--dist=each", "--tx=2*popen")])
def test_gate_under_xdist_is_a_usage_error_with_the_remedy(
    project: Project, arguments: tuple[str, ...]
) -> None:
    # A gate that lets xdist begin sees its workers die and be replaced for ever.
    result = project.pytester.runpytest_subprocess("--rmsperf", *arguments, timeout=60)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the gate measures in worker processes of its own and *: pytest --rmsperf -n0"]
    )


def test_gate_under_xdist_measures_nothing(project: Project) -> None:
    project.run("--rmsperf", "-n2")

    assert project.calls() == []


def test_gate_runs_with_xdist_switched_off(project: Project) -> None:
    result = project.run("--rmsperf", "-n0", "-k", "residency")

    result.assert_outcomes(passed=4, deselected=8)


def test_other_tests_run_under_xdist_and_the_plugin_is_silent(project: Project) -> None:
    project.write("test_others.py", OTHERS)

    result = project.run("-n2", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=2)
    body = [line for line in result.outlines if not line.startswith(("plugins:", "rootdir:"))]
    assert "rmsperf" not in "\n".join([*body, *result.errlines])
