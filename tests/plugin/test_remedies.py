"""A command that a message offers does what it promises when it is typed."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
LOSS = {"vector-graph": 9000}


def offered(result: pytest.RunResult, start: str) -> list[str]:
    """Return the arguments of the command that ends the first line which starts so."""
    line = next(one for one in result.outlines if one.strip().startswith(start))
    return shlex.split(line.partition("pytest ")[2])


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--rmsperf-cache=cold",),
        ("--rmsperf-baselines=figures of mine",),
        ("--rmsperf-cooldown=1", "--rmsperf-samples=7"),
    ],
    ids=lambda options: " ".join(options) or "none",
)
def test_command_that_creates_a_baseline_creates_the_one_that_was_missing(
    project: Project, options: tuple[str, ...]
) -> None:
    missing = project.run("--rmsperf", "-k", f"latency and {CASE}", *options)

    saved = project.run(*offered(missing, "create it with: "))
    checked = project.run("--rmsperf", "-k", f"latency and {CASE}", *options)

    assert (saved.ret, checked.ret) == (pytest.ExitCode.OK, pytest.ExitCode.OK)
    checked.stdout.fnmatch_lines(["1 of 1 latencies compared (1 unchanged); 3 more deselected"])


def test_command_that_accepts_a_loss_accepts_it(project: Project) -> None:
    project.save()
    project.script(device_ns=LOSS)
    slower = project.check()

    project.run(*offered(slower, "accept it with: "))

    assert project.check().ret == pytest.ExitCode.OK


def test_command_of_a_refused_save_accepts_what_it_names(project: Project) -> None:
    project.save()
    project.script(device_ns=LOSS)
    refused = project.run("--rmsperf-save", "--rmsperf-cache=warm")

    result = project.run(*offered(refused, "nothing of this run is saved; name the case"))

    result.stdout.fnmatch_lines([f"loosened: {CASE} 8.00 -> 9.00 us (+12.5 %)"])


def test_command_that_looks_closer_looks_at_the_case_in_doubt(project: Project) -> None:
    project.save()
    project.script(completion_ns={"null-graph": 25_000, "vector-graph": 32_000})
    doubtful = project.check()

    project.calls()
    project.run(*offered(doubtful, "look closer with: "))

    timed = [line for line in project.calls() if line.startswith("session")]
    assert len(timed) == 9
    assert all(line.endswith(CASE) and "scalar" not in line for line in timed)
