"""docs/devices.md says what the data says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rmsperf.device.occupancy import LIMITS, limits_for, slack
from pytest_rmsperf.device.profiles import LISTING, profiles_named
from pytest_rmsperf.device.table import table
from pytest_rmsperf.resources import CompiledKernel


@pytest.fixture(scope="module")
def page() -> str:
    path = Path(__file__).parents[2] / "docs" / "devices.md"
    return path.read_text(encoding="utf-8")


def test_the_page_has_the_table_of_the_data(page: str) -> None:
    rows = [line for line in page.splitlines(keepends=True) if line.startswith("|")]

    assert "".join(rows) == table()


def test_the_command_that_messages_name_prints_the_table() -> None:
    command = LISTING.replace("python", sys.executable, 1).split()

    run = subprocess.run(command, capture_output=True, text=True, check=True)

    assert (run.stdout, run.stderr) == (table(), "")


def test_the_page_names_that_command(page: str) -> None:
    assert f"`{LISTING}` prints this table" in page


def test_the_devices_of_the_example_can_be_chosen(page: str) -> None:
    [example] = re.findall(r"rmsperf_devices =\n((?:    .+\n)+)", page)

    assert len(profiles_named(example)) == len(example.splitlines())


def test_the_page_lists_every_compute_capability_that_is_computed(page: str) -> None:
    [listed] = re.findall(r"compute capabilities (7\.5[\d., \n]+ and [\d.]+\d)", page)

    assert re.findall(r"\d+\.\d", listed) == [limits.compute_capability for limits in LIMITS]


def test_the_tipping_points_of_the_example_are_computed(page: str) -> None:
    kernel = CompiledKernel("row", 80, 0, 0, 0, 0)

    assert "\n".join(slack(limits_for("9.0"), kernel, 256, 0).lines) in page
