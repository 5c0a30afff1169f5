"""--rmsperf-details: what each device of interest holds of each case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

TABLE = [
    "  device * arch * regs *",
    "scale_rows/vector-direct|graph/16x1024",
    "  NVIDIA L4 * sm_89 *",
    "  NVIDIA H100 80GB HBM3 * sm_90 *",
]
TWO = "--rmsperf-devices=l4,h100-sxm"


@pytest.mark.parametrize("mode", [("--rmsperf-static",), ("--rmsperf", "-k", "latency")], ids=str)
def test_every_device_has_a_line_for_every_case(static_project: Project, mode: list[str]) -> None:
    static_project.costs(registers={"vector": 44})

    result = static_project.run(*mode, "--rmsperf-details", TWO)

    result.stdout.fnmatch_lines(TABLE)


def test_without_the_option_there_is_no_table(static_project: Project) -> None:
    result = static_project.run("--rmsperf-static", TWO)

    result.stdout.no_fnmatch_line(TABLE[0])


def test_table_of_latencies_goes_before(static_project: Project) -> None:
    result = static_project.run("--rmsperf", "--rmsperf-details", "-k", "latency")

    result.stdout.fnmatch_lines(["case * host us *", TABLE[0], "static: 4 cases on 1 device*"])


def test_what_fails_nothing_is_listed(static_saved: Project) -> None:
    static_saved.costs(registers={"vector": 44})

    result = static_saved.run("--rmsperf-static", "--rmsperf-details")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["noted: scale_rows/vector-direct/16x1024 and 1 more case: sm_90: registers 40 -> 44 *"]
    )


def test_ini_key_asks_for_it(static_project: Project) -> None:
    static_project.ini("rmsperf_details = true")

    result = static_project.run("--rmsperf-static")

    result.stdout.fnmatch_lines([TABLE[0]])
