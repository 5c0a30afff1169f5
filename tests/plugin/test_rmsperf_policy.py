"""--rmsperf-policy: what each verdict does to a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
VERDICTS = ["unchanged", "faster", "slower", "inconclusive", "missing", "incomparable", "invalid"]
OUTCOMES = ["fail", "warn", "pass"]
OTHER_SAMPLES = ("--rmsperf-samples=14",)
NO_STALE = """
import pytest
from test_scale_rows import OPERATOR

@pytest.mark.rmsperf
def test_stale(rmsperf_no_stale):
    rmsperf_no_stale(OPERATOR.cases()[:3])
"""


def bring_about(project: Project, verdict: str) -> tuple[str, ...]:
    """Prepare the project so that CASE gets this verdict; return arguments that it takes."""
    project.save(*(["-k", "latency and not vector-graph"] if verdict == "missing" else []))
    times: dict[str, int | list[int]] = {
        "faster": 7200,
        "slower": 8800,
        "inconclusive": [7000, 8000, 9000],
        "invalid": 400,
    }
    if verdict in times:
        project.script(device_ns={CASE: times[verdict]})
    return OTHER_SAMPLES if verdict == "incomparable" else ()


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_verdict_has_the_outcome_that_the_policy_gives_it(
    project: Project, verdict: str, outcome: str
) -> None:
    arguments = bring_about(project, verdict)

    result = project.run(
        "--rmsperf",
        f"--rmsperf-policy={verdict}={outcome}",
        "-k",
        f"latency and {CASE}",
        *arguments,
    )

    fails = outcome == "fail"
    result.assert_outcomes(passed=not fails, failed=fails, deselected=11)
    warned = [one for one in result.outlines if one.startswith(f"{CASE}: {verdict}")]
    # A gain is told whatever the policy: what nobody claims can be lost again.
    told = outcome == "warn" or verdict == "faster"
    assert bool(warned) is told


@pytest.mark.parametrize(
    ("outcome", "failed", "told"), [("fail", 1, True), ("warn", 0, True), ("pass", 0, False)]
)
def test_stale_case_has_the_outcome_that_the_policy_gives_it(
    project: Project, outcome: str, failed: int, *, told: bool
) -> None:
    project.save()
    project.write("test_stale.py", NO_STALE)

    result = project.run("--rmsperf", f"--rmsperf-policy=stale={outcome}", "test_stale.py")

    result.assert_outcomes(passed=1 - failed, failed=failed)
    assert any(one.startswith("stale: 1 stored case") for one in result.outlines) is told


def test_policy_that_lets_every_case_pass_uncompared_is_red_all_the_same(project: Project) -> None:
    result = project.check("--rmsperf-policy=missing=warn")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["failed: 0 of 4 latencies compared: the policy lets every *"])


def test_case_that_may_be_missing_passes_beside_one_that_was_compared(project: Project) -> None:
    project.save("-k", "latency and scalar")

    result = project.check("--rmsperf-policy=missing=warn")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["2 of 4 latencies compared (2 unchanged, 2 missing, 2 waived)"])


def test_header_says_what_differs_from_the_default(project: Project) -> None:
    result = project.run(
        "--rmsperf", "--rmsperf-policy=missing=warn,slower=fail", "-k", "residency"
    )

    result.stdout.fnmatch_lines(["rmsperf: *, policy missing=warn"])


def test_ini_key_gives_the_policy(project: Project) -> None:
    project.save()
    project.ini("rmsperf_policy = slower=warn")
    project.script(device_ns={CASE: 8800})

    assert project.check().ret == pytest.ExitCode.OK


@pytest.mark.parametrize("value", ["slower", "slower=", "slow=fail", "slower=skip", "slower=fail,"])
def test_bad_entry_is_a_usage_error_with_the_known_words(project: Project, value: str) -> None:
    result = project.run("--rmsperf", f"--rmsperf-policy={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --rmsperf-policy={value}: * is not VERDICT=OUTCOME; verdicts are unchanged, *"]
    )
