"""A machine in a bad state: its figures are shown, and not accepted as baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

BUSY = """
from pytest_rmsperf.campaign import SessionResult
from pytest_rmsperf.environment import DeviceState

plain = ScriptedInstrument.measure

def measure(self, cases, protocol, say):
    session = plain(self, cases, protocol, say)
    state = DeviceState(utilization_percent=90)
    return SessionResult(session.samples, session.failures, before=state, after=state)

ScriptedInstrument.measure = measure
"""


@pytest.fixture
def busy(project: Project) -> Project:
    """The project on a device that something else uses."""
    with (project.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(BUSY)
    return project


def test_nothing_is_saved_from_a_busy_device_and_the_run_is_red(busy: Project) -> None:
    result = busy.run("--rmsperf-save", "-k", "latency")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not busy.baseline.exists()
    result.stdout.fnmatch_lines(
        ["NOT SAVED: the device was 90 % busy before a session: *: pytest --rmsperf-save"]
    )


def test_a_busy_device_costs_the_summary_nothing(busy: Project) -> None:
    result = busy.run("--rmsperf-save", "-k", "latency")

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.fnmatch_lines(["0 of 4 latencies compared (4 missing)"])
