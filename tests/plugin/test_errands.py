"""Work in place of the tests: nothing is collected or measured, and its result is the exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

RENAME = "--rmsperf-rename=scale_rows/vector=scale_rows/wide"
SELFTEST = """
import pytest_rmsperf.errands

pytest_rmsperf.errands.selftest = lambda *_: (["one row of a table"], {well})
"""


def test_rename_renames_and_runs_no_test(project: Project) -> None:
    project.save()
    project.calls()

    result = project.run(RENAME)

    assert result.ret == pytest.ExitCode.OK
    assert project.calls() == ["close"]
    names = [one.split("/")[1] for one in json.loads(project.baseline.read_bytes())["cases"]]
    assert [one for one in names if one.startswith(("vector", "wide"))] == [
        "wide-direct",
        "wide-graph",
    ]


def test_rename_tells_what_it_did(project: Project) -> None:
    project.save()

    result = project.run(RENAME)

    result.stdout.fnmatch_lines(
        ["*= rmsperf rename =*", "renamed: scale_rows/vector-direct/* in *"]
    )


def test_rename_of_what_is_stored_nowhere_is_a_usage_error(project: Project) -> None:
    result = project.run(RENAME)

    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("well", "code"), [(True, pytest.ExitCode.OK), (False, pytest.ExitCode.TESTS_FAILED)]
)
def test_selftest_is_as_red_as_its_table(
    project: Project, code: pytest.ExitCode, *, well: bool
) -> None:
    with (project.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(SELFTEST.format(well=well))

    result = project.run("--rmsperf-selftest")

    assert result.ret == code
    result.stdout.fnmatch_lines(["*= rmsperf selftest =*", "one row of a table"])
    result.assert_outcomes()


@pytest.mark.parametrize(
    "options",
    [
        (RENAME, "--rmsperf-selftest"),
        (RENAME, "--rmsperf-save"),
        (RENAME, "--rmsperf-against=HEAD"),
        (RENAME, "--collect-only"),
        ("--rmsperf-selftest", "--rmsperf-calibrate"),
        ("--rmsperf-selftest", "--rmsperf-against=HEAD"),
        ("--rmsperf-selftest", "--collect-only"),
        ("--rmsperf-save", "--rmsperf-calibrate"),
    ],
    ids=" ".join,
)
def test_run_is_for_one_thing_and_does_nothing_where_two_are_asked_for(
    project: Project, options: tuple[str, str]
) -> None:
    before = project.save()
    project.calls()

    result = project.run(*options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    first, second = (one.partition("=")[0] for one in options)
    result.stderr.fnmatch_lines([f"ERROR: {first} contradicts {second}: *"])
    assert (project.baseline.read_bytes(), project.calls()) == (before, [])
