"""--rmsperf-require-gpu: what was not run for want of a GPU fails instead of being skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

ASKED_FOR = ("--rmsperf-require-gpu", "--rmsperf-device=cuda")
ASKS_NOTHING = """
import pytest
from test_scale_rows import each_case

@pytest.mark.rmsperf
@each_case
def test_forgot_to_require(case, rmsperf_latency):
    pass
"""


@pytest.fixture
def without_gpu(project: Project) -> Project:
    project.script(device=None)
    return project


def test_no_device_skips_what_needs_one_and_counts_it(without_gpu: Project) -> None:
    result = without_gpu.run("--rmsperf")

    result.assert_outcomes(passed=4, skipped=8)
    assert result.ret == pytest.ExitCode.OK


def test_no_device_is_said_in_the_last_lines(without_gpu: Project) -> None:
    result = without_gpu.run("--rmsperf")

    line = "0 of 4 latencies compared: no CUDA device (none in the script)"
    assert line in result.outlines[-5:]


def test_no_device_is_said_in_the_header(without_gpu: Project) -> None:
    result = without_gpu.run("--rmsperf")

    result.stdout.fnmatch_lines(
        ["rmsperf device: NONE: none in the script. Nothing will be launched or timed; *sm_90"]
    )


def test_skip_gives_its_reason(without_gpu: Project) -> None:
    result = without_gpu.run("--rmsperf", "-rs")

    result.stdout.fnmatch_lines(["SKIPPED [[]8[]] *: not run: no CUDA device (none in the script)"])


@pytest.mark.parametrize("option", ASKED_FOR)
def test_no_device_fails_where_one_was_asked_for(without_gpu: Project, option: str) -> None:
    result = without_gpu.run("--rmsperf", option)

    result.assert_outcomes(passed=4, failed=8)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_failure_gives_the_reason_and_who_asked(without_gpu: Project) -> None:
    result = without_gpu.run("--rmsperf", "--rmsperf-require-gpu")

    result.stdout.fnmatch_lines(
        ["not run: no CUDA device (none in the script), and --rmsperf-require-gpu asks for one; *"]
    )


def test_ini_key_asks_for_a_device_too(without_gpu: Project) -> None:
    without_gpu.ini("rmsperf_require_gpu = true")

    result = without_gpu.run("--rmsperf")

    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("option", ASKED_FOR)
def test_device_that_is_there_satisfies_who_asks(project: Project, option: str) -> None:
    project.save()

    result = project.run("--rmsperf", option)

    result.assert_outcomes(passed=12)


@pytest.mark.parametrize("option", ASKED_FOR)
def test_no_device_fails_even_where_no_test_requires_anything(
    without_gpu: Project, option: str
) -> None:
    without_gpu.write("test_own.py", ASKS_NOTHING)

    result = without_gpu.run("--rmsperf", option, "-k", "forgot")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
