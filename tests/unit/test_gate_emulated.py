"""The gate on the emulated device: it launches, and compares and stores nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_instrument import CUDA, H200, FakeInstrument
from pytest_rmsperf.accounting import Ran
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import NotRun, SettingError
from pytest_rmsperf.gate import Gate
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.questions import Question
from pytest_rmsperf.settings import Settings

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST = FAULTY.cases()[0]
LATENCY = frozenset({"rmsperf_latency"})
EMULATED = Machine(None, "none", emulated=EmulatedMachine(H200.identity, "g++ 12", Schedules()))
NEITHER = Machine(None, "none", why_no_emulation="no C++ compiler; install it")

Build = Callable[..., Gate]


@pytest.fixture
def gate(default_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Makes a gate on a machine, whose instrument would time anything: `gate(EMULATED)`."""
    monkeypatch.setenv("RMSPERF_COMMIT", "1a2b3c4")  # the folder is in no git repository
    protocol = Protocol(blocks=2, completions_per_block=1)

    def build(machine: Machine, **changes: Any) -> Gate:
        settings = replace(default_settings, protocol=protocol, **changes)
        return Gate(settings, FakeInstrument(machine), tmp_path)

    return build


def ask_latency(gate: Gate) -> None:
    gate.run([Question(FIRST, LATENCY)], lambda _: None)


def settle(gate: Gate) -> None:
    gate.settle(Ran(passed=frozenset({FIRST.id})))


def test_launch_on_the_emulated_device_is_of_the_very_problem_that_is_asked_for(
    gate: Build,
) -> None:
    inputs = FAULTY.input_sets[0].make(FIRST.problem)

    found = gate(EMULATED).launch(FIRST, inputs)

    assert (list(found.value or ()), found.not_run) == (["3"], None)


def test_emulated_device_is_no_device_that_could_be_required(gate: Build) -> None:
    with pytest.raises(NotRun, match=r"^no CUDA device \(none\)$"):
        gate(EMULATED).device().require()


def test_emulated_run_is_never_compared_though_there_is_a_baseline(gate: Build) -> None:
    saving = gate(CUDA, save=True)
    ask_latency(saving)
    settle(saving)
    one = gate(EMULATED)

    ask_latency(one)

    assert one.report(FIRST).verdict is None
    assert one.summary(passed=True)[-1] == "0 of 1 latencies compared: no CUDA device (none)"


def test_emulated_run_never_enters_a_baseline(gate: Build) -> None:
    one = gate(EMULATED, save=True)
    ask_latency(one)

    settle(one)

    assert (one.complaint() or "").startswith("NOT SAVED: no CUDA device (none); run it on the GPU")
    assert not one.settings.baselines.exists()


def test_emulated_device_that_was_asked_for_and_cannot_be_had_is_an_error(gate: Build) -> None:
    one = gate(NEITHER, device=DeviceChoice.EMULATED)

    with pytest.raises(SettingError, match=r"^--rmsperf-device=emulated: no C.. compiler; install"):
        one.machine()
