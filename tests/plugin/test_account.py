"""Every latency that was collected is compared, or explicitly waived, or the run is red."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
HEAD = "import pytest\nfrom test_scale_rows import OPERATOR, each_case\n"
TEMPLATE = """
{mark}
@pytest.mark.rmsperf({keywords})
@each_case
def test_own(case, rmsperf_latency):
    {body}
"""


def run_own(
    project: Project,
    body: str = "rmsperf_latency.require()",
    *arguments: str,
    mark: str = "",
    keywords: str = "",
) -> pytest.RunResult:
    """Save, and run a latency test of every case with this body."""
    project.save()
    text = HEAD + TEMPLATE.format(mark=mark, keywords=keywords, body=body)
    project.write("test_own.py", text)
    return project.run("--rmsperf", "test_own.py", *arguments)


def is_red(result: pytest.RunResult, count: int) -> bool:
    """Say whether the run is red for want of so many latencies of four."""
    line = f"failed: {count} of 4 latencies were neither compared nor waived: "
    told = any(one.startswith(line) for one in result.outlines)
    return told and result.ret == pytest.ExitCode.TESTS_FAILED


def test_run_that_compares_everything_is_green(project: Project) -> None:
    assert run_own(project).ret == pytest.ExitCode.OK


def test_skip_mark_on_a_latency_test_is_red(project: Project) -> None:
    assert is_red(run_own(project, mark='@pytest.mark.skip(reason="flaky")'), 4)


def test_skip_inside_a_latency_test_is_red(project: Project) -> None:
    body = "pytest.skip('flaky') if 'vector' in case.id else rmsperf_latency.require()"

    assert is_red(run_own(project, body), 2)


def test_skipped_latency_test_that_is_waived_is_green(project: Project) -> None:
    result = run_own(project, mark='@pytest.mark.skip(reason="flaky")', keywords='waive="flaky"')

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["0 of 4 latencies compared (4 unchanged, 4 waived)"])


def test_expected_failure_is_a_waiver_of_its_author(project: Project) -> None:
    body = "rmsperf_latency.require(); assert 'vector' not in case.id"

    result = run_own(project, body, mark="@pytest.mark.xfail(strict=False)")

    assert result.ret == pytest.ExitCode.OK


def test_exit_in_the_middle_with_code_0_is_red(project: Project) -> None:
    body = "pytest.exit('enough', returncode=0) if 'vector' in case.id else None"

    assert is_red(run_own(project, body), 2)


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        """try:
        rmsperf_latency.require()
    except Exception:
        pass""",
    ],
    ids=["forgets to require", "catches what it raises"],
)
def test_test_is_held_to_its_verdict_though_it_does_not_ask(project: Project, body: str) -> None:
    project.save()
    project.script(device_ns={CASE: 9000})
    project.write("test_own.py", HEAD + TEMPLATE.format(mark="", keywords="", body=body))

    result = project.run("--rmsperf", "test_own.py")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["slower by 12.5 % (device time): *"])


@pytest.mark.parametrize("fixture", ["rmsperf_residency", "rmsperf_numerics", "rmsperf_latency"])
def test_test_is_held_to_what_failed_before_though_it_does_not_ask(
    project: Project, fixture: str
) -> None:
    project.script(failed={CASE: ("residency", "does not fit")})
    text = TEMPLATE.format(mark="", keywords="", body="pass").replace("rmsperf_latency", fixture)
    project.write("test_own.py", HEAD + text)

    result = project.run("--rmsperf", "test_own.py", "-k", CASE)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["does not fit"])


def test_test_that_does_not_ask_is_skipped_where_there_is_nothing_to_hold_it_to(
    project: Project,
) -> None:
    project.script(device=None)
    project.write("test_own.py", HEAD + TEMPLATE.format(mark="", keywords="", body="pass"))

    result = project.run("--rmsperf", "test_own.py")

    result.assert_outcomes(skipped=4)


def test_test_that_fails_by_itself_says_so_and_not_its_verdict(project: Project) -> None:
    text = HEAD + TEMPLATE.format(mark="", keywords="", body="assert False, 'own rule'")
    project.write("test_own.py", text)

    result = project.run("--rmsperf", "test_own.py", "-k", CASE)

    result.stdout.fnmatch_lines(["E*AssertionError: own rule"])
    result.stdout.no_fnmatch_line("missing: no baseline")


def test_keyword_selection_compares_what_it_selects_and_counts_the_rest(project: Project) -> None:
    project.save()

    result = project.run("--rmsperf", "-k", "latency and vector-graph")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["1 of 1 latencies compared (1 unchanged); 3 more deselected"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--deselect", f"test_scale_rows.py::test_latency[{CASE}]"),
        ("-k", f"not (latency and {CASE})"),
    ],
)
def test_deselected_latency_is_counted(project: Project, arguments: tuple[str, ...]) -> None:
    project.save()

    result = project.run("--rmsperf", *arguments)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["3 of 3 latencies compared (3 unchanged); 1 more deselected"])


def test_selection_of_no_latency_test_is_counted_and_green(project: Project) -> None:
    result = project.run("--rmsperf", "-k", "residency")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["0 of 0 latencies compared; 4 more deselected"])


def test_unmarked_tests_are_not_counted_as_deselected(project: Project) -> None:
    project.save()
    project.write("test_others.py", "def test_one(): pass\n")

    result = project.run("--rmsperf")

    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)"])


def test_marker_expression_selects_and_the_rest_is_counted(project: Project) -> None:
    body = "rmsperf_latency.require()"
    project.ini("markers = quick")

    result = run_own(project, body, "test_scale_rows.py", "-m", "quick", mark="@pytest.mark.quick")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged); 4 more deselected"])


def test_last_failed_of_a_red_run_compares_what_it_collects(project: Project) -> None:
    project.save()
    project.script(device_ns={CASE: 8800})
    project.run("--rmsperf")
    project.script()

    result = project.run("--rmsperf", "--lf")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["1 of 1 latencies compared (1 unchanged); --lf leaves out what passed before"]
    )


def test_run_that_stops_at_the_first_failure_is_red_and_says_what_was_compared(
    project: Project,
) -> None:
    project.save()
    project.script(device_ns={"scalar-direct": 8800})

    result = project.check("-x")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (3 unchanged, 1 slower)*"])


def test_run_without_a_device_skips_and_compares_nothing(project: Project) -> None:
    project.save()
    project.script(device=None)

    result = project.check()

    result.assert_outcomes(skipped=4, deselected=8)
    result.stdout.fnmatch_lines(["0 of 4 latencies compared: no CUDA device (none in the script)*"])


def test_instrument_that_breaks_down_is_no_green_run(project: Project) -> None:
    project.save()
    with (project.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write("ScriptedInstrument.measure = None\n")

    result = project.check()

    assert result.ret == pytest.ExitCode.INTERNAL_ERROR


def test_deselected_test_with_a_bad_marker_is_nobodys_concern(project: Project) -> None:
    project.save()
    text = HEAD + TEMPLATE.format(mark="", keywords="treshold=3", body="pass")
    project.write("test_own.py", text)

    result = project.run("--rmsperf", "--deselect", "test_own.py")

    assert result.ret == pytest.ExitCode.OK


def test_run_without_a_terminal_is_as_red_as_one_with_it(project: Project) -> None:
    project.save()
    project.script(device_ns={CASE: 9000})

    codes = [
        project.pytester.runpytest_subprocess("-p", "no:terminal", "--rmsperf", *arguments).ret
        for arguments in (("-k", CASE), ("-k", "scalar-graph"))
    ]

    assert codes == [pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK]
