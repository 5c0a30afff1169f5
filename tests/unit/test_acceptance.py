"""What a run stores: accepted measurements, the noise of unchanged cases, or nothing at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import LATENCY, PROTOCOL, Bench
from costs import H200, check_of, cost_of, fit_of_device, launch_of
from fake_instrument import BUSY, COMPLETION_NS, CUDA, NO_DEVICE, FakeInstrument
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.costing import Costing
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.judge.ordering import Ordering
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.measurement import Noise
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.calibration import noise_of
from pytest_rmsperf.storing.static_store import StaticStore
from static_instrument import StaticInstrument

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
ORDERING = Ordering(FIRST, SECOND)
STATIC = frozenset({"rmsperf_static"})


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


# ---- static costs ----------------------------------------------------------------------------


def costing(blocks_per_sm: int, **changes: Any) -> StaticInstrument:
    """An instrument that finds the first case to have so many blocks on an SM of an H100."""
    cost = cost_of(fit_of_device(blocks_per_sm=blocks_per_sm), case_id=FIRST.id)
    return StaticInstrument(static={FIRST.id: (check_of(cost),)}, **changes)


def stored_costs(bench: Bench) -> list[str]:
    return list(StaticStore(bench.settings.baselines).read("sm_90", "faulty"))


def test_costs_alone_are_stored_without_a_device(bench: Bench) -> None:
    results = bench.answer(costing(6), FIRST, fixtures=STATIC, save=True)

    lines = bench.accept(results, FIRST, save=True)

    path = StaticStore(bench.settings.baselines).path("sm_90", "faulty")
    assert lines == [f"saved 1 static baseline in {path}"]


def test_refused_latency_keeps_the_costs_back(bench: Bench) -> None:
    busy = costing(6, found=CUDA, before={1: BUSY, 2: BUSY})
    results = bench.answer(busy, FIRST, fixtures=LATENCY | STATIC, save=True)

    with pytest.raises(RmsperfError, match=r"^the device was 90 % busy"):
        bench.accept(results, FIRST, save=True)

    assert stored_costs(bench) == []


def test_refused_cost_keeps_the_latencies_back_and_both_reasons_are_told(bench: Bench) -> None:
    bench.accept(bench.answer(costing(6), FIRST, fixtures=STATIC, save=True), FIRST, save=True)
    results = bench.answer(costing(5, found=CUDA), FIRST, fixtures=LATENCY | STATIC, save=True)

    with pytest.raises(RmsperfError, match=r"(?s)^1 test did not pass\n.*\ncostlier than what was"):
        bench.accept(results, FIRST, not_passed=1, save=True)

    assert bench.store.devices("faulty") == ()


def test_cost_that_is_accepted_as_slower_ones_are_is_stored(bench: Bench) -> None:
    bench.accept(bench.answer(costing(6), FIRST, fixtures=STATIC, save=True), FIRST, save=True)
    more: dict[str, Any] = {"save": True, "static": True, "accept_slower": True}

    lines = bench.accept(bench.answer(costing(5), FIRST, fixtures=STATIC, **more), FIRST, **more)

    assert lines[-1].startswith(f"loosened: {FIRST.id}: NVIDIA H100 80GB HBM3: 6 -> 5 blocks per")


def test_calibration_stores_no_cost(bench: Bench) -> None:
    bench.keep(FIRST)
    many: dict[str, Any] = {"calibrate": True, "protocol": replace(PROTOCOL, sessions=12)}
    both = LATENCY | STATIC

    bench.accept(bench.answer(costing(6, found=CUDA), FIRST, fixtures=both, **many), FIRST, **many)

    assert stored_costs(bench) == []


def test_stored_cost_does_not_depend_on_what_a_device_said_of_clusters(bench: Bench) -> None:
    clusters = launch_of(blocks=512, cluster=8)
    cost = cost_of(fit_of_device(H200, clusters), case_id=FIRST.id)
    instrument = StaticInstrument(static={FIRST.id: (check_of(cost),)})
    results = bench.answer(instrument, FIRST, fixtures=STATIC, save=True)
    known = {H200: fit_of_device(H200, replace(clusters, active_clusters=99))}
    costs = Costing(measured={FIRST.id: known})
    checks = costs.checks(results.campaign, [FIRST])
    findings = Findings(costs=costs.judge(results.campaign, checks), checks=checks)

    bench.accept(replace(results, findings=findings), FIRST, save=True)

    stored = StaticStore(bench.settings.baselines).read("sm_90", "faulty")[FIRST.id]
    assert checks[FIRST.id][0].cost != stored == cost


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"static": True}, "a static cost: pytest --rmsperf-static --rmsperf-save"),
        ({}, "a latency: pytest --rmsperf-save"),
    ],
)
def test_run_that_asks_for_nothing_that_could_be_stored_says_so(
    bench: Bench, changes: dict[str, Any], line: str
) -> None:
    results = bench.answer(costing(6), FIRST, fixtures=frozenset(), save=True, **changes)

    assert bench.accept(results, save=True, **changes) == [
        f"nothing to save: no selected test asks for {line}"
    ]
