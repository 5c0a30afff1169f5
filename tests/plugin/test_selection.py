"""pytest's own selection decides what is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

BROKEN = "import no_such_module\n"
TWO_OPERATORS_WORTH = """
import pytest
from pytest_rmsperf import Problem
from test_scale_rows import OPERATOR

problems = (Problem.of(rows=16, columns=1024), Problem.of(rows=116, columns=1024))

@pytest.mark.rmsperf
@pytest.mark.parametrize("case", OPERATOR.cases(problems=problems))
def test_sizes(case, rmsperf_latency):
    rmsperf_latency.require()
"""


def checked_cases(project: Project) -> list[str]:
    """Return the short ids of the cases that the instrument was asked to check."""
    checks = [line for line in project.calls() if line.startswith("check")]
    return [line.split("/")[1] for line in checks]


def test_keyword_selects_the_cases_that_are_measured(project: Project) -> None:
    project.run("--rmsperf", "-k", "vector and latency")

    assert checked_cases(project) == ["vector-direct", "vector-graph"]


def test_case_id_selects_its_own_case_only(project: Project) -> None:
    project.write("test_sizes.py", TWO_OPERATORS_WORTH)

    result = project.run(
        "--rmsperf",
        "--collect-only",
        "-q",
        "test_sizes.py",
        "-k",
        "scale_rows/vector-graph/16x1024",
    )

    assert [line for line in result.outlines if "::" in line] == [
        "test_sizes.py::test_sizes[scale_rows/vector-graph/16x1024]"
    ]


def test_node_id_selects_one_case(project: Project) -> None:
    project.run("--rmsperf", "test_scale_rows.py::test_numerics[scale_rows/vector-graph/16x1024]")

    assert checked_cases(project) == ["vector-graph"]


@pytest.mark.parametrize(("expression", "passed"), [("rmsperf", 4), ("not rmsperf", 0)])
def test_marker_expression_selects(project: Project, expression: str, passed: int) -> None:
    result = project.run("--rmsperf", "-m", expression, "-k", "residency")

    result.assert_outcomes(passed=passed, deselected=12 - passed)


def test_marker_expression_alone_does_not_switch_the_gate_on(project: Project) -> None:
    result = project.run("-m", "rmsperf")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert project.calls() == []


def test_last_failed_measures_the_failed_cases_again_and_no_others(project: Project) -> None:
    project.save()
    project.script(device_ns={"vector-graph": 8800})
    project.run("--rmsperf")
    project.calls()

    result = project.run("--rmsperf", "--lf")

    result.assert_outcomes(failed=1, deselected=result.parseoutcomes().get("deselected", 0))
    assert checked_cases(project) == ["vector-graph"]


def test_collect_only_lists_the_tests_and_measures_nothing(project: Project) -> None:
    result = project.run("--rmsperf", "--collect-only", "-q")

    result.stdout.fnmatch_lines(
        ["test_scale_rows.py::test_latency[[]scale_rows/vector-graph/16x1024[]]"]
    )
    assert project.calls() == ["close"]


def test_collect_only_does_not_look_at_the_machine(project: Project) -> None:
    result = project.run("--rmsperf", "--collect-only")

    result.stdout.no_fnmatch_line("rmsperf device: *")


def test_collection_error_stops_the_run_before_anything_is_measured(project: Project) -> None:
    project.write("test_broken.py", BROKEN)

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert project.calls() == ["close"]


def test_gate_measures_on_when_collection_errors_are_waived(project: Project) -> None:
    project.save()
    project.write("test_broken.py", BROKEN)

    result = project.run("--rmsperf", "--continue-on-collection-errors")

    result.assert_outcomes(passed=12, errors=1)
