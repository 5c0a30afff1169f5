"""A machine in a bad state: measured again, then invalid; never slower, and never accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

SESSIONS = 3
# The readings of the first `UNFIT` sessions are made bad, so all of them or only the first ones.
BAD_READINGS = """
import dataclasses
from pytest_rmsperf.environment import DeviceState, Tenant

plain = ScriptedInstrument.measure

def measure(self, cases, protocol, say):
    session = plain(self, cases, protocol, say)
    if self._session > {unfit}:
        return session
    before, timed, after = session.before, session.timed, session.after
    replace = dataclasses.replace
    {change}
    return replace(session, before=before, timed=timed, after=after)

ScriptedInstrument.measure = measure
"""
BUSY = """others = (Tenant(4711, "train.py", 96),)
    before = replace(before, utilization_percent=97, other_processes=others)"""
QUIET_NEIGHBOUR = """others = (Tenant(1200, "Xorg"),)
    before, after = (replace(one, other_processes=others) for one in (before, after))
    during = tuple(replace(one, other_processes=others) for one in timed.during)
    timed = replace(timed, during=during)"""
DOWNCLOCKED = """half = len(timed.during) // 2
    slow = tuple(replace(one, sm_mhz=1188) for one in timed.during[half:])
    timed = replace(timed, during=timed.during[:half] + slow)"""
DRIFTING = """samples = {
        name: replace(one, device_ns=tuple(ns + 100 * i for i, ns in enumerate(one.device_ns)))
        if "scalar-graph/16" in name else one
        for name, one in timed.samples.items()
    }
    timed = replace(timed, samples=samples)"""
CAPPED = "before = replace(before, power_limit_mw=500_000, default_power_limit_mw=700_000)"
ALL = 10**9
NAMED = "the device was 97 % busy before a session: train.py (pid 4711, 96 % of the SMs' time)"


def spoil(project: Project, change: str, *, unfit: int = ALL) -> None:
    """Make the readings of the first `unfit` sessions bad in this way."""
    with (project.path / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(BAD_READINGS.replace("{unfit}", str(unfit)).replace("{change}", change))


def sessions(project: Project) -> int:
    return sum(line.startswith("session") for line in project.calls())


@pytest.fixture
def saved(project: Project) -> Project:
    """The project with baselines, of which every figure is 10 % slower now."""
    project.save()
    project.calls()
    project.script(
        device_ns={"scale_rows": 8800, "probe": 1000}, completion_ns={"scale_rows": 14_000}
    )
    return project


# ---- contention ------------------------------------------------------------------------------


def test_on_a_busy_device_every_latency_is_invalid_and_none_is_slower(saved: Project) -> None:
    spoil(saved, BUSY)

    result = saved.check()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(failed=4, deselected=8)
    result.stdout.fnmatch_lines(["0 of 4 latencies compared (4 invalid)*"])
    result.stdout.no_fnmatch_line("*slower by*")


def test_the_process_that_keeps_the_device_busy_is_named(saved: Project) -> None:
    spoil(saved, BUSY)

    result = saved.check("-k", "latency and scalar-graph and 16")

    result.stdout.fnmatch_lines([f"*invalid: {NAMED}*"])


def test_every_unfit_session_is_measured_again_once(saved: Project) -> None:
    spoil(saved, BUSY)

    saved.check()

    assert sessions(saved) == 2 * SESSIONS


def test_a_device_that_is_free_when_measured_again_gives_a_verdict(saved: Project) -> None:
    spoil(saved, BUSY, unfit=1)

    result = saved.check()

    result.stdout.fnmatch_lines([f"measured again: 1 session: {NAMED}", "*4 slower*"])


def test_nothing_is_saved_from_a_busy_device_and_the_run_is_red(project: Project) -> None:
    spoil(project, BUSY)

    result = project.run("--rmsperf-save", "-k", "latency")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not project.baseline.exists()
    result.stdout.fnmatch_lines([f"*{NAMED}*"])


def test_beside_a_process_that_does_nothing_figures_are_judged(saved: Project) -> None:
    spoil(saved, QUIET_NEIGHBOUR)

    result = saved.check()

    result.stdout.fnmatch_lines(["4 of 4 latencies compared*"])


def test_beside_a_process_that_does_nothing_figures_are_not_saved(project: Project) -> None:
    spoil(project, QUIET_NEIGHBOUR)

    result = project.run("--rmsperf-save", "-k", "latency")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not project.baseline.exists()
    result.stdout.fnmatch_lines(["*another process is on the device: Xorg (pid 1200)*"])


# ---- clocks, drift and power -----------------------------------------------------------------


def test_samples_taken_while_the_clock_dropped_are_invalid_with_both_clocks(
    saved: Project,
) -> None:
    spoil(saved, DOWNCLOCKED)

    result = saved.check()

    result.stdout.fnmatch_lines(
        [
            "*invalid: the SM clock fell from 1980 to 1188 MHz during a session*",
            "0 of 4 latencies compared (4 invalid)*",
        ]
    )


def test_a_case_whose_samples_drift_is_invalid_and_the_others_are_judged(saved: Project) -> None:
    spoil(saved, DRIFTING)

    result = saved.check()

    result.stdout.fnmatch_lines(
        [
            "*invalid: figures drift: device time rose by 11 % from the first to the last third *",
            "3 of 4 latencies compared (*1 invalid*)*",
        ]
    )


def test_a_power_limit_below_the_default_is_invalid_with_both_in_watts(saved: Project) -> None:
    spoil(saved, CAPPED)

    result = saved.check()

    result.stdout.fnmatch_lines(
        ["*invalid: the power limit is 500 W, below the device's default of 700 W; *"]
    )


def test_a_device_that_is_meant_to_be_capped_is_judged(saved: Project) -> None:
    spoil(saved, CAPPED)

    result = saved.check("--rmsperf-power-limit=500")

    result.stdout.fnmatch_lines(["4 of 4 latencies compared*"])


# ---- a host in a bad state ---------------------------------------------------------------------

# Whole sessions on an H200 were like this: graph replay slow, launches and device times as ever.
SLOW_REPLAY = {"null-graph": 25_000, "graph/16": 32_000}


def test_slow_graph_replay_of_the_host_is_no_loss_of_a_case(project: Project) -> None:
    project.save()
    project.script(completion_ns=SLOW_REPLAY)

    result = project.check()

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (2 unchanged, 2 inconclusive)"])


@pytest.mark.parametrize("option", ["--rmsperf-save", "--rmsperf-calibrate"])
def test_nothing_is_stored_where_the_host_replays_graphs_slowly(
    project: Project, option: str
) -> None:
    before = project.save()
    project.script(completion_ns={"null-graph": 25_000})

    result = project.run(option, "-k", "latency")

    assert (result.ret, project.baseline.read_bytes()) == (pytest.ExitCode.TESTS_FAILED, before)
    result.stdout.fnmatch_lines(["NOT SAVED: the host is in a bad state: *"])


def test_first_baseline_is_refused_there_too(project: Project) -> None:
    project.script(completion_ns=SLOW_REPLAY)

    result = project.run("--rmsperf-save")

    assert (result.ret, project.baseline.exists()) == (pytest.ExitCode.TESTS_FAILED, False)


STATED = """
import pytest
from pytest_rmsperf import Ordering
from test_scale_rows import OPERATOR

FAST, SLOW = OPERATOR.cases()[:2]

@pytest.mark.rmsperf
@pytest.mark.parametrize("ordering", [Ordering(FAST, SLOW)])
def test_order(ordering, rmsperf_ordering):
    rmsperf_ordering.require()
"""


@pytest.mark.parametrize(("policy", "failed"), [("invalid=fail", 1), ("invalid=warn", 0)])
def test_an_ordering_on_a_busy_device_is_invalid_with_the_process_named_and_never_violated(
    project: Project, policy: str, failed: int
) -> None:
    project.write("test_order.py", STATED)
    spoil(project, BUSY)

    result = project.run("--rmsperf", "test_order.py", f"--rmsperf-policy={policy}")

    result.assert_outcomes(failed=failed, passed=1 - failed)
    result.stdout.fnmatch_lines([f"invalid: {NAMED.replace('[', '[[]')}; * takes 1.00 times the *"])
    if failed:
        result.stdout.fnmatch_lines(["measure again with: pytest --rmsperf --lf"])
