"""The gate's verdicts on a device: paired builds, and a busy device."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planted import SLOWER, Project

BUSY = Path(__file__).parent / "programs" / "busy.py"
BEGINNING = "    float* tile = reinterpret_cast<float*>(tile_memory);\n"
WAIT = "    for (const long long start = clock64(); clock64() - start < 200;) {\n    }\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The sound operator, committed."""
    project = Project(tmp_path)
    project.commit()
    return project


@pytest.fixture
def other_process() -> Iterator[subprocess.Popen[str]]:
    """A process that keeps the device busy until the test ends."""
    with subprocess.Popen([sys.executable, str(BUSY)], stdout=subprocess.PIPE, text=True) as busy:
        assert busy.stdout is not None
        assert busy.stdout.readline() == "busy\n"
        yield busy
        busy.kill()


def test_an_unchanged_tree_is_unchanged_against_its_own_commit(project: Project) -> None:
    outcome = project.run("--rmsperf", "--rmsperf-against=HEAD")

    assert outcome.code == 0, outcome.output
    assert "8 of 8 latencies compared (8 unchanged)" in outcome.output


def test_200_clocks_of_delay_are_slower_in_that_kernel_alone(project: Project) -> None:
    project.plant("megakernel_row.cu", BEGINNING, BEGINNING + WAIT)

    outcome = project.run("--rmsperf", "--rmsperf-against=HEAD")

    assert (outcome.code, outcome.failed) == (1, {("test_latency", "megakernel_row")})
    assert len(SLOWER.findall(outcome.output)) == 2, outcome.output


def test_a_busy_device_is_invalid_with_the_process_named_and_never_slower(
    project: Project, other_process: subprocess.Popen[str]
) -> None:
    outcome = project.run("--rmsperf", "--rmsperf-against=HEAD", "--rmsperf-sessions=1")

    assert outcome.code == 1
    assert "0 of 8 latencies compared (8 invalid)" in outcome.output
    # A container may show no process at all, or only those of the host: then it is told so.
    hidden = "hidden from this one" in outcome.output or "may be our own" in outcome.output
    assert hidden or f"(pid {other_process.pid}" in outcome.output
    assert "slower by" not in outcome.output
