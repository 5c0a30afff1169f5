"""--rmsperf-baselines names the folder; without it, it is `baselines` below the root."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

STORED = Path("nvidia-h200", "scale_rows.json")


def test_relative_folder_is_below_the_root(project: Project) -> None:
    project.run("--rmsperf-save", "--rmsperf-baselines=stored/here")

    assert (project.path / "stored" / "here" / STORED).is_file()


def test_absolute_folder_is_taken_as_it_is(project: Project, tmp_path: Path) -> None:
    project.run("--rmsperf-save", f"--rmsperf-baselines={tmp_path / 'outside'}")

    assert (tmp_path / "outside" / STORED).is_file()


def test_ini_key_names_the_folder(project: Project) -> None:
    project.ini("rmsperf_baselines = from-ini")

    project.run("--rmsperf-save")

    assert (project.path / "from-ini" / STORED).is_file()


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_baselines = from-ini")

    project.run("--rmsperf-save", "--rmsperf-baselines=given")

    assert [(project.path / one).exists() for one in ("given", "from-ini")] == [True, False]


def test_check_in_another_folder_misses_the_baselines(project: Project) -> None:
    project.save()

    result = project.check("--rmsperf-baselines=empty")

    result.assert_outcomes(failed=4, deselected=8)


@pytest.mark.parametrize("value", ["", " "])
def test_empty_value_is_a_usage_error(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-baselines={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rmsperf-baselines is empty; give a value or *"])


def test_empty_ini_key_is_a_usage_error(project: Project) -> None:
    project.ini("rmsperf_baselines =")

    result = project.run("--rmsperf")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: ini key rmsperf_baselines is empty; give a value or *"])


def test_file_in_place_of_the_folder_is_a_usage_error(project: Project) -> None:
    project.write("baselines", "")

    result = project.run("--rmsperf-save")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rmsperf-baselines=baselines is a file; name a folder"])


def test_run_from_a_sub_folder_finds_the_same_baselines(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.save()
    monkeypatch.chdir(project.path / "scale_rows")

    result = project.check("..")

    result.assert_outcomes(passed=4, deselected=8)


def test_other_rootdir_keeps_the_keys(project: Project, tmp_path: Path) -> None:
    stored = f"--rmsperf-baselines={project.path / 'baselines'}"
    project.save()
    script = (project.path / "script.json").read_text(encoding="utf-8")
    root = project.path / "scale_rows"
    (root / "script.json").write_text(script, encoding="utf-8")

    result = project.check(f"--rootdir={root}", str(project.path), stored)

    result.assert_outcomes(passed=4, deselected=8)


def test_published_figures_fail_as_incomparable(project: Project) -> None:
    text = project.save().decode()
    published = text.replace('"source": "measured"', '"source": "published"')
    project.baseline.write_text(published, encoding="utf-8")

    result = project.check()

    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["incomparable: the baseline's figures are published*"])
