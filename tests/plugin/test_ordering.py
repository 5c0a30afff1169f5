"""An ordering: a test states that one case is faster than another, without any baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

FAST, SLOW = "scale_rows/vector-graph/16x1024", "scale_rows/scalar-graph/16x1024"
STATED = """
import pytest
from pytest_rmsperf import OrderedFigure, Ordering
from test_scale_rows import OPERATOR

CASES = {{case.id: case for case in OPERATOR.cases()}}
ORDERING = Ordering(
    CASES["{fast}"], CASES["{slow}"], ratio=1.25, figure=OrderedFigure.{figure}
)

@pytest.mark.rmsperf
@pytest.mark.parametrize("ordering", [ORDERING])
def test_order(ordering, rmsperf_ordering):
    rmsperf_ordering.require()
"""
WITHOUT_ORDERING = """
import pytest

@pytest.mark.rmsperf
def test_order(rmsperf_ordering):
    rmsperf_ordering.require()
"""


def state(project: Project, figure: str = "COMPLETION") -> None:
    """Let a test state that the vector variant is 1.25 times as fast as the scalar one."""
    text = STATED.format(fast=FAST, slow=SLOW, figure=figure)
    project.write("test_order.py", text)


def check(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run("--rmsperf", "test_order.py", *arguments)


def test_ordering_that_holds_passes_without_a_baseline_and_is_told(project: Project) -> None:
    state(project)
    project.script(completion_ns={SLOW: 20_000, FAST: 10_000})

    result = check(project)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            (
                f"holds: {SLOW} takes 2.00 times the host completion of {FAST}, stated is at least "
                "1.25"
            ),
            "0 of 0 latencies compared",
        ]
    )


def test_violated_ordering_fails_with_the_ratio_of_every_session(project: Project) -> None:
    state(project)
    project.script(completion_ns={SLOW: 12_000, FAST: 10_000})

    result = check(project)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"violated: {SLOW} takes 1.20 times the host completion of {FAST}, stated is *1.25",
            "  sessions   1.20, 1.20, 1.20, 1.20, 1.20, 1.20*",
            "find which of the two changed: pytest --rmsperf-against=HEAD~1 -k *",
        ]
    )


def test_violated_ordering_is_measured_again_with_its_two_cases_alone(project: Project) -> None:
    state(project)
    project.write("test_more.py", "from test_scale_rows import *\n")
    project.save()
    project.script(completion_ns={SLOW: 13_000, FAST: 13_000})
    project.calls()

    project.run("--rmsperf", "test_order.py", "test_scale_rows.py")

    sessions = [line for line in project.calls() if line.startswith("session")]
    cases = [[one for one in line.split() if one.startswith("scale")] for line in sessions]
    assert [len(one) for one in cases[:3]] == [4, 4, 4]
    assert [set(one) for one in cases[3:]] == [{FAST, SLOW}] * len(cases[3:])


def test_ordering_that_only_one_round_denies_passes_and_is_counted_as_doubt(
    project: Project,
) -> None:
    state(project)
    project.script(completion_ns={SLOW: [12_000, 12_000, 12_000, 12_000, 13_000], FAST: 10_000})

    result = check(project)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"*: {SLOW} takes 1.* times the host completion of {FAST}, *"])


def test_doubt_fails_where_the_policy_says_so(project: Project) -> None:
    state(project)
    project.script(
        completion_ns={SLOW: [12_000, 12_000, 12_000, 12_000, 12_000, 13_000], FAST: 10_000}
    )

    result = check(project, "--rmsperf-policy=inconclusive=fail")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"inconclusive: {SLOW} takes 1.20 times *"])


@pytest.mark.parametrize(("slow_ns", "passed"), [(10_100, 1), (9_900, 0)])
def test_ordering_may_be_of_device_time(project: Project, slow_ns: int, passed: int) -> None:
    state(project, "DEVICE")
    project.script(device_ns={SLOW: slow_ns})

    result = check(project)

    result.assert_outcomes(passed=passed, failed=1 - passed)


def test_id_of_the_test_is_the_statement(project: Project) -> None:
    state(project)

    result = check(project, "--collect-only", "-q")

    node = f"test_order.py::test_order[{FAST} < {SLOW} (host completion)]"
    assert node in result.outlines


def test_cases_are_timed_though_no_latency_test_asks_for_them(project: Project) -> None:
    state(project)
    project.script(completion_ns={SLOW: 20_000, FAST: 10_000})

    check(project)

    sessions = [line for line in project.calls() if line.startswith("session")]
    assert [(FAST in line, SLOW in line) for line in sessions] == [(True, True)] * 3


def test_wrong_case_is_not_timed_and_fails_the_ordering_with_its_own_message(
    project: Project,
) -> None:
    state(project)
    project.script(failed={FAST: ("numerics", "wrong: 3 elements")})

    result = check(project)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["wrong: 3 elements"])


def test_ordering_is_skipped_without_a_device(project: Project) -> None:
    state(project)
    project.script(device=None)

    result = check(project, "-rs")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*: not run: no CUDA device (none in the script)"])


def test_ordering_fails_without_a_device_where_one_is_asked_for(project: Project) -> None:
    state(project)
    project.script(device=None)

    check(project, "--rmsperf-require-gpu").assert_outcomes(failed=1)


def test_test_without_an_ordering_is_an_error_that_shows_how_to_give_one(
    project: Project,
) -> None:
    project.write("test_order.py", WITHOUT_ORDERING)

    result = check(project)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*UsageError: *has no ordering; parametrize it: *Ordering(fast, *"]
    )
