"""A session in another state than the others: it changes no verdict, and is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"


@pytest.mark.parametrize(("device_ns", "us"), [(4800, "4.80"), (9600, "9.60")])
def test_one_session_of_five_apart_changes_nothing_and_is_listed(
    project: Project, device_ns: int, us: str
) -> None:
    project.save()
    project.script(device_ns={CASE: [8000, 8000, device_ns, 8000]})

    result = project.check("--rmsperf-sessions=5")

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.fnmatch_lines(
        [
            f"apart: {CASE}: session 3 of 5 (device time {us} us)",
            "4 of 4 latencies compared (4 unchanged)",
        ]
    )


def test_sessions_that_agree_are_not_listed(project: Project) -> None:
    project.save()

    result = project.check()

    result.stdout.no_fnmatch_line("apart:*")
