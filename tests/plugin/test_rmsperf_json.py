"""--rmsperf-json writes the run with all samples, beside .rmsperf/run.json that is always there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/scalar-direct/16x1024"


def run_file(project: Project, name: str = ".rmsperf/run.json") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((project.path / name).read_bytes())
    return content


def test_file_holds_every_sample_of_every_session(project: Project) -> None:
    project.run("--rmsperf", "--rmsperf-json=run.json", "--rmsperf-samples=2")

    (sessions,) = run_file(project, "run.json")["rounds"]
    assert [one["timed"]["samples"][CASE]["device_ns"] for one in sessions] == [
        [8001, 8001],
        [8002, 8002],
        [8000, 8000],
    ]


def test_file_holds_the_verdict_of_every_case(project: Project) -> None:
    project.run("--rmsperf", "--rmsperf-json=run.json", "-k", CASE)

    (verdict,) = run_file(project, "run.json")["verdicts"].values()
    assert (verdict["status"], verdict["reason"]) == ("missing", "no baseline")


def test_file_holds_both_rounds_and_what_each_said(project: Project) -> None:
    project.save()
    project.script(device_ns={CASE: 8800})

    project.check()

    content = run_file(project)
    assert [len(one) for one in content["rounds"]] == [3, 3]
    verdict = content["verdicts"][CASE]
    assert (verdict["status"], verdict["confirming_sessions"]) == ("slower", 3)
    assert verdict["device"]["first"] == pytest.approx(0.1, abs=0.01)


def test_file_holds_the_settings_in_force(project: Project) -> None:
    project.run("--rmsperf", "--rmsperf-threshold=2.5")

    settings = run_file(project)["settings"]
    assert settings["thresholds"]["device"]["share"] == 0.025
    assert settings["protocol"]["blocks"] == 15


def test_file_tells_a_verdict_from_what_it_was_compared_with(project: Project) -> None:
    project.save()

    project.check()

    content = run_file(project)
    baseline = content["verdicts"][CASE]["baseline"]
    assert [one["device"]["median_ns"] for one in baseline["sessions"]] == [
        *(8001, 8002, 8000),
        *(8001, 8002, 8000),
    ]
    assert baseline["run"]["provenance"]["commit"] == "1a2b3c4d5e6f"
    assert (content["provenance"]["commit"], content["finished"]) == ("1a2b3c4d5e6f", True)


def test_path_is_relative_to_the_folder_of_the_call(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.path / "scale_rows")

    project.run("--rmsperf", "--rmsperf-json=run.json", "..")

    assert (project.path / "scale_rows" / "run.json").is_file()


def test_run_is_kept_without_the_option_in_a_folder_that_git_ignores(project: Project) -> None:
    project.run("--rmsperf")

    assert run_file(project)["schema_version"] == 3
    assert (project.path / ".rmsperf" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_interrupted_session_leaves_the_sessions_before_it(project: Project) -> None:
    project.script(interrupted={"session 3": "Ctrl-C"})

    project.run("--rmsperf")

    content = run_file(project)
    assert ([len(one) for one in content["rounds"]], content["finished"]) == ([2], False)


def test_interrupted_check_leaves_the_cases_before_it(project: Project) -> None:
    project.script(interrupted={"scale_rows/vector-direct": "Ctrl-C"})

    project.run("--rmsperf")

    assert list(run_file(project)["checked"]) == [CASE, "scale_rows/scalar-graph/16x1024"]


def test_path_that_cannot_be_written_stops_the_run_before_the_first_case(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-json=no/such/folder/run.json")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert project.calls() == ["close"]
    result.stderr.fnmatch_lines(
        ["ERROR: *no/such/folder/run.json.partial: No such file or directory*"]
    )
