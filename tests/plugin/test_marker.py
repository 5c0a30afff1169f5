"""The marker's keywords: thresholds of a case of its own, or why its latency may be anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
OWN = """
import pytest
from test_scale_rows import OPERATOR

CASES = [one for one in OPERATOR.cases() if one.id == "{case}"]

@pytest.mark.rmsperf({keywords})
@pytest.mark.parametrize("case", CASES)
def test_own(case, rmsperf_latency):
    rmsperf_latency.require()
"""


def write_own(project: Project, keywords: str, name: str = "test_own.py") -> None:
    """Write a latency test of one case whose marker has these keywords."""
    project.write(name, OWN.format(case=CASE, keywords=keywords))


def check_own(project: Project, *arguments: str) -> pytest.RunResult:
    return project.run("--rmsperf", "test_own.py", *arguments)


@pytest.fixture
def slower(project: Project) -> Project:
    """The project, saved, before one case got 10 % slower in device time."""
    project.save()
    project.script(device_ns={CASE: 8800})
    return project


@pytest.mark.parametrize(
    ("keywords", "passed"),
    [("threshold=9.9", 0), ("threshold=10.1", 1), ("floor=0.79", 0), ("floor=0.81", 1)],
)
def test_marker_gives_the_limit_of_its_case(slower: Project, keywords: str, passed: int) -> None:
    write_own(slower, keywords)

    check_own(slower).assert_outcomes(passed=passed, failed=1 - passed)


@pytest.mark.parametrize(("percent", "passed"), [(49, 0), (51, 1)])
def test_marker_gives_the_limit_of_host_completion(
    project: Project, percent: int, passed: int
) -> None:
    project.save()
    project.script(completion_ns={CASE: 19_500})
    write_own(project, f"completion_threshold={percent}")

    check_own(project).assert_outcomes(passed=passed, failed=1 - passed)


def test_marker_goes_before_command_line_and_ini_key(slower: Project) -> None:
    slower.ini("rmsperf_threshold = 2")
    write_own(slower, "threshold=11")

    check_own(slower, "--rmsperf-threshold=3").assert_outcomes(passed=1)


def test_other_keywords_than_those_of_the_marker_stay_in_force(slower: Project) -> None:
    write_own(slower, "completion_threshold=90")

    check_own(slower, "--rmsperf-threshold=11").assert_outcomes(passed=1)


def test_marker_of_the_test_goes_before_the_one_of_its_module(slower: Project) -> None:
    write_own(slower, "threshold=11")
    with (slower.path / "test_own.py").open("a", encoding="utf-8") as file:
        file.write("pytestmark = pytest.mark.rmsperf(threshold=1, floor=0.01)\n")

    check_own(slower).assert_outcomes(passed=1)


def test_waived_case_passes_and_is_counted_and_listed(slower: Project) -> None:
    write_own(slower, 'waive="until the new driver"')

    result = check_own(slower)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            f"{CASE} *+10.0 % *slower*",
            f"waived: {CASE}: until the new driver",
            "0 of 1 latencies compared (1 slower, 1 waived)",
        ]
    )


def test_waived_case_whose_numerics_are_wrong_still_fails(project: Project) -> None:
    project.script(failed={CASE: ("numerics", "wrong: 3 elements")})
    write_own(project, 'waive="until the new driver"')

    check_own(project).assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ("threshold=0", "threshold=0 of the marker rmsperf must be a percentage above 0"),
        ('floor="1"', "floor='1' of the marker rmsperf must be a time in microseconds above 0"),
        ("waive=True", "waive=True of the marker rmsperf must be a reason*"),
        ("treshold=3", "treshold=3 of the marker rmsperf must be known *waive"),
    ],
)
def test_bad_keyword_is_a_usage_error_that_names_the_test(
    project: Project, keywords: str, told: str
) -> None:
    write_own(project, keywords)

    result = check_own(project)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: test_own.py::test_own*: {told}; correct @pytest.mark.*"])


def test_positional_argument_of_the_marker_is_a_usage_error(project: Project) -> None:
    write_own(project, '"a reason"')

    result = check_own(project)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: test_own.py::test_own*keyword*"])


def test_two_tests_of_one_case_that_disagree_are_a_usage_error(project: Project) -> None:
    write_own(project, "threshold=3")
    write_own(project, "threshold=4", "test_too.py")

    result = project.run("--rmsperf", "test_own.py", "test_too.py")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: test_too.py::* and test_own.py::* give {CASE} different settings by their *"]
    )
