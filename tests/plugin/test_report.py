"""The table at the end of a run, and what other tools can read of it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/scalar-direct/16x1024"


def test_table_is_shown_on_a_green_run(project: Project) -> None:
    project.save()

    result = project.run("--rmsperf")

    result.stdout.fnmatch_lines(
        [
            "*= rmsperf =*",
            "case *host us  device us  copy us  change    verdict  registers  blocks/SM  headroom",
            f"{CASE} *13.00       8.00     7.00  +0.0 %  unchanged         40          4         -",
            "4 of 4 latencies compared (4 unchanged)",
        ]
    )


def test_table_has_a_row_for_every_case(project: Project) -> None:
    result = project.run("--rmsperf", "-q")

    rows = [line for line in result.outlines if line.startswith("scale_rows/")]
    assert len(rows) == 4


def test_failed_case_has_a_row_that_says_at_which_stage(project: Project) -> None:
    project.script(failed={CASE: ("residency", "does not fit")})

    result = project.run("--rmsperf")

    result.stdout.fnmatch_lines([f"{CASE} *failed: residency *"])


def test_line_of_counts_comes_after_the_table(project: Project) -> None:
    result = project.run("--rmsperf", "--tb=no", "-p", "no:warnings")

    places = [
        next(number for number, line in enumerate(result.outlines) if text in line)
        for text in ("host us", "latencies compared")
    ]
    assert places == sorted(places)


def test_run_without_cases_says_that_nothing_was_compared(project: Project) -> None:
    project.write("test_own.py", "import pytest\n@pytest.mark.rmsperf\ndef test_own(): pass\n")

    result = project.run("--rmsperf", "-k", "test_own")

    result.stdout.fnmatch_lines(["0 of 0 latencies compared; 4 more deselected"])


def test_interrupted_run_says_how_many_were_asked_for(project: Project) -> None:
    project.script(interrupted={"session 2": "Ctrl-C"})

    result = project.run("--rmsperf")

    result.stdout.fnmatch_lines(["0 of 4 latencies compared*"])


def test_junit_properties_give_the_case(project: Project) -> None:
    project.run("--rmsperf", "-k", f"residency and {CASE}", "--junitxml=junit.xml")

    properties = ElementTree.parse(project.path / "junit.xml").iter("property")
    assert [one.attrib for one in properties] == [{"name": "rmsperf_case", "value": CASE}]


def test_ids_of_tests_are_case_ids(project: Project) -> None:
    result = project.run("--rmsperf", "-v", "-k", "residency")

    result.stdout.fnmatch_lines([f"test_scale_rows.py::test_residency[[]{CASE}[]] PASSED*"])


def test_progress_is_shown_before_the_first_test(project: Project) -> None:
    result = project.run("--rmsperf", "-k", "residency")

    result.stdout.fnmatch_lines([f"rmsperf: check 1 of 4: {CASE}", "test_scale_rows.py ....*"])


def test_cases_that_wait_for_the_host_are_named(project: Project) -> None:
    project.script(completion_ns={CASE: 17_000})

    result = project.run("--rmsperf")

    result.stdout.fnmatch_lines(
        ["host-bound (device time is less than half of *): 1 case: " + CASE]
    )


def test_figure_near_its_limit_is_said_to_be_near(project: Project) -> None:
    project.save()
    project.script(device_ns={CASE: 8060})

    result = project.check("--rmsperf-policy=unchanged=warn")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"{CASE}: unchanged: within the threshold, near its limit"])
