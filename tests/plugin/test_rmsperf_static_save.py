"""--rmsperf-save of static costs: with --rmsperf-static without a device, else beside latencies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
SAVE = ("--rmsperf-static", "--rmsperf-save")
STALE = """
import pytest
from test_scale_rows import OPERATOR

@pytest.mark.rmsperf
def test_stale(rmsperf_no_stale):
    rmsperf_no_stale(OPERATOR.cases()[:2])
"""


def file_of(project: Project, arch: str = "sm_90") -> Path:
    return project.path / "baselines" / arch / "scale_rows.static.json"


# ---- without a device ------------------------------------------------------------------------


def test_costs_are_stored_without_a_device_and_no_latency(static_project: Project) -> None:
    static_project.script(device=None)

    result = static_project.run(*SAVE)

    result.assert_outcomes(passed=8, deselected=8)
    result.stdout.fnmatch_lines([f"saved 4 static baselines in {file_of(static_project)}"])
    assert not static_project.baseline.exists()


def test_saving_again_changes_no_byte(static_saved: Project) -> None:
    before = file_of(static_saved).read_bytes()

    static_saved.run(*SAVE)

    assert file_of(static_saved).read_bytes() == before


def test_no_clean_checkout_is_demanded(
    static_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RMSPERF_COMMIT")

    result = static_project.run(*SAVE)

    assert result.ret == pytest.ExitCode.OK


def test_command_of_the_message_creates_the_baseline(static_project: Project) -> None:
    static_project.run(*SAVE, "-k", CASE)

    result = static_project.run("--rmsperf-static", "-k", f"cost and {CASE}")

    result.assert_outcomes(passed=1, deselected=15)


def test_changed_costs_are_accepted_and_told(static_saved: Project) -> None:
    static_saved.costs(blocks_per_sm={"vector": 5})

    result = static_saved.run(*SAVE)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["cheaper: scale_rows/vector-direct/16x1024 and 1 more: *"])


def test_costlier_case_that_is_not_named_is_refused_with_the_remedy(static_saved: Project) -> None:
    before = file_of(static_saved).read_bytes()
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run(*SAVE)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "costlier: *",
            (
                "nothing of this run is saved; name the case to accept it: pytest "
                f'--rmsperf-static --rmsperf-save -k "{CASE}"'
            ),
            "NOT SAVED: 1 test did not pass",
        ]
    )
    assert file_of(static_saved).read_bytes() == before


@pytest.mark.parametrize("option", [("-k", CASE), ("--rmsperf-accept-slower",)], ids=str)
def test_costlier_case_is_accepted_by_its_name_or_with_all(
    static_saved: Project, option: tuple[str, ...]
) -> None:
    static_saved.costs(blocks_per_sm={CASE: 3})

    result = static_saved.run(*SAVE, *option)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"loosened: {CASE}: *4 -> 3 blocks per SM of scale_rows*"])


def test_case_that_a_device_cannot_run_is_never_stored(static_project: Project) -> None:
    static_project.costs(violated={CASE: "does not fit NVIDIA H100 80GB HBM3: by 4\nsplit it"})

    result = static_project.run(*SAVE, "-k", CASE)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["violated: *", "NOT SAVED: 1 test did not pass"])
    assert not file_of(static_project).exists()


def test_case_whose_test_was_skipped_is_not_stored_and_the_run_is_red(
    static_project: Project,
) -> None:
    suite = (static_project.path / "test_cost.py").read_text(encoding="utf-8")
    body = "    if 'vector' in case.id: pytest.skip('later')\n    rmsperf_static.require()"
    static_project.write("test_cost.py", suite.replace("    rmsperf_static.require()", body))

    result = static_project.run(*SAVE)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["failed: 2 of 4 cases were not saved: scale_rows/vector-*"])
    assert b"scale_rows/vector" not in file_of(static_project).read_bytes()


def test_run_that_asks_for_no_cost_saves_nothing_and_is_red(project: Project) -> None:
    result = project.run(*SAVE)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["nothing to save: no selected test asks for a static cost: pytest --rmsperf-static *"]
    )


def test_commands_of_messages_name_the_devices_of_this_run(static_project: Project) -> None:
    result = static_project.run("--rmsperf-static", "--rmsperf-devices=l4", "-k", CASE)

    result.stdout.fnmatch_lines(
        ["create it with: pytest --rmsperf-devices=l4 --rmsperf-static --rmsperf-save -k *"]
    )


# ---- on a device -----------------------------------------------------------------------------


def test_save_on_a_device_stores_latencies_and_costs(static_project: Project) -> None:
    result = static_project.run("--rmsperf-save")

    assert result.ret == pytest.ExitCode.OK
    assert static_project.baseline.exists()
    assert file_of(static_project).exists()


@pytest.mark.parametrize("refused", ["latency", "cost"])
def test_refused_latency_or_cost_keeps_the_other_back(static_saved: Project, refused: str) -> None:
    static_saved.run("--rmsperf-save")
    files = (static_saved.baseline, file_of(static_saved))
    before = [one.read_bytes() for one in files]
    slower = {CASE: 8800} if refused == "latency" else {}
    static_saved.script(device_ns={"scalar": 7200, **slower})
    static_saved.costs(blocks_per_sm={"scalar": 5, **({CASE: 3} if refused == "cost" else {})})

    result = static_saved.run("--rmsperf-save")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [one.read_bytes() for one in files] == before


def test_without_a_device_a_save_of_latencies_stores_no_cost_either(
    static_project: Project,
) -> None:
    static_project.script(device=None)

    result = static_project.run("--rmsperf-save")

    result.stdout.fnmatch_lines(["NOT SAVED: no CUDA device *"])
    assert not file_of(static_project).exists()


# ---- stale costs -----------------------------------------------------------------------------


def test_stale_costs_fail_and_are_removed_by_a_save(static_saved: Project) -> None:
    static_saved.write("test_stale.py", STALE)

    found = static_saved.run("--rmsperf-static", "-k", "stale")
    removed = static_saved.run(*SAVE, "-k", "stale")

    found.assert_outcomes(failed=1, deselected=16)
    found.stdout.fnmatch_lines(["stale: 2 stored cases *", f"  {file_of(static_saved)}: *vector*"])
    assert removed.ret == pytest.ExitCode.OK
    assert b"scale_rows/vector" not in file_of(static_saved).read_bytes()
