"""The gate without pytest: which static costs it saves, which it refuses, and which are stale."""

from __future__ import annotations

import pytest

from costs import H100
from fake_instrument import CUDA
from gates import FIRST, LATENCY, SECOND, Build, settle
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.judge.policy import Status
from static_gates import STATIC, ask, found, instrument, save
from static_instrument import StaticInstrument

UNFIT = (H100, f"does not fit {H100}: 4 blocks too many\nmake it smaller")


# ---- saving ----------------------------------------------------------------------------------


def test_static_save_stores_costs_of_passed_cases_and_no_latency(gate: Build) -> None:
    one = ask(gate(instrument(), static=True, save=True), FIRST, SECOND)

    settle(one, FIRST)

    assert list(one.static_store.read("sm_90", "faulty")) == [FIRST.id]
    assert one.store.devices("faulty") == ()
    assert (one.complaint() or "").startswith(f"failed: 1 of 2 cases were not saved: {SECOND.id}")


def test_save_on_a_device_stores_latencies_and_costs(gate: Build) -> None:
    one = ask(gate(instrument(machine=CUDA), save=True), FIRST, fixtures=LATENCY | STATIC)

    settle(one, FIRST)

    assert list(one.static_store.read("sm_90", "faulty")) == [FIRST.id]
    assert list(one.store.read("nvidia-h200", "faulty")) == [FIRST.id]
    assert one.complaint() is None


@pytest.mark.parametrize(
    ("selector", "accepted"),
    [("", False), (SECOND.id, False), (FIRST.id, True), (FIRST.variant.name, True)],
)
def test_costlier_case_is_accepted_where_the_command_line_names_it(
    gate: Build, selector: str, *, accepted: bool
) -> None:
    save(gate, FIRST)
    one = gate(instrument(FIRST), static=True, save=True, selector=selector)

    ask(one, FIRST)

    assert (one.report(FIRST).cost_message is None) is accepted


def test_changed_and_missing_costs_pass_where_they_are_to_be_saved(gate: Build) -> None:
    save(gate, FIRST)
    static = {FIRST.id: found(FIRST, blocks=500), SECOND.id: found(SECOND)}
    one = ask(gate(StaticInstrument(static=static), static=True, save=True), FIRST, SECOND)

    passed = [one.report(case).static().require().status for case in (FIRST, SECOND)]

    assert passed == [Status.CHANGED, Status.MISSING]


def test_violated_case_is_never_accepted(gate: Build) -> None:
    (check,) = found(FIRST)
    static = {FIRST.id: (StaticCheck("sm_90", check.cost, violations=(UNFIT,)),)}
    one = gate(
        StaticInstrument(static=static),
        static=True,
        save=True,
        accept_slower=True,
        selector=FIRST.id,
    )

    with pytest.raises(GateFailure, match=r"^violated: NVIDIA H100 80GB HBM3: does not fit: 4"):
        ask(one, FIRST).report(FIRST).static().require()


def test_refused_static_save_writes_nothing_and_turns_the_run_red(gate: Build) -> None:
    save(gate, FIRST)
    before = gate().static_store.path("sm_90", "faulty").read_bytes()
    one = ask(gate(instrument(FIRST), static=True, save=True), FIRST, SECOND)

    settle(one, SECOND, not_passed=1)

    assert (one.complaint() or "").startswith("NOT SAVED: 1 test did not pass\n")
    assert one.static_store.path("sm_90", "faulty").read_bytes() == before


def test_static_save_that_was_broken_off_names_its_command(gate: Build) -> None:
    one = ask(gate(instrument(), static=True, save=True), FIRST)

    one.abandon()

    assert (one.complaint() or "").endswith("run it again: pytest --rmsperf-static --rmsperf-save")


# ---- stale cases -----------------------------------------------------------------------------


def test_stored_cost_of_any_arch_can_be_stale(gate: Build) -> None:
    save(gate, FIRST, SECOND)

    with pytest.raises(GateFailure, match=rf"(?s)^stale: 1 stored case .*static.json: {SECOND.id}"):
        gate(static=True).require_no_stale([FIRST], test="test_stale")


def test_static_save_removes_stale_costs(gate: Build) -> None:
    save(gate, FIRST, SECOND)
    one = gate(static=True, save=True)

    one.require_no_stale([FIRST], test="test_stale")

    assert list(one.static_store.read("sm_90", "faulty")) == [FIRST.id]
    assert one.complaint() is None
