"""--rmsperf-accept-dirty: with --rmsperf-save, figures of code that no commit holds are stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from git_checkout import Checkout, forget_the_callers_git

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

SOURCE = "scale_rows/scalar.cu"


@pytest.fixture
def committed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project in a repository that holds all of it."""
    forget_the_callers_git(monkeypatch, project.path.parent)
    Checkout.new(project.path).commit(**{".gitignore": ".rmsperf\n__pycache__\ncalls.txt\ncache\n"})
    return project


@pytest.fixture
def dirty(committed: Project) -> Project:
    """The same with a change that is not committed."""
    with (committed.path / SOURCE).open("a", encoding="utf-8") as source:
        source.write("// a change\n")
    return committed


def test_committed_work_is_saved(committed: Project) -> None:
    result = committed.run("--rmsperf-save")

    assert (result.ret, committed.baseline.exists()) == (pytest.ExitCode.OK, True)


def test_uncommitted_work_is_not_saved_and_the_option_is_named(dirty: Project) -> None:
    result = dirty.run("--rmsperf-save")

    assert (result.ret, dirty.baseline.exists()) == (pytest.ExitCode.TESTS_FAILED, False)
    result.stdout.fnmatch_lines(
        [
            "NOT SAVED: there are uncommitted changes, so no commit names the code that was *",
            "*pytest --rmsperf-save --rmsperf-accept-dirty",
        ],
        consecutive=True,
    )


def test_uncommitted_work_is_saved_with_the_option_and_stored_as_such(dirty: Project) -> None:
    result = dirty.run("--rmsperf-save", "--rmsperf-accept-dirty")

    runs = json.loads(dirty.baseline.read_bytes())["runs"].values()
    assert (result.ret, [one["provenance"]["dirty"] for one in runs]) == (
        pytest.ExitCode.OK,
        [True],
    )


def test_ini_key_accepts_uncommitted_work(dirty: Project) -> None:
    dirty.ini("rmsperf_accept_dirty = yes")

    dirty.run("--rmsperf-save")

    assert dirty.baseline.exists()


def test_uncommitted_work_is_checked_without_the_option(dirty: Project) -> None:
    dirty.run("--rmsperf-save", "--rmsperf-accept-dirty")

    result = dirty.check()

    result.assert_outcomes(passed=4, deselected=8)


def test_bad_ini_value_is_a_usage_error_with_key_and_value(project: Project) -> None:
    project.ini("rmsperf_accept_dirty = perhaps")

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: ini key rmsperf_accept_dirty=perhaps: must be true or false *"]
    )
