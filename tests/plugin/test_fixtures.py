"""The fixtures as a test author meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

HEAD = "import pytest\nfrom test_scale_rows import OPERATOR, each_case\n"

ABSOLUTE_LIMIT = """
@pytest.mark.rmsperf
@each_case
def test_own(case, rmsperf_latency):
    assert rmsperf_latency.require().current.completion_ns < 20_000
"""
LAUNCH = """
@pytest.mark.rmsperf
@each_case
def test_own(case, rmsperf_launch):
    import numpy

    x = numpy.full((16, 1024), 3, numpy.float32)
    assert (rmsperf_launch(case, {"x": x}).require()["y"] == 6).all()
"""
LAUNCH_ON_ANOTHER_PROBLEM = """
@pytest.mark.rmsperf
@each_case
def test_own(case, rmsperf_launch):
    import numpy

    problem = case.problem.resized(rows=1)
    x = numpy.ones((1, 1024), numpy.float32)
    assert rmsperf_launch(case, {"x": x}, problem=problem).require()["y"].shape == (1, 1024)
"""
DEVICE = """
@pytest.mark.rmsperf
def test_own(rmsperf_device):
    assert rmsperf_device.require().identity.sms == 132
"""
WITHOUT_CASE = """
@pytest.mark.rmsperf
def test_own(rmsperf_latency):
    rmsperf_latency.require()
"""
UNMARKED = """
@each_case
def test_own(case, rmsperf_latency):
    rmsperf_latency.require()
"""
EVERYTHING = """
@pytest.mark.rmsperf
@each_case
def test_own(case, rmsperf_report):
    assert rmsperf_report.checked.plan.launches[0].blocks == 16
"""


def run_own(project: Project, text: str, *arguments: str) -> dict[str, int]:
    """Run the test in `text` and return the outcomes without the deselected."""
    project.write("test_own.py", HEAD + text)
    outcomes = project.run("--rmsperf", "-k", "test_own", *arguments).parseoutcomes()
    return {name: count for name, count in outcomes.items() if name != "deselected"}


def test_assertion_of_the_users_own_on_a_figure_passes(project: Project) -> None:
    project.save()

    assert run_own(project, ABSOLUTE_LIMIT) == {"passed": 4}


def test_assertion_of_the_users_own_on_a_figure_fails(project: Project) -> None:
    project.script(completion_ns={"scale_rows": 20_000})
    project.save()

    assert run_own(project, ABSOLUTE_LIMIT) == {"failed": 4}


def test_launch_gives_the_outputs_of_inputs_of_the_users_own(project: Project) -> None:
    assert run_own(project, LAUNCH) == {"passed": 4}


def test_launch_takes_another_problem_than_the_cases(project: Project) -> None:
    assert run_own(project, LAUNCH_ON_ANOTHER_PROBLEM) == {"passed": 4}


def test_launch_is_skipped_without_a_device(project: Project) -> None:
    project.script(device=None)

    assert run_own(project, LAUNCH) == {"skipped": 4}


def test_device_gives_the_facts_of_the_device(project: Project) -> None:
    assert run_own(project, DEVICE) == {"passed": 1}


def test_device_is_skipped_without_one(project: Project) -> None:
    project.script(device=None)

    assert run_own(project, DEVICE) == {"skipped": 1}


def test_device_fails_where_a_gpu_is_required(project: Project) -> None:
    project.script(device=None)

    assert run_own(project, DEVICE, "--rmsperf-require-gpu") == {"failed": 1}


def test_report_holds_the_launch_plan(project: Project) -> None:
    assert run_own(project, EVERYTHING) == {"passed": 4}


def test_test_without_a_case_is_an_error_that_shows_how_to_give_one(project: Project) -> None:
    project.write("test_own.py", HEAD + WITHOUT_CASE)

    result = project.run("--rmsperf", "-k", "test_own")

    result.assert_outcomes(errors=1, deselected=12)
    result.stdout.fnmatch_lines(
        ['*UsageError: test_own.py::test_own asks *has no case; *("case", OPERATOR.cases())']
    )


def test_unmarked_test_is_an_error_that_names_the_marker(project: Project) -> None:
    project.write("test_own.py", HEAD + UNMARKED)

    result = project.run("-k", "test_own")

    result.assert_outcomes(errors=4, deselected=12)
    result.stdout.fnmatch_lines(
        ["*UsageError: test_own.py::test_own[[]*[]] uses a fixture *; mark it and run: *--rmsperf"]
    )


def test_fixtures_are_listed_with_what_they_are(project: Project) -> None:
    result = project.run("--fixtures", "-p", "no:benchmark")

    result.stdout.fnmatch_lines(
        ["rmsperf_latency -- *", "    The verdict on the case's latency; *"]
    )


DYNAMIC = """
@pytest.mark.rmsperf
@each_case
def test_own(case, request):
    request.getfixturevalue("rmsperf_latency").require()
"""


def test_latency_that_nobody_was_told_to_measure_fails_and_names_the_remedy(
    project: Project,
) -> None:
    project.write("test_own.py", HEAD + DYNAMIC)

    result = project.run("--rmsperf", "test_own.py")

    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        ["not measured: no test of * has rmsperf_latency among its arguments, *"]
    )
