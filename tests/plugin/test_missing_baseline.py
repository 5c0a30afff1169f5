"""A gate that compares nothing is red, and says what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_missing_baseline_fails_and_names_the_command_that_creates_it(project: Project) -> None:
    result = project.run("--rmsperf", "-k", "latency and scalar-graph")

    result.assert_outcomes(failed=1, deselected=11)
    result.stdout.fnmatch_lines(
        [
            "missing: no baseline",
            "  current    8.00 us *",
            'create it with: pytest --rmsperf-save -k "scale_rows/scalar-graph/16x1024"',
        ]
    )


def test_command_of_the_message_creates_the_baseline(project: Project) -> None:
    project.run("--rmsperf-save", "-k", "scale_rows/scalar-graph/16x1024")

    result = project.run("--rmsperf", "-k", "latency and scalar-graph")

    result.assert_outcomes(passed=1, deselected=11)


def test_only_the_case_without_a_baseline_fails(project: Project) -> None:
    project.save("-k", "latency and vector")

    result = project.check()

    result.assert_outcomes(passed=2, failed=2, deselected=8)


def test_evicted_baselines_turn_the_whole_run_red(project: Project) -> None:
    project.save()
    project.baseline.unlink()

    result = project.check()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["0 of 4 latencies compared (4 missing)"])


def test_baseline_of_another_device_is_named(project: Project) -> None:
    project.save()
    project.script(device="NVIDIA H100 PCIe")

    result = project.check()

    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["missing: no baseline", "*", "  stored     only for nvidia-h200"])


def test_file_that_holds_other_cases_of_this_device_is_not_named(project: Project) -> None:
    project.save("-k", "latency and vector")

    result = project.check()

    result.stdout.fnmatch_lines(["missing: no baseline"])
    result.stdout.no_fnmatch_line("  stored     only for *")


def test_each_device_has_baselines_of_its_own(project: Project) -> None:
    project.save()
    project.script(device="NVIDIA H100 PCIe", device_ns={"scale_rows": 16000})
    project.save()

    result = project.check()

    result.assert_outcomes(passed=4, deselected=8)
