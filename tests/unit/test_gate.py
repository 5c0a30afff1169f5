"""The gate without pytest: what it asks for, and what it says before and after a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fake_instrument import CUDA, H200, FakeInstrument
from gates import FAULTY, FIRST, SECOND, Build, ask_latency, save, settle, short, slow
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import Failure, Stage
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice, DeviceRecord, Tenant
from pytest_rmsperf.equipment import default_instrument
from pytest_rmsperf.errors import GateFailure, NotRun, SettingError
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.judge.ordering import Ordering
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.questions import Question
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.supervisor import Deadlines

ORDERING = Ordering(FIRST, SECOND, ratio=2)


def test_other_processes_on_the_device_are_a_warning_in_the_header(gate: Build) -> None:
    busy = replace(H200, state=replace(H200.state, other_processes=(Tenant(17), Tenant(18))))

    assert gate(device=busy).header()[-1] == (
        "rmsperf WARNING: others are on the device: a process whose name is hidden (pid 17), "
        "a process whose name is hidden (pid 18)"
    )


def test_header_says_that_two_cuda_installs_are_mixed(gate: Build) -> None:
    warnings = ("two CUDA installs are mixed: cccl headers of CUDA 12.9",)
    mixed = FakeInstrument(replace(CUDA, warnings=warnings))

    assert gate(mixed).header()[-1].startswith("rmsperf WARNING: two CUDA installs are mixed")


def test_device_alone_is_no_warning(gate: Build) -> None:
    alone = replace(H200, state=replace(H200.state, other_processes=()))

    assert not [line for line in gate(device=alone).header() if "WARNING" in line]


@pytest.mark.parametrize(
    ("expected", "found"),
    [("NVIDIA H200 NVL", "NVIDIA H200"), ("NVIDIA H200", "NVIDIA H200 NVL")],
)
def test_expected_name_must_match_as_a_whole(gate: Build, expected: str, found: str) -> None:
    device = replace(H200, identity=replace(H200.identity, name=found))

    with pytest.raises(SettingError, match=rf"^--rmsperf-expect-gpu={expected}: .* has {found}; "):
        gate(device=device, expect_gpu=expected).machine()


def test_case_that_no_test_asked_for_is_refused_by_name(gate: Build) -> None:
    with pytest.raises(GateFailure, match=rf"^not measured: no collected test asks for {FIRST.id}"):
        gate().report(FIRST).latency().require()


def test_latency_without_a_device_is_not_run_for_a_reason(gate: Build) -> None:
    one = gate(device=None)
    ask_latency(one, FIRST)

    with pytest.raises(NotRun, match=r"^no CUDA device \(none\)$"):
        one.report(FIRST).latency().require()


def test_launch_without_a_device_is_not_run_for_a_reason(gate: Build) -> None:
    with pytest.raises(NotRun, match="no CUDA device"):
        gate(device=None).launch(FIRST, {}).require()


def test_launch_is_on_the_cases_problem_unless_another_is_given(gate: Build) -> None:
    inputs = FAULTY.input_sets[0].make(FIRST.problem)
    other = FIRST.problem.resized(rows=5)

    found = [gate().launch(FIRST, inputs, problem=one).require() for one in (None, other)]

    assert [list(one) for one in found] == [["3"], ["5"]]


def test_completion_samples_of_all_sessions_are_in_order(gate: Build) -> None:
    one = gate(FakeInstrument(completion_ns={FIRST.id: (10_000, 20_000, 30_000)}))
    ask_latency(one, FIRST)

    assert one.completions_ns(FIRST.id) == (10_000, 10_000, 20_000, 20_000, 30_000, 30_000)


def test_summary_before_any_run_counts_nothing(gate: Build) -> None:
    assert gate().summary(passed=True) == ["0 of 0 latencies compared"]


# ---- what fails a test -----------------------------------------------------------------------


def test_loss_that_two_rounds_saw_fails(gate: Build) -> None:
    save(gate, FIRST)
    one = gate(slow(FIRST))
    ask_latency(one, FIRST)

    with pytest.raises(GateFailure, match=r"(?s)^slower by 10.0 % .*the last 3 to confirm"):
        one.report(FIRST).latency().require()


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("status", [Status.SLOWER, Status.UNCHANGED])
def test_policy_says_whether_a_verdict_fails(gate: Build, status: Status, outcome: Outcome) -> None:
    save(gate, FIRST)
    instrument = slow(FIRST) if status is Status.SLOWER else None
    one = gate(instrument, policy=Policy(((status, outcome),)))

    ask_latency(one, FIRST)

    message = one.report(FIRST).latency_message
    assert (message is not None) is (outcome is Outcome.FAIL)


def test_waived_case_passes_whatever_its_verdict(gate: Build) -> None:
    one = gate()

    ask_latency(one, FIRST, waive="new")

    assert one.report(FIRST).latency().require().status is Status.MISSING


def test_thresholds_of_a_marker_go_before_those_in_force(gate: Build) -> None:
    save(gate, FIRST)
    one = gate(slow(FIRST))

    ask_latency(one, FIRST, threshold=11)

    assert one.report(FIRST).latency().require().status is Status.UNCHANGED


@pytest.mark.parametrize(("ratio", "holds"), [(2.4, True), (2.6, False)])
def test_ordering_is_answered(gate: Build, ratio: float, *, holds: bool) -> None:
    stated = replace(ORDERING, ratio=ratio)
    one = gate(FakeInstrument(completion_ns={SECOND.id: (50_000,)}))
    one.run([Question(None, frozenset(), stated)], lambda _: None)

    found = one.ordered(stated)

    assert (found.failure is None) is holds


def test_ordering_of_a_case_that_failed_fails_with_its_message(gate: Build) -> None:
    failure = Failure(Stage.COMPILE, "does not compile: a.cu")
    one = gate(FakeInstrument(refused={SECOND.id: failure}))
    one.run([Question(None, frozenset(), ORDERING)], lambda _: None)

    with pytest.raises(GateFailure, match=r"^does not compile: a\.cu$"):
        one.ordered(ORDERING).require()


def test_ordering_without_a_device_is_not_run_for_a_reason(gate: Build) -> None:
    one = gate(device=None)
    one.run([Question(None, frozenset(), ORDERING)], lambda _: None)

    with pytest.raises(NotRun, match=r"^no CUDA device \(none\)$"):
        one.ordered(ORDERING).require()


def test_ordering_that_nobody_asked_for_fails_on_a_device(gate: Build) -> None:
    one = gate()
    ask_latency(one, FIRST, SECOND)

    assert (one.ordered(ORDERING).failure or "").startswith("not measured: no session timed both")


# ---- what turns a run red --------------------------------------------------------------------


@pytest.mark.parametrize("device", [H200, None])
def test_gpu_that_was_asked_for_is_missed_when_nothing_was_compared(
    gate: Build, device: DeviceRecord | None
) -> None:
    one = gate(device=device, require_gpu=True)
    ask_latency(one, FIRST)

    assert one.summary(passed=True)[-1] == (
        "failed: nothing was compared, and --rmsperf-require-gpu asks for a GPU; run it on one, "
        "with baselines that were stored there: pytest --rmsperf-save"
    )


def test_gpu_that_was_not_asked_for_is_never_missed(gate: Build) -> None:
    one = gate(device=None)
    ask_latency(one, FIRST)

    assert one.complaint() is None


def test_gpu_is_not_missed_by_a_run_that_asked_for_no_latency(gate: Build) -> None:
    one = gate(device=None, require_gpu=True)
    one.run([Question(FIRST, frozenset({"rmsperf_residency"}))], lambda _: None)

    assert one.complaint() is None


@pytest.mark.parametrize(("passed", "is_red"), [([FIRST], True), ([FIRST, SECOND], False)])
def test_case_that_no_passing_test_stands_for_turns_a_run_red(
    gate: Build, passed: Sequence[Case], *, is_red: bool
) -> None:
    save(gate, FIRST, SECOND)
    one = gate()
    ask_latency(one, FIRST, SECOND)

    settle(one, *passed)

    assert (one.complaint() is not None) is is_red


def test_run_that_was_never_settled_is_red(gate: Build) -> None:
    save(gate, FIRST)
    one = gate()

    ask_latency(one, FIRST)

    assert (one.complaint() or "").startswith("failed: 1 of 1 latencies were neither compared nor")


def test_complaint_is_not_told_of_a_run_that_is_red_anyway(gate: Build) -> None:
    one = gate()
    ask_latency(one, FIRST)

    assert not one.summary(passed=False)[-1].startswith("failed")


# ---- the instrument --------------------------------------------------------------------------


def test_closing_the_gate_closes_the_instrument(gate: Build) -> None:
    instrument = FakeInstrument()

    gate(instrument).close()

    assert instrument.closed


def test_default_instrument_has_the_settings_of_workers(default_settings: Settings) -> None:
    settings = short(default_settings)

    instrument = default_instrument(settings, lambda _: None)

    assert isinstance(instrument, WorkerInstrument)
    assert instrument._settings == WorkerSettings(
        "sm_90", DeviceChoice.AUTO, Schedules(0, 4), devices=settings.devices
    )
    assert instrument._deadlines == Deadlines(step_s=7.0)
