"""pytest-benchmark shows the gate's own samples, where a test asks for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

pytest.importorskip("pytest_benchmark")

TEST = """
import pytest
from pathlib import Path
from pytest_rmsperf import load_operator

CASES = load_operator(Path(__file__).parent / "scale_rows").cases()

@pytest.mark.rmsperf(waive="only shown, and held against nothing")
@pytest.mark.parametrize("case", CASES[:1])
def test_shown(case, rmsperf_latency, rmsperf_benchmark):
    pass
"""


@pytest.fixture
def shown(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    # Where these tests run under pytest-xdist, pytest-benchmark would take itself for a worker.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    (project.path / "test_scale_rows.py").write_text(TEST, encoding="utf-8")
    return project


def test_benchmark_reports_the_host_completion_samples_to_the_nanosecond(shown: Project) -> None:
    result = shown.run("--rmsperf", "--benchmark-json=benchmark.json")

    assert result.ret == pytest.ExitCode.OK
    run = json.loads((shown.path / ".rmsperf" / "run.json").read_text(encoding="utf-8"))
    case_id = next(iter(run["checked"]))
    samples_ns = [
        ns
        for sessions in run["rounds"]
        for one in sessions
        for ns in one["timed"]["samples"][case_id]["completion_ns"]
    ]
    benchmark = json.loads((shown.path / "benchmark.json").read_text(encoding="utf-8"))
    (only,) = benchmark["benchmarks"]
    assert [round(seconds * 1e9) for seconds in only["stats"]["data"]] == samples_ns
    assert only["extra_info"] == {"rmsperf_case": case_id}


def test_benchmark_prints_its_table(shown: Project) -> None:
    result = shown.run("--rmsperf")

    assert "Name (time in" in result.stdout.str()


def test_without_a_device_there_is_nothing_to_show(shown: Project) -> None:
    shown.script(device=None)

    result = shown.run("--rmsperf")

    result.assert_outcomes(skipped=1)
    assert "Name (time in" not in result.stdout.str()
