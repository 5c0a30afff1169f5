"""--rmsperf-power-limit: the limit that this device is meant to have, in place of its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

# Every reading before a session says 500 W on a device made for 700 W.
CAPPED = """
import dataclasses

plain = ScriptedInstrument.measure

def measure(self, cases, protocol, say):
    session = plain(self, cases, protocol, say)
    before = dataclasses.replace(
        session.before, power_limit_mw=500_000, default_power_limit_mw=700_000
    )
    return dataclasses.replace(session, before=before)

ScriptedInstrument.measure = measure
"""


@pytest.fixture
def capped(project: Project) -> Project:
    """The project, saved at full power, on a device that is held to 500 W now."""
    project.save()
    with (project.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(CAPPED)
    return project


def test_device_below_its_default_is_invalid(capped: Project) -> None:
    result = capped.check()

    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["0 of 4 latencies compared (4 invalid)*"])


@pytest.mark.parametrize(("watts", "passed"), [("499.9", 4), ("500", 4), ("500.1", 0)])
def test_device_at_the_limit_it_is_meant_to_have_is_judged(
    capped: Project, watts: str, passed: int
) -> None:
    result = capped.check(f"--rmsperf-power-limit={watts}")

    result.assert_outcomes(passed=passed, failed=4 - passed, deselected=8)


def test_ini_key_gives_the_limit(capped: Project) -> None:
    capped.ini("rmsperf_power_limit = 500")

    result = capped.check()

    result.assert_outcomes(passed=4, deselected=8)


def test_command_line_goes_before_the_ini_key(capped: Project) -> None:
    capped.ini("rmsperf_power_limit = 500")

    result = capped.check("--rmsperf-power-limit=700")

    result.assert_outcomes(failed=4, deselected=8)


@pytest.mark.parametrize("value", ["0", "-1", "nan", "500W"])
def test_bad_value_is_a_usage_error_with_option_and_value(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-power-limit={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-power-limit={value}: *"])
