"""A case that fails before or while it is timed costs its own tests and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-direct/16x1024"
OVERRUN = "lost: scale_rows/vector-direct/16x1024 in step 'time': no sign of life for 30 s"


@pytest.mark.parametrize(
    ("stage", "failed"),
    [("compile", 3), ("plan", 3), ("residency", 3), ("numerics", 2)],
)
def test_failed_stage_fails_the_tests_from_there_on(
    project: Project, stage: str, failed: int
) -> None:
    project.save()
    project.script(failed={CASE: (stage, "does not work: for a reason")})

    result = project.run("--rmsperf")

    result.assert_outcomes(passed=12 - failed, failed=failed)
    result.stdout.fnmatch_lines(["does not work: for a reason"])


def test_case_lost_in_a_session_fails_its_latency_alone(project: Project) -> None:
    project.save()
    project.script(lost={CASE: OVERRUN})

    result = project.run("--rmsperf")

    result.assert_outcomes(passed=11, failed=1)
    result.stdout.fnmatch_lines([OVERRUN])


def test_case_lost_in_a_session_is_left_out_of_the_next(project: Project) -> None:
    project.script(lost={CASE: OVERRUN})

    project.run("--rmsperf")

    sessions = [line for line in project.calls() if line.startswith("session")]
    assert [CASE in line for line in sessions] == [True, False, False]


def test_failed_case_is_not_timed(project: Project) -> None:
    project.script(failed={CASE: ("numerics", "wrong: 3 elements")})

    project.run("--rmsperf")

    assert not [line for line in project.calls() if line.startswith("session") and CASE in line]


def test_nothing_is_timed_when_every_case_failed(project: Project) -> None:
    project.script(failed={"scale_rows": ("compile", "does not compile: a.cu for sm_90")})

    project.run("--rmsperf")

    assert [line for line in project.calls() if line.startswith("session")] == []


def test_failed_case_is_not_counted_as_compared(project: Project) -> None:
    project.save()
    project.script(failed={CASE: ("numerics", "wrong: 3 elements")})

    result = project.check()

    result.stdout.fnmatch_lines(["3 of 4 latencies compared (3 unchanged, 1 failed before)"])


def test_answer_kept_from_an_earlier_launch_fails(project: Project) -> None:
    project.save()
    message = f"wrong after timing: {CASE} no longer gives the bits of its first launch"
    project.script(lost={CASE: message})

    result = project.check()

    result.assert_outcomes(passed=3, failed=1, deselected=8)
    result.stdout.fnmatch_lines([message])


def test_kernel_that_is_faster_than_no_kernel_is_invalid(project: Project) -> None:
    project.save()
    project.script(device_ns={CASE: 400})

    result = project.check()

    result.assert_outcomes(passed=3, failed=1, deselected=8)
    result.stdout.fnmatch_lines(["invalid: implausibly fast: *is the work on another stream?"])


def test_source_that_does_not_compile_fails_its_variant_alone(project: Project) -> None:
    (project.path / "script.json").unlink()  # so that a real worker does the work
    source = project.path / "scale_rows" / "vector.cu"
    source.write_text('extern "C" __global__ void scale_rows() { no_such_name; }\n', "utf-8")

    result = project.run("--rmsperf", "-k", "residency")

    result.assert_outcomes(passed=2, failed=2, deselected=8)
    result.stdout.fnmatch_lines(
        [
            "does not compile: *vector.cu for sm_90",
            '*vector.cu(1): error: identifier "no_such_name" is undefined',
        ]
    )
