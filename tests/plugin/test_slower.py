"""A slower case fails, alone, with verdict, evidence and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

SLOW = "scale_rows/vector-graph/16x1024"
MANY_TESTS = """
import pytest
from test_scale_rows import each_case

@pytest.mark.rmsperf
@each_case
@pytest.mark.parametrize("repetition", range(64))
def test_many(case, repetition, rmsperf_latency):
    rmsperf_latency.require()
"""


def test_case_that_is_10_percent_slower_fails_alone(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: 8800})

    result = project.run("--rmsperf")

    result.assert_outcomes(passed=11, failed=1)
    result.stdout.fnmatch_lines([f"*test_latency[[]{SLOW}[]]*", "slower by 10.0 % *"])


def test_slower_case_is_measured_again_alone_with_its_probes(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: 8800})
    project.calls()

    project.check()

    sessions = [line for line in project.calls() if line.startswith("session")]
    probes = "probe/null-graph/1 probe/copy-graph/131072"
    assert [line.partition(": ")[2] for line in sessions[3:]] == [f"{probes} {SLOW}"] * 3


def test_transient_loss_passes_and_is_listed_as_cleared(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: [9600, 9600, 9600, 8000]})

    result = project.check()

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            f"cleared: {SLOW}: the first round said +20.0 %, 3 fresh sessions did not bear it *",
            "4 of 4 latencies compared (4 unchanged)",
        ]
    )


def test_loss_of_one_bad_session_of_five_changes_nothing(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: [8000, 8000, 4800, 8000]})

    result = project.check("--rmsperf-sessions=5")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)"])


def test_case_lost_in_the_second_round_fails(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: 8800}, lost={SLOW: ["", "", "", "lost: for ever"]})

    result = project.check()

    result.assert_outcomes(passed=3, failed=1, deselected=8)
    result.stdout.fnmatch_lines(["lost: for ever", "3 of 4 latencies compared (*failed before)"])


def test_gain_is_confirmed_too(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: [6400, 6400, 6400, 8000]})

    result = project.check()

    result.stdout.fnmatch_lines([f"cleared: {SLOW}: the first round said -20.0 %, *"])


def test_run_without_an_alarm_has_one_round(project: Project) -> None:
    project.save()
    project.calls()

    project.check()

    assert sum(line.startswith("session") for line in project.calls()) == 3


def test_message_gives_verdict_evidence_and_remedy(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: 8800})

    result = project.check()

    result.stdout.fnmatch_lines(
        [
            "slower by 10.0 % (device time): device time 8.00 -> 8.80 us, *(limit +0.8 %)",
            "  baseline   8.00 us [[]8.00 .. 8.00[]] device, 6 sessions, *, driver 580.159, *",
            "  current    8.80 us [[]8.80 .. 8.80[]] device, 6 sessions, *, the last 3 to *",
            "  because    the counts of its kernels, the plan, the driver and the protocol are *",
            'accept it with: pytest --rmsperf-save -k "scale_rows/vector-graph/16x1024"',
        ],
        consecutive=True,
    )


def test_command_of_the_message_accepts_the_slower_case(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: 8800})
    project.run("--rmsperf-save", "-k", f"latency and {SLOW}")

    result = project.check()

    assert result.ret == pytest.ExitCode.OK


def test_case_that_is_10_percent_faster_passes_and_is_shown(project: Project) -> None:
    project.save()
    project.script(device_ns={SLOW: 7200})

    result = project.check()

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [f"{SLOW} *-10.0 %*faster*", "4 of 4 latencies compared (3 unchanged, 1 faster)"]
    )


def test_slower_host_completion_alone_fails_too(project: Project) -> None:
    project.save()
    project.script(completion_ns={SLOW: 19500})

    result = project.check()

    result.assert_outcomes(passed=3, failed=1, deselected=8)
    result.stdout.fnmatch_lines(["slower by 50.0 % (host completion)*13.00 -> 19.50 us*"])


def test_machine_that_is_slower_as_a_whole_fails_no_case_by_its_host(project: Project) -> None:
    project.save()
    project.script(completion_ns={"scale_rows": 19500, "probe": 12500})

    result = project.check()

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 inconclusive)"])


def test_256_failures_are_exit_code_1(project: Project) -> None:
    project.write("test_many.py", MANY_TESTS)

    result = project.run("--rmsperf", "-k", "test_many", "--tb=no")

    result.assert_outcomes(failed=256, deselected=12)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
