"""--rmsperf-cache: what launches find in the L2 cache; each of the two has its own baselines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def cache_of(project: Project) -> str:
    """Return what the run file says of the protocol."""
    run = json.loads((project.path / ".rmsperf" / "run.json").read_bytes())
    found: str = run["settings"]["protocol"]["cache"]
    return found


def test_cache_is_warm_by_default(project: Project) -> None:
    project.run("--rmsperf")

    assert cache_of(project) == "warm"


def test_ini_key_gives_the_cache(project: Project) -> None:
    project.ini("rmsperf_cache = cold")

    project.run("--rmsperf")

    assert cache_of(project) == "cold"


def test_command_line_goes_before_the_ini_key(project: Project) -> None:
    project.ini("rmsperf_cache = cold")

    project.run("--rmsperf", "--rmsperf-cache=warm")

    assert cache_of(project) == "warm"


def test_header_names_the_cache(project: Project) -> None:
    result = project.run("--rmsperf", "--rmsperf-cache=cold", "-k", "residency")

    result.stdout.fnmatch_lines(["rmsperf: *, cold cache, *"])


def test_cold_figures_are_judged_by_cold_ones(project: Project) -> None:
    project.run("--rmsperf-save", "--rmsperf-cache=cold")

    result = project.check("--rmsperf-cache=cold")

    result.assert_outcomes(passed=4, deselected=8)


def test_cold_figures_are_stored_beside_the_warm_ones(project: Project) -> None:
    warm = project.save()

    project.run("--rmsperf-save", "--rmsperf-cache=cold")

    files = sorted(one.name for one in project.baseline.parent.iterdir() if one.suffix == ".json")
    assert (files, project.baseline.read_bytes() == warm) == (
        ["scale_rows.cold.json", "scale_rows.json"],
        True,
    )


def test_warm_baseline_serves_no_cold_run(project: Project) -> None:
    project.save()
    project.script(device_ns={"scale_rows": 80_000})

    result = project.check("--rmsperf-cache=cold")

    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["0 of 4 latencies compared (4 missing)"])


@pytest.mark.parametrize("value", ["hot", "WARM", "l2"])
def test_bad_value_is_a_usage_error_with_the_known_ones(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-cache={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-cache={value}: must be one of warm, cold *"])


# ---- side by side ------------------------------------------------------------------------------


@pytest.mark.parametrize(("mine", "other"), [("warm", "cold"), ("cold", "warm")])
def test_table_shows_what_is_stored_for_the_other_cache(
    project: Project, mine: str, other: str
) -> None:
    project.script(device_ns={"scale_rows/scalar": 12_340})
    project.run("--rmsperf-save", f"--rmsperf-cache={other}", "-k", "scalar")
    project.script()

    result = project.run("--rmsperf-save", f"--rmsperf-cache={mine}", "-k", "latency")

    lines = [one.split() for one in result.outlines if one.startswith(("case ", "scale_rows/"))]
    assert [(one[0], one[-1]) for one in lines] == [
        ("case", other),
        ("scale_rows/scalar-direct/16x1024", "12.34"),
        ("scale_rows/scalar-graph/16x1024", "12.34"),
        ("scale_rows/vector-direct/16x1024", "-"),
        ("scale_rows/vector-graph/16x1024", "-"),
    ]


def test_table_has_no_column_for_the_other_cache_where_nothing_is_stored(project: Project) -> None:
    result = project.run("--rmsperf-save", "-k", "latency")

    assert [one.split()[-1] for one in result.outlines if one.startswith("case ")] == ["headroom"]
