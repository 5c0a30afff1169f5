"""What a run stores: accepted measurements, the noise of unchanged cases, or nothing at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import PROTOCOL, Bench
from fake_instrument import COMPLETION_NS, NO_DEVICE, FakeInstrument
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.judge.ordering import Ordering
from pytest_rmsperf.measurement import Noise
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.calibration import noise_of

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
ORDERING = Ordering(FIRST, SECOND)


@pytest.fixture
def bench(default_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("RMSPERF_COMMIT", "1a2b3c4")  # the folder is in no git repository
    return Bench(replace(default_settings, protocol=PROTOCOL), tmp_path)


def test_accepted_cases_are_stored_with_the_sessions_of_both_rounds(bench: Bench) -> None:
    lines = bench.keep(FIRST)

    stored = bench.store.read("nvidia-h200", "faulty")[FIRST.id]
    assert len(stored.sessions) == 6
    assert lines == [f"saved 1 baseline in {bench.store.path('nvidia-h200', 'faulty')}"]


def test_nothing_is_stored_of_a_run_with_a_test_that_did_not_pass(bench: Bench) -> None:
    results = bench.answer(FakeInstrument(), FIRST, save=True)

    with pytest.raises(RmsperfError, match=r"^1 test did not pass"):
        bench.accept(results, FIRST, not_passed=1, save=True)

    assert not bench.settings.baselines.exists()


@pytest.mark.parametrize(
    ("changes", "option"),
    [({"save": True}, "--rmsperf-save"), ({"calibrate": True}, "--rmsperf-calibrate")],
)
def test_what_cannot_be_measured_here_is_refused_with_the_command(
    bench: Bench, changes: dict[str, Any], option: str
) -> None:
    results = bench.answer(FakeInstrument(NO_DEVICE), FIRST, **changes)

    with pytest.raises(RmsperfError, match=rf"^no CUDA device .*GPU: pytest {option}$"):
        bench.accept(results, FIRST, **changes)


@pytest.mark.parametrize("instrument", [FakeInstrument(), FakeInstrument(NO_DEVICE)])
def test_run_that_asked_for_no_latency_stores_nothing_and_says_so(
    bench: Bench, instrument: FakeInstrument
) -> None:
    results = bench.answer(instrument, orderings=[ORDERING], save=True)

    assert bench.accept(results, save=True) == [
        "nothing to save: no selected test asks for a latency: pytest --rmsperf-save"
    ]


def test_calibration_stores_the_noise_beside_the_figures(bench: Bench) -> None:
    bench.keep(FIRST)
    before = bench.store.read("nvidia-h200", "faulty")[FIRST.id]
    jitter = FakeInstrument(device_ns={FIRST.id: tuple(8000 + 5 * (n % 3) for n in range(24))})
    many: dict[str, Any] = {"calibrate": True, "protocol": replace(PROTOCOL, sessions=12)}

    lines = bench.accept(bench.answer(jitter, FIRST, **many), FIRST, **many)

    after = bench.store.read("nvidia-h200", "faulty")[FIRST.id]
    assert isinstance(after.noise, Noise)
    assert replace(after, noise=None) == before
    assert lines[0].startswith(f"noise: {FIRST.id} device time ")


def test_calibration_warns_of_a_threshold_below_the_noise(bench: Bench) -> None:
    bench.keep(FIRST)
    far = FakeInstrument(device_ns={FIRST.id: tuple(8000 + 1000 * (n % 2) for n in range(24))})
    many: dict[str, Any] = {"calibrate": True, "protocol": replace(PROTOCOL, sessions=12)}

    lines = bench.accept(bench.answer(far, FIRST, **many), FIRST, **many)

    assert [one for one in lines if one.startswith("WARNING: threshold 3 % of device time lies")]


def test_noise_is_that_of_the_gates_usual_rounds(bench: Bench) -> None:
    bench.keep(FIRST)
    medians = tuple(8000 + 100 * (n % 5) for n in range(12))
    many: dict[str, Any] = {"calibrate": True, "protocol": replace(PROTOCOL, sessions=12)}
    instrument = FakeInstrument(device_ns={FIRST.id: medians})

    bench.accept(bench.answer(instrument, FIRST, **many), FIRST, **many)

    usual = noise_of(medians, (COMPLETION_NS,) * 12, thresholds=bench.settings.thresholds)
    noise = bench.store.read("nvidia-h200", "faulty")[FIRST.id].noise
    assert noise is not None
    assert noise.device_floor_ppm == usual.device_floor_ppm
