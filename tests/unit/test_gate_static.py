"""The gate without pytest: static costs, with a device and without one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fake_instrument import CUDA, NO_DEVICE
from gates import FIRST, LATENCY, SECOND, Build, settle
from pytest_rmsperf.accounting import Ran
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import Failure, Machine, Stage
from pytest_rmsperf.errors import BaselineError, GateFailure, NotRun
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.questions import Question
from static_gates import STATIC, ask, found, instrument, save
from static_instrument import StaticInstrument

# ---- what fails a test -----------------------------------------------------------------------


def test_cost_that_is_as_stored_passes(gate: Build) -> None:
    save(gate, FIRST)

    one = ask(gate(instrument(), static=True), FIRST)

    assert one.report(FIRST).static().require().status is Status.UNCHANGED


@pytest.mark.parametrize("machine", [CUDA, NO_DEVICE], ids=["device", "none"])
def test_lost_block_per_sm_fails_with_and_without_a_device(gate: Build, machine: Machine) -> None:
    save(gate, FIRST, SECOND)

    one = ask(gate(instrument(FIRST, machine=machine)), FIRST, SECOND)

    with pytest.raises(GateFailure, match=r"^costlier: NVIDIA H100 80GB HBM3: 6 -> 5 blocks per"):
        one.report(FIRST).static().require()
    assert one.report(SECOND).static().failure is None


def test_cost_that_nothing_is_stored_of_fails_with_the_command_that_stores_it(gate: Build) -> None:
    one = ask(gate(instrument(), static=True), FIRST)

    with pytest.raises(GateFailure, match=rf'(?s)^missing: .*save -k "{FIRST.id}"$'):
        one.report(FIRST).static().require()


def test_policy_says_whether_a_static_verdict_fails(gate: Build) -> None:
    lenient = Policy(((Status.MISSING, Outcome.WARN),))

    one = ask(gate(instrument(), static=True, policy=lenient), FIRST)

    assert one.report(FIRST).static().require().status is Status.MISSING


def test_headroom_may_shrink_by_the_share_in_force(gate: Build) -> None:
    save(gate, FIRST)
    more_blocks = StaticInstrument(static={FIRST.id: found(FIRST, blocks=520)})

    statuses = [
        ask(gate(more_blocks, static=True, headroom_loss=loss), FIRST).report(FIRST).cost
        for loss in (0.10, 0.01)
    ]

    assert [one and one.status for one in statuses] == [Status.CHANGED, Status.COSTLIER]


def test_case_that_failed_before_its_cost_was_known_fails_with_its_message(gate: Build) -> None:
    refused = {FIRST.id: Failure(Stage.COMPILE, "does not compile: a.cu")}
    one = ask(gate(StaticInstrument(refused=refused), static=True), FIRST)

    with pytest.raises(GateFailure, match=r"^does not compile: a\.cu$"):
        one.report(FIRST).static().require()


def test_case_that_no_device_of_interest_is_meant_for_is_not_run(gate: Build) -> None:
    one = ask(gate(StaticInstrument(), static=True), FIRST)

    with pytest.raises(NotRun, match=r"^none of the devices of interest is one that it is meant"):
        one.report(FIRST).static().require()


def test_file_that_cannot_be_read_stops_the_run_before_anything_is_checked(gate: Build) -> None:
    save(gate, FIRST)
    path = gate().static_store.path("sm_90", "faulty")
    path.write_text("{", encoding="utf-8")
    asked = instrument()

    with pytest.raises(BaselineError, match=r"^cannot read baseline .*faulty\.static\.json"):
        ask(gate(asked, static=True), FIRST)

    assert asked.asked == []


# ---- what turns a run red --------------------------------------------------------------------


@pytest.mark.parametrize(("passed", "is_red"), [([FIRST], True), ([FIRST, SECOND], False)])
def test_cost_that_no_passing_test_stands_for_turns_a_run_red(
    gate: Build, passed: Sequence[Case], *, is_red: bool
) -> None:
    save(gate, FIRST, SECOND)
    one = ask(gate(instrument(), static=True), FIRST, SECOND)

    settle(one, *passed)

    assert (one.complaint() is not None) is is_red


@pytest.mark.parametrize("machine", [CUDA, NO_DEVICE], ids=["device", "none"])
def test_loss_that_no_test_asks_about_turns_a_run_red(gate: Build, machine: Machine) -> None:
    save(gate, FIRST)
    residency = frozenset({"rmsperf_residency"})
    one = ask(gate(instrument(FIRST, machine=machine)), FIRST, fixtures=residency)

    settle(one, FIRST)

    assert (one.complaint() or "").startswith(f"failed: {FIRST.id} is costlier: ")


@pytest.mark.parametrize(("deselected", "is_red"), [([FIRST.id], False), ([SECOND.id], True)])
def test_loss_whose_test_the_selection_left_out_is_told_and_does_not_turn_it_red(
    gate: Build, deselected: list[str], *, is_red: bool
) -> None:
    save(gate, FIRST)
    one = ask(gate(instrument(FIRST)), FIRST, fixtures=frozenset({"rmsperf_residency"}))

    one.settle(Ran(static_deselected=frozenset(deselected)))

    told = [line for line in one.summary(passed=True) if line.startswith(f"{FIRST.id}: costlier")]
    assert (one.complaint() is not None, told == []) == (is_red, is_red)


def test_every_complaint_is_told(gate: Build) -> None:
    save(gate, FIRST, SECOND)
    one = gate(instrument(FIRST, machine=CUDA), policy=Policy(((Status.MISSING, Outcome.WARN),)))
    one.run([Question(FIRST, LATENCY), Question(SECOND, STATIC)], lambda _: None)

    settle(one, FIRST)

    complaint = one.complaint() or ""
    starts = ("failed: 0 of 1 latencies", "failed: 1 of 1 static", f"failed: {FIRST.id} is costl")
    assert [line.startswith(s) for line, s in zip(complaint.splitlines(), starts, strict=True)] == [
        True
    ] * 3


# ---- what is told ----------------------------------------------------------------------------


def test_static_run_tells_of_costs_alone(gate: Build) -> None:
    save(gate, FIRST)
    one = ask(gate(instrument(), static=True), FIRST)

    one.settle(Ran(frozenset({FIRST.id}), frozenset({FIRST.id}), beyond_static=3))

    tightest, *rest = one.summary(passed=True)
    assert tightest.startswith(f"static: 1 case on 1 device; tightest: {FIRST.id} on NVIDIA H100")
    assert rest == [
        "static only: 3 tests that launch or time something were deselected",
        "1 of 1 static costs compared (1 unchanged) on 1 device, sm_90",
    ]


def test_other_run_tells_of_costs_before_its_latencies(gate: Build) -> None:
    save(gate, FIRST)

    lines = ask(gate(instrument(machine=CUDA)), FIRST).summary(passed=False)

    assert lines[0].startswith("case  ")
    assert lines[-2:] == [
        "1 of 1 static costs compared (1 unchanged) on 1 device, sm_90",
        "0 of 0 latencies compared",
    ]


@pytest.mark.parametrize("static", [True, False])
def test_details_show_the_table_of_devices(gate: Build, *, static: bool) -> None:
    one = ask(gate(instrument(), static=static, details=True), FIRST)

    assert [line for line in one.summary(passed=False) if line.startswith("  NVIDIA H100 80GB")]


def test_static_run_before_it_ran_counts_nothing(gate: Build) -> None:
    assert gate(static=True).summary(passed=True) == [
        "0 of 0 static costs compared on 1 device, sm_90"
    ]


def test_header_of_a_static_run_names_the_devices_of_interest(gate: Build) -> None:
    lines = gate(static=True).header()

    assert lines[0].startswith("rmsperf device: none is looked for: ")
    assert lines[2] == "rmsperf static: 1 device, sm_90: h100-sxm"
