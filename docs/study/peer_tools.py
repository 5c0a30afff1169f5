"""One process of one tool: time every delayed kernel with it and write the tool's own figures.

Started by peers.py. A tool that cannot run ends the process with its traceback, which peers.py
keeps. The figures of a tool are a dictionary of variants, each in microseconds per launch.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launches import Enqueued, prepare_launches

if TYPE_CHECKING:
    from collections.abc import Mapping

Figures = dict[str, dict[str, float]]

# What a process needs before it times anything: torch alone takes 5 s to import (H200 machine).
PREPARATION_S = {"pytest-benchmark": 3.0, "triton": 7.0, "nvbench": 3.0}

# pytest-benchmark gives a benchmark 1 s, nvbench 15 s, unless they end earlier by themselves.
LONGEST_S = {"pytest-benchmark": 1.0, "nvbench": 15.0}
SHORTEST_S = 0.1

# Accumulated device time of nvbench's batch, whose own default is 0.5 s.
BATCH_S = 0.1

# The fixture as its users use it: a test per variant, and the call that is timed.
SUITE = """
from pathlib import Path

import pytest
from launches import prepare_launches

LAUNCHES = prepare_launches(Path({folder!r}), {first})


@pytest.mark.parametrize("name", LAUNCHES)
def test_variant(benchmark, name):
    benchmark(LAUNCHES[name].complete_once)
"""


class Task:
    """What peers.py asks one process for."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.tool: str = arguments.tool
        self.folder: Path = arguments.folder
        self.first: int = arguments.first
        self.seconds: float = arguments.seconds
        self.scratch: Path = arguments.out.parent

    def seconds_per_variant(self, variants: int) -> float:
        """Return what the budget leaves for one variant, and the tool's own default at most."""
        share = (self.seconds - PREPARATION_S[self.tool]) / variants
        return min(LONGEST_S[self.tool], max(SHORTEST_S, share))

    def launches(self) -> dict[str, Enqueued]:
        return prepare_launches(self.folder, self.first)


def with_pytest_benchmark(task: Task) -> Figures:
    """Host clock of launch and synchronization, by the fixture."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import pytest
    from delays import DELAYED

    suite, report = task.scratch / "test_delays.py", task.scratch / "benchmark.json"
    suite.write_text(SUITE.format(folder=str(task.folder), first=task.first))
    code = pytest.main(
        [
            str(suite),
            f"--rootdir={task.scratch}",
            "--quiet",
            "-p",
            "pytest_benchmark.plugin",
            "-p",
            "no:cacheprovider",
            f"--benchmark-max-time={task.seconds_per_variant(len(DELAYED)):.3f}",
            f"--benchmark-json={report}",
        ]
    )
    if code:
        raise RuntimeError(f"pytest ended with {code!r}")
    return pytest_benchmark_figures(json.loads(report.read_text()))


def with_triton(task: Task) -> Figures:
    """Medians of do_bench (cold L2) and do_bench_cudagraph (warm), as they come."""
    launches = task.launches()
    import torch

    # By its name: it has no types, and comes with torch or not at all.
    testing: Any = import_module("triton.testing")

    def call(one: Enqueued) -> None:
        one.enqueue(torch.cuda.current_stream().cuda_stream)

    tools: Mapping[str, Callable[..., float]] = {
        "triton do_bench, median": testing.do_bench,
        "triton do_bench_cudagraph, median": testing.do_bench_cudagraph,
    }
    figures: Figures = {}
    for figure, bench in tools.items():
        figures[figure] = {}
        for name, one in launches.items():
            figures[figure][name] = 1000 * bench(partial(call, one), return_mode="median")
            torch.cuda.synchronize()
    return figures


def with_nvbench(task: Task) -> Figures:
    """Cold (flushed L2) and batch figures from nvbench's JSON."""
    launches = task.launches()
    from cuda import bench

    def variants(state: Any) -> None:
        one = launches[state.get_string("variant")]
        state.exec(lambda launch: one.enqueue(launch.get_stream().addressof()))

    report = task.scratch / "nvbench.json"
    benchmark = bench.register(variants)
    benchmark.add_string_axis("variant", list(launches))
    benchmark.set_timeout(max(SHORTEST_S, task.seconds_per_variant(len(launches)) - BATCH_S))
    benchmark.set_batch_target_time(BATCH_S)
    bench.run_all_benchmarks(["peers", "--devices", "0", "--json", str(report)])
    return nvbench_figures(json.loads(report.read_text()))


def pytest_benchmark_figures(report: Mapping[str, Any]) -> Figures:
    """Read the medians of pytest-benchmark's JSON, which are in seconds."""
    medians = {one["params"]["name"]: 1e6 * one["stats"]["median"] for one in report["benchmarks"]}
    return {"pytest-benchmark, median": medians}


NVBENCH_FIGURES = {
    "nv/cold/time/gpu/median": "nvbench cold, median",
    "nv/cold/time/gpu/mean": "nvbench cold, mean",
    "nv/batch/time/gpu/mean": "nvbench batch, mean",
}


def nvbench_figures(report: Mapping[str, Any]) -> Figures:
    """Read the summaries of nvbench's JSON: seconds, written as text or as a number."""
    figures: Figures = {}
    for state in report["benchmarks"][0]["states"]:
        variant = next(one["value"] for one in state["axis_values"] if one["name"] == "variant")
        for summary in state["summaries"] or ():
            figure = NVBENCH_FIGURES.get(summary["tag"])
            if figure is not None:
                value = next(one["value"] for one in summary["data"] if one["name"] == "value")
                figures.setdefault(figure, {})[variant] = 1e6 * float(value)
    if not figures:
        raise RuntimeError("nvbench wrote no cold figure; see its output above")
    return figures


TOOLS: dict[str, Callable[[Task], Figures]] = {
    "pytest-benchmark": with_pytest_benchmark,
    "triton": with_triton,
    "nvbench": with_nvbench,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="one process of one tool, started by peers.py")
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("--folder", type=Path, required=True, help="the operator to time")
    parser.add_argument("--first", type=int, required=True, help="the variant to begin with")
    parser.add_argument("--seconds", type=float, required=True, help="for this process")
    parser.add_argument("--out", type=Path, required=True, help="JSON file for the figures")
    arguments = parser.parse_args()
    figures = TOOLS[arguments.tool](Task(arguments))
    arguments.out.write_text(json.dumps(figures), encoding="utf-8")


if __name__ == "__main__":
    main()
