"""What a test can ask of a case: an answer, a failure with its message, or that it was not run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision
from pytest_rmsperf.checks import CheckedCase, Failure, Stage
from pytest_rmsperf.errors import GateFailure, NotRun
from pytest_rmsperf.judge.cost import ArchVerdict, CostVerdict
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.report.records import CaseReport, Finding
from pytest_rmsperf.residency import Residency

RIGHT = Numerics(
    (Comparison("ones", "y", Precision.FLOAT64, 0.0, (0,), 1.0, 1.0, 1e-5, 0, 1, None),), 1, None
)
BEFORE_LAUNCH = (Stage.COMPILE, Stage.PLAN, Stage.RESIDENCY)


@pytest.fixture
def sound(residency: Callable[..., Residency], judged: Callable[..., Verdict]) -> CaseReport:
    """A case that passed every stage and did not change."""
    checked = CheckedCase(
        "softmax/online-graph/16x1024",
        residency=residency(4, KernelLaunch("row", 8, 256, ())),
        numerics=RIGHT,
    )
    return CaseReport(checked, None, judged((8000,) * 3, (8000,) * 3), None, None, None)


def failed_at(report: CaseReport, stage: Stage) -> CaseReport:
    return replace(report, failure=Failure(stage, f"failed to {stage.value}"), verdict=None)


def ask(require: Callable[[], object]) -> str:
    """Return the answer in one word, or the message with which it was refused."""
    try:
        require()
    except (GateFailure, NotRun) as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return "answered"


def answers(report: CaseReport) -> list[str]:
    """What is said of residency, numerics and latency, in this order."""
    return [
        ask(report.residency().require),
        ask(report.numerics().require),
        ask(report.latency().require),
    ]


def test_a_value_is_returned() -> None:
    assert Finding(7).require() == 7


@pytest.mark.parametrize("value", [0, "", False, ()])
def test_a_value_that_is_falsy_is_a_value(value: object) -> None:
    assert Finding(value).require() is value


def test_a_failure_fails_the_gate_with_its_whole_message() -> None:
    with pytest.raises(GateFailure, match=r"^slower by 9 %\nremedy$"):
        Finding(None, failure="slower by 9 %\nremedy").require()


def test_a_failure_outweighs_a_value() -> None:
    with pytest.raises(GateFailure):
        Finding(7, failure="slower").require()


def test_a_failure_outweighs_absence() -> None:
    with pytest.raises(GateFailure):
        Finding(None, failure="does not compile", not_run="no CUDA device").require()


def test_absence_is_not_run_and_says_why() -> None:
    with pytest.raises(NotRun, match=r"^no CUDA device$"):
        Finding(None, not_run="no CUDA device").require()


def test_absence_without_a_reason_is_never_a_value() -> None:
    with pytest.raises(NotRun, match=r"^not run$"):
        Finding(None).require()


def test_a_sound_case_answers_everything(sound: CaseReport) -> None:
    assert [
        sound.residency().require(),
        sound.numerics().require(),
        sound.latency().require(),
    ] == [sound.checked.residency, RIGHT, sound.verdict]


@pytest.mark.parametrize("stage", BEFORE_LAUNCH)
def test_a_case_that_failed_before_its_launch_fails_every_question(
    sound: CaseReport, stage: Stage
) -> None:
    report = failed_at(sound, stage)

    assert set(answers(report)) == {f"GateFailure: failed to {stage.value}"}


def test_wrong_numerics_leave_residency_and_fail_the_rest(sound: CaseReport) -> None:
    report = failed_at(sound, Stage.NUMERICS)

    assert answers(report) == [
        "answered",
        "GateFailure: failed to numerics",
        "GateFailure: failed to numerics",
    ]


def test_a_case_lost_while_timed_fails_its_latency_alone(sound: CaseReport) -> None:
    report = failed_at(sound, Stage.TIME)

    assert answers(report) == ["answered", "answered", "GateFailure: failed to time"]


def test_a_failing_verdict_fails_the_latency_with_its_message(sound: CaseReport) -> None:
    assert ask(replace(sound, latency_message="slower").latency().require) == "GateFailure: slower"


def test_without_a_device_only_residency_is_answered(sound: CaseReport) -> None:
    report = CaseReport(
        replace(sound.checked, numerics=None),
        failure=None,
        verdict=None,
        latency_message=None,
        not_timed="no CUDA device",
        not_launched="no device at all",
    )

    assert answers(report) == ["answered", "NotRun: no device at all", "NotRun: no CUDA device"]


def test_on_the_emulated_device_all_but_the_latency_is_answered(sound: CaseReport) -> None:
    report = replace(sound, verdict=None, not_timed="no CUDA device")

    assert answers(report) == ["answered", "answered", "NotRun: no CUDA device"]


def test_numerics_that_nobody_asked_the_emulated_device_for_are_no_want_of_a_device(
    sound: CaseReport,
) -> None:
    unasked = replace(sound, checked=replace(sound.checked, numerics=None), not_timed="no device")

    assert ask(unasked.numerics().require).startswith("GateFailure: not measured: no test of ")


def test_without_a_device_a_case_that_does_not_compile_still_fails(sound: CaseReport) -> None:
    report = replace(failed_at(sound, Stage.COMPILE), not_timed="no CUDA device")

    assert ask(report.latency().require) == "GateFailure: failed to compile"


# ---- static costs ----------------------------------------------------------------------------

UNCHANGED = CostVerdict("a", (ArchVerdict("sm_89", Status.UNCHANGED, (), (), None, None),), ())


@pytest.mark.parametrize("stage", [None, Stage.NUMERICS, Stage.TIME])
def test_cost_that_is_known_is_answered_whatever_a_launch_came_to(
    sound: CaseReport, stage: Stage | None
) -> None:
    report = sound if stage is None else failed_at(sound, stage)

    assert replace(report, cost=UNCHANGED).static().require() == UNCHANGED


def test_cost_fails_with_its_message(sound: CaseReport) -> None:
    report = replace(sound, cost=UNCHANGED, cost_message="costlier")

    assert ask(report.static().require) == "GateFailure: costlier"


@pytest.mark.parametrize("stage", BEFORE_LAUNCH)
def test_case_that_failed_before_its_cost_was_known_fails_it(
    sound: CaseReport, stage: Stage
) -> None:
    assert ask(failed_at(sound, stage).static().require) == f"GateFailure: failed to {stage.value}"


def test_cost_on_no_device_is_not_run(sound: CaseReport) -> None:
    assert ask(sound.static().require).startswith("NotRun: none of the devices of interest")
