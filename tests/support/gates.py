"""Gates over fake instruments, and what a run of pytest would do to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fake_instrument import CUDA, H200, NO_DEVICE, FakeInstrument
from pytest_rmsperf.accounting import Ran
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.environment import DeviceRecord
from pytest_rmsperf.gate import Gate
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.questions import Overrides, Question
from pytest_rmsperf.settings import Settings

FAULTY = load_operator(Path(__file__).parents[1] / "unit" / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
LATENCY = frozenset({"rmsperf_report", "rmsperf_latency"})
SLOW_NS = 8800


@dataclass(frozen=True)
class Build:
    """Makes a gate over a fake instrument: `build(device=None, require_gpu=True)`."""

    settings: Settings
    root: Path

    def __call__(
        self,
        instrument: FakeInstrument | None = None,
        *,
        device: DeviceRecord | None = H200,
        selector: str = "",
        **changes: object,
    ) -> Gate:
        found = replace(CUDA, device=device) if device else NO_DEVICE
        chosen: Settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        return Gate(chosen, instrument or FakeInstrument(found), self.root, selector=selector)


def short(settings: Settings) -> Settings:
    """Return the settings with so short a protocol that nobody waits for it."""
    protocol = Protocol(blocks=2, completions_per_block=1)
    return replace(settings, protocol=protocol, deadline_s=7.0)


def builder(settings: Settings, root: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Return what makes gates whose files lie below `root`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    monkeypatch.setenv("RMSPERF_COMMIT", "1a2b3c4")  # the folder is in no git repository
    return Build(settings, root)


def ask_latency(gate: Gate, *cases: Case, **entries: object) -> None:
    """Run the gate for a latency test of each case, whose marker has these keywords."""
    said = Overrides.of("test_a", entries)
    gate.run([Question(one, LATENCY, overrides=said) for one in cases], lambda _: None)


def settle(gate: Gate, *passed: Case, not_passed: int = 0) -> None:
    ids = frozenset(one.id for one in passed)
    gate.settle(Ran(passed=ids, static_passed=ids, not_passed=not_passed))


def save(build: Build, *cases: Case) -> None:
    """Store baselines of the cases as the fake instrument measures them."""
    one = build(save=True)
    ask_latency(one, *cases)
    settle(one, *cases)
    assert one.complaint() is None


def slow(*cases: Case) -> FakeInstrument:
    return FakeInstrument(device_ns={one.id: (SLOW_NS,) for one in cases})
