"""The gate without pytest: what it saves, what it refuses to, and what is stale."""

from __future__ import annotations

import pytest

from fake_instrument import FakeInstrument
from gates import FIRST, SECOND, Build, ask_latency, save, settle, slow
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.judge.policy import Outcome, Policy, Status


def test_save_without_a_run_stores_nothing(gate: Build) -> None:
    one = gate(save=True)

    settle(one, FIRST)

    assert (one.complaint(), one.settings.baselines.exists()) == (None, False)


def test_only_cases_whose_tests_passed_are_stored(gate: Build) -> None:
    one = gate(save=True)
    ask_latency(one, FIRST, SECOND)

    settle(one, FIRST)

    assert list(one.store.read("nvidia-h200", "faulty")) == [FIRST.id]


@pytest.mark.parametrize("device_ns", [0, -5])
def test_save_of_an_impossible_figure_stores_nothing(gate: Build, device_ns: int) -> None:
    one = gate(FakeInstrument(device_ns={FIRST.id: (device_ns,)}), save=True)
    ask_latency(one, FIRST)

    settle(one)

    assert not one.settings.baselines.exists()


def test_what_is_saved_was_seen_in_two_rounds(gate: Build) -> None:
    instrument = FakeInstrument()
    one = gate(instrument, save=True)

    ask_latency(one, FIRST)

    assert len(instrument.sessions) == 6


@pytest.mark.parametrize(
    ("selector", "accepted"),
    [("", False), (SECOND.id, False), (FIRST.id, True), (FIRST.variant.name, True)],
)
def test_loss_is_accepted_where_the_command_line_names_the_case(
    gate: Build, selector: str, *, accepted: bool
) -> None:
    save(gate, FIRST)
    one = gate(slow(FIRST), save=True, selector=selector)

    ask_latency(one, FIRST)

    assert (one.report(FIRST).latency_message is None) is accepted


def test_loss_that_was_not_named_says_how_to_name_it(gate: Build) -> None:
    save(gate, FIRST)
    one = gate(slow(FIRST), save=True)

    ask_latency(one, FIRST)

    assert "name the case to accept it: " in (one.report(FIRST).latency_message or "")


# ---- stale cases -----------------------------------------------------------------------------


def test_stored_case_of_any_device_can_be_stale(gate: Build) -> None:
    save(gate, FIRST, SECOND)

    with pytest.raises(GateFailure, match=rf"(?s)^stale: 1 stored case .*{SECOND.id}\n"):
        gate(device=None).require_no_stale([FIRST], test="test_stale")


@pytest.mark.parametrize(("outcome", "is_told"), [(Outcome.WARN, True), (Outcome.PASS, False)])
def test_stale_case_may_only_warn_or_pass(gate: Build, outcome: Outcome, *, is_told: bool) -> None:
    save(gate, FIRST, SECOND)
    one = gate(policy=Policy(((Status.STALE, outcome),)))

    one.require_no_stale([FIRST], test="test_stale")

    assert any(line.startswith("stale: ") for line in one.summary(passed=True)) is is_told


def test_stored_cases_are_nobodys_concern_where_builds_are_compared(gate: Build) -> None:
    save(gate, FIRST, SECOND)

    gate(against="HEAD").require_no_stale([FIRST], test="test_stale")


def test_refused_save_is_told_once_and_turns_the_run_red(gate: Build) -> None:
    one = gate(save=True)
    ask_latency(one, FIRST, SECOND)

    settle(one, FIRST, not_passed=1)

    (told,) = [line for line in one.summary(passed=True) if line.startswith("NOT SAVED: ")]
    assert one.complaint() == told


def test_gpu_is_not_missed_once_something_was_saved(gate: Build) -> None:
    one = gate(require_gpu=True, save=True)
    ask_latency(one, FIRST)

    settle(one, FIRST)

    assert one.complaint() is None
