"""The gate without pytest: what it asks for, and what it says before and after a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase, Machine, SessionResult
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice, DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.errors import GateFailure, NotRun, SettingError
from pytest_rmsperf.gate import Gate, Question, default_instrument, select
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.measurement import Protocol
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.supervisor import Deadlines

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Say
    from pytest_rmsperf.cases import Arrays

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
H200 = DeviceRecord(
    DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771), "GPU-1", "13.0", DeviceState("580.159")
)
LATENCY = frozenset({"rmsperf_report", "rmsperf_latency"})


@dataclass
class Fake:
    """An instrument that finds every case sound, and its device time to be 1 us."""

    device: DeviceRecord | None = H200
    device_ns: int = 1000
    closed: bool = False
    warnings: tuple[str, ...] = ()

    def machine(self) -> Machine:
        why = None if self.device else "none"
        return Machine(self.device, why, (("nvrtc", "13.0.88"),), warnings=self.warnings)

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:  # noqa: ARG002
        return CheckedCase(case.id)

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        say("working")
        blocks = (self.device_ns,) * protocol.blocks
        return SessionResult({one.id: Samples(one.id, 1, blocks, blocks) for one in cases})

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:  # noqa: ARG002
        return {problem.label: inputs["x"]}

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def settings(default_settings: Settings) -> Settings:
    return replace(default_settings, sessions=1, samples=2, deadline_s=7.0)


Build = Callable[..., Gate]


@pytest.fixture
def gate(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Makes a gate over a fake instrument: `gate(device=None, require_gpu=True)`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def build(
        instrument: Fake | None = None, *, device: DeviceRecord | None = H200, **changes: object
    ) -> Gate:
        return Gate(replace(settings, **changes), instrument or Fake(device), tmp_path)  # type: ignore[arg-type]

    return build


def ask_latency(gate: Gate, *cases: Case) -> None:
    gate.run([Question(case, LATENCY) for case in cases], lambda _: None)


def test_selection_holds_each_case_once_in_the_order_of_the_tests() -> None:
    questions = [Question(one, frozenset()) for one in (SECOND, FIRST, SECOND)]

    assert select(questions).cases == (SECOND, FIRST)


@pytest.mark.parametrize(
    ("fixture", "numerics", "latency"),
    [
        ("rmsperf_residency", False, False),
        ("rmsperf_numerics", True, False),
        ("rmsperf_latency", False, True),
    ],
)
def test_selection_asks_for_what_the_fixtures_need(
    fixture: str, *, numerics: bool, latency: bool
) -> None:
    found = select([Question(FIRST, frozenset({fixture}))])

    assert (bool(found.with_numerics), bool(found.with_latency)) == (numerics, latency)


def test_selection_adds_up_what_several_tests_ask_of_a_case() -> None:
    questions = [Question(FIRST, frozenset({one})) for one in ("rmsperf_latency", "rmsperf_device")]

    assert select(questions).with_latency == {FIRST.id}


def test_other_processes_on_the_device_are_a_warning_in_the_header(gate: Build) -> None:
    busy = replace(H200, state=replace(H200.state, other_processes=(17, 18)))

    assert gate(device=busy).header()[-1] == (
        "rmsperf WARNING: 2 other processes are on the device"
    )


def test_header_says_that_two_cuda_installs_are_mixed(gate: Build) -> None:
    mixed = Fake(warnings=("two CUDA installs are mixed: cccl headers of CUDA 12.9",))

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
    one = gate(sessions=2)
    ask_latency(one, FIRST)

    assert one.completions_ns(FIRST.id) == (1000,) * 4


def test_summary_before_any_run_counts_nothing(gate: Build) -> None:
    assert gate().summary() == ["0 of 0 latencies compared"]


@pytest.mark.parametrize("device", [H200, None], ids=["with", "without"])
def test_gpu_that_was_not_asked_for_is_never_missed(
    gate: Build, device: DeviceRecord | None
) -> None:
    one = gate(device=device)
    ask_latency(one, FIRST)

    assert not one.misses_the_gpu


@pytest.mark.parametrize("device", [H200, None], ids=["with", "without"])
def test_gpu_that_was_asked_for_is_missed_when_nothing_was_compared(
    gate: Build, device: DeviceRecord | None
) -> None:
    one = gate(device=device, require_gpu=True)
    ask_latency(one, FIRST)

    assert one.misses_the_gpu
    assert one.summary()[-1].startswith("failed: nothing was compared, and --rmsperf-require-gpu")


def test_gpu_is_not_missed_once_something_was_saved(gate: Build) -> None:
    one = gate(require_gpu=True, save=True)
    ask_latency(one, FIRST)

    one.save([FIRST])

    assert not one.misses_the_gpu


def test_gpu_is_not_missed_by_a_run_that_asked_for_no_latency(gate: Build) -> None:
    one = gate(device=None, require_gpu=True)
    one.run([Question(FIRST, frozenset({"rmsperf_residency"}))], lambda _: None)

    assert not one.misses_the_gpu


def test_save_without_a_run_stores_nothing(gate: Build) -> None:
    one = gate(save=True)

    one.save([FIRST])

    assert (one.saved, one.settings.baselines.exists()) == ([], False)


def test_save_of_a_case_that_was_not_timed_stores_nothing(gate: Build) -> None:
    one = gate(save=True)
    ask_latency(one, FIRST)

    one.save([SECOND])

    assert one.saved == []


@pytest.mark.parametrize("device_ns", [0, -5])
def test_save_of_an_impossible_figure_stores_nothing(gate: Build, device_ns: int) -> None:
    one = gate(Fake(device_ns=device_ns), save=True)
    ask_latency(one, FIRST)

    one.save([FIRST])

    assert one.saved == []


def test_stored_case_of_any_device_can_be_stale(gate: Build) -> None:
    one = gate(save=True)
    ask_latency(one, FIRST, SECOND)
    one.save([FIRST, SECOND])

    with pytest.raises(GateFailure, match=rf"(?s)^stale: 1 stored case .*{SECOND.id}\ngive"):
        gate(device=None).require_no_stale([FIRST], test="test_stale")


def test_closing_the_gate_closes_the_instrument(gate: Build) -> None:
    instrument = Fake()

    gate(instrument).close()

    assert instrument.closed


def test_default_instrument_has_what_the_settings_say_of_workers(
    settings: Settings,
) -> None:
    instrument = default_instrument(settings, lambda _: None)

    assert isinstance(instrument, WorkerInstrument)
    assert instrument._settings == WorkerSettings("sm_90", DeviceChoice.AUTO, Schedules(0, 4))
    assert instrument._deadlines == Deadlines(step_s=7.0)
