"""--rmsperf-deadline: after so many seconds of silence a worker is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

SLEEPS_IN_VECTOR = """
def slow_plan(problem, capacity):
    import time

    time.sleep(600)

"""


def make_vector_sleep(project: Project) -> None:
    """Let the plan of the variant vector never come back."""
    operator = project.path / "scale_rows" / "__init__.py"
    text = operator.read_text(encoding="utf-8")
    text = text.replace("FOLDER =", SLEEPS_IN_VECTOR + "FOLDER =")
    operator.write_text(text.replace('"vector.cu", plan', '"vector.cu", slow_plan'), "utf-8")


def test_case_that_overruns_it_fails_alone_and_the_message_says_where(project: Project) -> None:
    (project.path / "script.json").unlink()  # so that a real worker does the work
    make_vector_sleep(project)

    result = project.run("--rmsperf", "--rmsperf-deadline=2", "-k", "residency and direct")

    result.assert_outcomes(passed=1, failed=1, deselected=10)
    result.stdout.fnmatch_lines(
        [
            "lost: scale_rows/vector-direct/16x1024 in step 'plan': no sign of life for 2 s *",
            "  worker * in slow_plan",
        ]
    )


@pytest.mark.parametrize("value", ["0", "-1", "nan", "soon"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-deadline={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-deadline={value}: *"])
