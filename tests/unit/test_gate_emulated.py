"""The gate on the emulated device: it launches, and compares and stores nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase, EmulatedMachine, Machine, SessionResult
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice, DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.errors import NotRun, RmsperfError, SettingError
from pytest_rmsperf.gate import Gate, Question
from pytest_rmsperf.measurement import Protocol
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.settings import Settings

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Say
    from pytest_rmsperf.cases import Arrays

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST = FAULTY.cases()[0]
LATENCY = frozenset({"rmsperf_latency"})
H200 = DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771)
CUDA = Machine(DeviceRecord(H200, "GPU-1", "13.0", DeviceState("580.159")), None)
EMULATED = Machine(None, "none", emulated=EmulatedMachine(H200, "g++ 12.2.0", Schedules()))
NEITHER = Machine(None, "none", why_no_emulation="no C++ compiler; install it")


@dataclass
class Fake:
    """An instrument that would time anything, be it asked to."""

    found: Machine

    def machine(self) -> Machine:
        return self.found

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:  # noqa: ARG002
        return CheckedCase(case.id)

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:  # noqa: ARG002
        blocks = (1000,) * protocol.blocks
        return SessionResult({one.id: Samples(one.id, 1, blocks, blocks) for one in cases})

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:  # noqa: ARG002
        return {problem.label: inputs["x"]}

    def close(self) -> None:
        pass


Build = Callable[..., Gate]


@pytest.fixture
def gate(default_settings: Settings, tmp_path: Path) -> Build:
    """Makes a gate on a machine: `gate(EMULATED, save=True)`."""

    def build(machine: Machine, **changes: Any) -> Gate:
        return Gate(replace(default_settings, sessions=1, **changes), Fake(machine), tmp_path)

    return build


def ask_latency(gate: Gate) -> None:
    gate.run([Question(FIRST, LATENCY)], lambda _: None)


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
    saving.save([FIRST])
    one = gate(EMULATED)

    ask_latency(one)

    assert one.report(FIRST).verdict is None
    assert one.summary()[-1] == "0 of 1 latencies compared: no CUDA device (none)"


def test_emulated_run_never_enters_a_baseline(gate: Build) -> None:
    one = gate(EMULATED, save=True)
    ask_latency(one)

    with pytest.raises(RmsperfError, match=r"^no CUDA device .* run it on the GPU"):
        one.save([FIRST])

    assert not one.settings.baselines.exists()


def test_emulated_device_that_was_asked_for_and_cannot_be_had_is_an_error(gate: Build) -> None:
    one = gate(NEITHER, device=DeviceChoice.EMULATED)

    with pytest.raises(SettingError, match=r"^--rmsperf-device=emulated: no C.. compiler; install"):
        one.machine()
