"""--rmsperf-headroom-loss: how much of what a device holds may be lost of a plan's headroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
# 4 blocks per SM of 132 are 528 blocks: 16 more of a launch that waits on them are 3 % of these.
OPERATOR = "scale_rows/__init__.py"


@pytest.fixture
def grown(static_project: Project) -> Project:
    """The project whose launches wait on their blocks, of which there are twice as many now."""
    file = static_project.path / OPERATOR
    text = file.read_text(encoding="utf-8")
    waits = text.replace("arguments)", "arguments, cooperative=True)")
    assert waits != text
    static_project.write(OPERATOR, waits)
    static_project.save_costs()
    rows = 'problem["rows"], THREADS_PER_BLOCK'
    assert rows in waits
    static_project.write(OPERATOR, waits.replace(rows, f"2 * {rows}"))
    return static_project


@pytest.mark.parametrize(("percent", "verdict"), [("4", "changed"), ("3", "costlier")])
def test_loss_beyond_the_share_is_costlier(grown: Project, percent: str, verdict: str) -> None:
    result = grown.run("--rmsperf-static", f"--rmsperf-headroom-loss={percent}", "-k", CASE)

    result.assert_outcomes(passed=1, failed=1, deselected=14)
    result.stdout.fnmatch_lines([f"{verdict}: *"])


def test_ini_key_gives_the_share(grown: Project) -> None:
    grown.ini("rmsperf_headroom_loss = 2")

    result = grown.run("--rmsperf-static", "-k", CASE)

    result.stdout.fnmatch_lines(
        ["rmsperf: *headroom may lose 2 % of what a device holds", "costlier: *headroom of *"]
    )


def test_bad_share_is_a_usage_error(project: Project) -> None:
    result = project.run("--rmsperf-static", "--rmsperf-headroom-loss=100")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --rmsperf-headroom-loss=100: must be at least 0 and below 100*"]
    )
