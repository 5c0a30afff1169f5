"""A baseline is kept under its case's id: nothing else of a test reaches the file or its keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

ODD_PARAMETERS = """
from pathlib import Path

import numpy
import pytest
from test_scale_rows import each_case

ODD = [1, "1", numpy.int64(3), numpy.ones(300_000), numpy.float16, Path("/tmp"), b"x", lambda: 0]

@pytest.mark.rmsperf
@each_case
@pytest.mark.parametrize("odd", ODD)
def test_odd_latency(case, odd, rmsperf_latency):
    rmsperf_latency.require()
"""


def stored(project: Project) -> dict[str, object]:
    """The stored cases by id."""
    cases: dict[str, object] = json.loads(project.baseline.read_bytes())["cases"]
    return cases


@pytest.fixture
def odd(project: Project) -> Project:
    """The project with 32 tests more, of the same four cases by eight odd parameters."""
    project.write("test_odd.py", ODD_PARAMETERS)
    return project


def test_parameters_of_a_test_do_not_reach_the_file(odd: Project) -> None:
    odd.run("--rmsperf-save", "-k", "test_latency")
    plain = stored(odd)
    odd.baseline.unlink()

    result = odd.run("--rmsperf-save", "-k", "odd_latency")

    assert result.ret == pytest.ExitCode.OK
    assert stored(odd).keys() == plain.keys()
    assert odd.baseline.stat().st_size < 20_000


def test_all_tests_of_one_case_are_compared_with_the_same_baseline(odd: Project) -> None:
    odd.save()

    result = odd.run("--rmsperf", "-k", "latency")

    result.assert_outcomes(passed=36, deselected=8)
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)"])


def test_case_is_measured_once_however_many_tests_ask_for_it(odd: Project) -> None:
    odd.calls()

    odd.run("--rmsperf", "-k", "latency")

    sessions = [line for line in odd.calls() if line.startswith("session")]
    assert [line.count("scale_rows/scalar-graph") for line in sessions] == [1, 1, 1]


def test_tests_named_by_their_package_find_the_same_baselines(project: Project) -> None:
    project.save()
    project.pytester.syspathinsert()

    result = project.check("--pyargs", "test_scale_rows")

    result.assert_outcomes(passed=4, deselected=8)
