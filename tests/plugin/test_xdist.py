"""Under pytest-xdist the gate measures by itself, and nobody else notices the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

pytest.importorskip("xdist")

OTHERS = "def test_one(): pass\ndef test_two(): pass\n"
ASKED = [("-n2",), ("-n", "auto"), ("--dist=loadfile", "-n2"), ("--dist=each", "--tx=2*popen")]


@pytest.mark.parametrize("arguments", ASKED)
def test_gate_under_xdist_compares_every_case(project: Project, arguments: tuple[str, ...]) -> None:
    project.save()

    # In a process of its own, because a gate that lets xdist begin may never come back.
    result = project.pytester.runpytest_subprocess("--rmsperf", *arguments, timeout=120)

    result.assert_outcomes(passed=12)
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)"])


def test_gate_under_xdist_launches_as_often_as_without(project: Project) -> None:
    counts = []

    for arguments in ((), ("-n2",)):
        project.run("--rmsperf", *arguments)
        counts.append(project.calls())

    assert counts[0] == counts[1]
    assert sum(line.startswith("session") for line in counts[0]) == 3


def test_slower_case_fails_under_xdist_too(project: Project) -> None:
    project.save()
    project.script(device_ns={"vector-graph": 8800})

    result = project.run("--rmsperf", "-n2")

    result.assert_outcomes(passed=11, failed=1)


def test_header_says_what_is_set_aside_in_one_line(project: Project) -> None:
    result = project.run("--rmsperf", "-n2", "-k", "residency")

    assert [line for line in result.outlines if "set aside" in line] == [
        "rmsperf: -n 2 is set aside: the gate measures in worker processes of its own"
    ]


@pytest.mark.parametrize("arguments", [(), ("-n0",), ("--dist=no",)])
def test_nothing_is_set_aside_where_xdist_was_not_asked_for(
    project: Project, arguments: tuple[str, ...]
) -> None:
    result = project.run("--rmsperf", *arguments, "-k", "residency")

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.no_fnmatch_line("*set aside*")


def test_other_tests_run_under_xdist_and_the_plugin_is_silent(project: Project) -> None:
    project.write("test_others.py", OTHERS)

    result = project.run("-n2", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=2)
    body = [line for line in result.outlines if not line.startswith(("plugins:", "rootdir:"))]
    assert "rmsperf" not in "\n".join([*body, *result.errlines])
