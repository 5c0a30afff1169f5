"""--rmsperf-devices: the devices that every case is held against, though none is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
TWO = "--rmsperf-devices=l4,h100-sxm"


def test_cases_are_held_against_each_device_and_stored_by_arch(static_project: Project) -> None:
    static_project.save_costs(TWO)

    result = static_project.run("--rmsperf-static", TWO)

    result.stdout.fnmatch_lines(
        [
            "rmsperf static: 2 devices, sm_89 sm_90: l4, h100-sxm",
            "4 of 4 static costs compared (4 unchanged) on 2 devices, sm_89 sm_90",
        ]
    )
    stored = static_project.path.glob("baselines/*/scale_rows.static.json")
    assert sorted(one.parent.name for one in stored) == ["sm_89", "sm_90"]


def test_default_is_the_device_that_the_arch_stands_for(static_project: Project) -> None:
    result = static_project.run("--rmsperf-static", "--rmsperf-arch=sm_89")

    result.stdout.fnmatch_lines(["rmsperf static: 1 device, sm_89: l4"])


def test_loss_on_one_device_alone_names_that_one(static_project: Project) -> None:
    static_project.save_costs(TWO)
    static_project.costs(blocks_per_sm={f"{CASE} on l4": 3})

    result = static_project.run("--rmsperf-static", TWO)

    result.assert_outcomes(passed=7, failed=1, deselected=8)
    result.stdout.fnmatch_lines(
        [
            "costlier: NVIDIA L4: 4 -> 3 blocks per SM of scale_rows*",
            "  archs      sm_89 costlier; sm_90 unchanged; *",
        ]
    )


def test_device_that_is_none_of_interest_violates_nothing(static_project: Project) -> None:
    static_project.costs(violated={f"{CASE} on l4": "does not fit NVIDIA L4: by 4\nsplit it"})
    static_project.save_costs()

    result = static_project.run("--rmsperf-static")

    result.assert_outcomes(passed=8, deselected=8)


def test_device_that_was_never_saved_is_missing(static_project: Project) -> None:
    static_project.save_costs("--rmsperf-devices=h100-sxm")

    result = static_project.run("--rmsperf-static", "--rmsperf-devices=h100-sxm,h200")

    result.assert_outcomes(passed=4, failed=4, deselected=8)
    result.stdout.fnmatch_lines(["missing: NVIDIA H200: no cost is stored"])


def test_ini_key_lists_devices_on_lines_of_their_own(static_project: Project) -> None:
    static_project.ini("rmsperf_devices =", "    l4,", "    a10")

    result = static_project.run("--rmsperf-static")

    result.stdout.fnmatch_lines(["rmsperf static: 2 devices, sm_86 sm_89: l4, a10"])


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("h100", "no device is called 'h100'; the nearest are h100-sxm, *; all of them: python *"),
        ("l4,nvidia-l4", "l4 is named twice, by 'l4' and by 'nvidia-l4'; *"),
    ],
)
def test_bad_name_is_a_usage_error_with_what_is_near(
    project: Project, value: str, told: str
) -> None:
    result = project.run("--rmsperf-static", f"--rmsperf-devices={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-devices={value}: {told}"])
    assert project.calls() == []
