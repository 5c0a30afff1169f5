"""The noise of unchanged sessions: how large, what it promises of the judge, and where it lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from candidates import DEVICE, DIRECT, GRAPH, OPERATOR, RUN, measurement, stored
from pytest_rmsperf.errors import RmsperfError, SettingError
from pytest_rmsperf.judge.evidence import Unpaired, weigh
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.measurement import Anchor, Measurement, Noise
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.calibration import LEAST_SESSIONS, noise_of, store_noise, warnings

LIMITS = Thresholds(Limit(0.01, 50), Limit(0.25, 1000))
QUIET = (80_000,) * 12
NOISE = Noise(12, 9000, 14_000, 81_000, 270_000)
Draw = Callable[[int], tuple[int, ...]]


def sessions(count: int, scatter: float, seed: int = 0) -> tuple[int, ...]:
    """Medians around 80 us of a normal distribution."""
    shares = np.random.default_rng(seed).normal(0, scatter, count)
    return tuple(round(80_000 * (1 + one)) for one in shares)


def device_noise(medians: tuple[int, ...], limits: Thresholds = LIMITS) -> tuple[int, int]:
    found = noise_of(medians, QUIET[:1] * len(medians), thresholds=limits)
    return found.device_floor_ppm, found.device_detectable_ppm


# ---- its size --------------------------------------------------------------------------------


def test_case_without_scatter_has_no_noise_and_its_threshold_is_found() -> None:
    assert noise_of(QUIET, QUIET, thresholds=LIMITS) == Noise(12, 0, 10_000, 0, 250_000)


def test_floor_in_nanoseconds_is_what_is_found_of_a_short_kernel() -> None:
    short = (2000,) * 12  # 50 ns are 2.5 % of 2 us

    assert noise_of(short, short, thresholds=LIMITS).device_detectable_ppm == 25_000


def test_same_sessions_have_the_same_noise() -> None:
    medians = sessions(12, 0.003)

    assert device_noise(medians) == device_noise(medians)


def test_noise_does_not_depend_on_the_unit() -> None:
    medians = sessions(12, 0.003)

    assert device_noise(tuple(10 * one for one in medians)) == device_noise(medians)


def test_twice_the_scatter_is_twice_the_floor() -> None:
    once, twice = (device_noise(sessions(12, scatter))[0] for scatter in (0.003, 0.006))

    assert twice / once == pytest.approx(2, rel=0.02)


def test_each_figure_has_noise_of_its_own() -> None:
    found = noise_of(QUIET, sessions(12, 0.07), thresholds=LIMITS)

    assert (found.device_floor_ppm, found.completion_floor_ppm > 100_000) == (0, True)


@pytest.mark.parametrize("share", [0.005, 0.02])
def test_what_is_found_lies_above_threshold_and_floor(share: float) -> None:
    floor, found = device_noise(sessions(12, 0.003), Thresholds(Limit(share, 0), LIMITS.completion))

    assert found > max(floor, 1e6 * share)


def test_larger_rounds_find_smaller_changes() -> None:
    medians = sessions(12, 0.01)

    three, six = (
        noise_of(medians, QUIET, thresholds=LIMITS, round_sessions=size) for size in (3, 6)
    )

    assert six.device_detectable_ppm < three.device_detectable_ppm


# ---- what it promises ------------------------------------------------------------------------


@pytest.fixture
def fresh() -> Draw:
    """Draws fresh sessions that scatter by 0.5 %, half of the threshold."""
    generator = np.random.default_rng(1)
    return lambda count: tuple(
        round(80_000 * (1 + one)) for one in generator.normal(0, 0.005, count)
    )


def test_two_rounds_of_unchanged_sessions_stay_within_the_floor(fresh: Draw) -> None:
    floor = device_noise(sessions(12, 0.005))[0] / 1e6

    def both_beyond() -> bool:
        base = median(fresh(6))
        first, second = (median(fresh(3)) / base - 1 for _ in range(2))
        return first * second > 0 and min(abs(first), abs(second)) > floor

    assert sum(both_beyond() for _ in range(3000)) <= 9  # 1 of 1000 are 3


def test_judge_finds_a_change_of_the_detectable_size(fresh: Draw) -> None:
    floor, detectable = (one / 1e6 for one in device_noise(sessions(12, 0.005)))

    def slowed(count: int) -> tuple[int, ...]:
        return tuple(round(one * (1 + detectable)) for one in fresh(count))

    limit = max(floor, LIMITS.device.share)
    found = [weigh(Unpaired(fresh(6), slowed(3), slowed(3)), limit).status for _ in range(400)]

    assert found.count(Status.SLOWER) >= 388  # 99 of 100 are 396, less four standard deviations


# ---- what it refuses -------------------------------------------------------------------------


def test_ten_sessions_are_enough() -> None:
    assert noise_of(QUIET[:10], QUIET[:10], thresholds=LIMITS).sessions == LEAST_SESSIONS


@pytest.mark.parametrize("few", [(QUIET[:9], QUIET), (QUIET, QUIET[:9]), ((), ())])
def test_fewer_sessions_are_refused_with_the_command_that_measures_more(
    few: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    with pytest.raises(SettingError, match=r"at least 10 .*--rmsperf-sessions=12"):
        noise_of(*few, thresholds=LIMITS)


@pytest.mark.parametrize("odd", [0, -5])
def test_time_that_no_clock_can_give_is_refused(odd: int) -> None:
    with pytest.raises(RmsperfError, match=f"positive times, got {odd} ns"):
        noise_of((*QUIET[:11], odd), QUIET, thresholds=LIMITS)


# ---- where it is kept ------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BaselineStore:
    """A store that holds GRAPH, with a note and an anchor, and DIRECT."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path / "baselines")
    anchor = Anchor(7900, 12_900, "2026-10-01T12:00:00Z", "0000000")
    graph = replace(stored(), note="kept", anchor=anchor)
    store.write(DEVICE, OPERATOR, {GRAPH: graph, DIRECT: replace(stored(), case_id=DIRECT)})
    return store


def test_noise_is_stored_with_its_baseline_which_stays_as_it_is(store: BaselineStore) -> None:
    before = store.read(DEVICE, OPERATOR)

    store_noise(store, DEVICE, [(measurement((9000,) * 12), NOISE)])

    assert store.read(DEVICE, OPERATOR) == before | {GRAPH: replace(before[GRAPH], noise=NOISE)}


def test_stored_noise_is_told_in_percent(store: BaselineStore) -> None:
    (line,) = store_noise(store, DEVICE, [(measurement(), NOISE)])

    assert line == (
        f"noise: {GRAPH} device time 0.9 %, a change of 1.4 % is found; host completion 8.1 %, "
        "27 % (12 sessions)"
    )


MISSING = "softmax/wide-graph/16x1024"


@pytest.mark.parametrize(
    ("case_id", "one", "why"),
    [
        (MISSING, measurement(case_id=MISSING), "there is no baseline"),
        (
            GRAPH,
            measurement(run=replace(RUN, protocol=Protocol(blocks=5))),
            "other protocol: blocks 15 -> 5",
        ),
    ],
    ids=["missing", "incomparable"],
)
def test_noise_without_a_comparable_baseline_is_refused_with_the_command_that_saves_one(
    store: BaselineStore, case_id: str, one: Measurement, why: str
) -> None:
    before = store.path(DEVICE, OPERATOR).read_bytes()
    sound = (measurement(case_id=DIRECT), NOISE)

    with pytest.raises(RmsperfError) as caught:
        store_noise(store, DEVICE, [sound, (one, NOISE)])

    assert str(caught.value) == (
        f"the noise of {case_id} belongs to no baseline: {why}\n"
        f'save one first: pytest --rmsperf-save -k "{case_id}"'
    )
    assert store.path(DEVICE, OPERATOR).read_bytes() == before


# ---- warnings --------------------------------------------------------------------------------


def test_threshold_below_the_noise_floor_is_told_with_two_remedies() -> None:
    limits = Thresholds(Limit(0.005, 15), Limit(0.25, 1000))

    (line,) = warnings([(measurement(), NOISE)], {GRAPH: limits})

    assert line == (
        f"threshold 0.5 % of device time lies below the noise floor of 0.9 % of {GRAPH}: a change "
        "below 1.4 % may not be found; raise it: --rmsperf-threshold=0.9, or compare builds in one "
        "process: --rmsperf-against=REF"
    )


def test_host_completion_has_a_warning_of_its_own() -> None:
    limits = Thresholds(Limit(0.01, 50), Limit(0.05, 100))

    (found,) = warnings([(measurement(), NOISE)], {GRAPH: limits})

    assert "threshold 5 % of host completion lies below the noise floor of 8.1 %" in found
    assert "--rmsperf-completion-threshold=8.1," in found


@pytest.mark.parametrize(("share", "count"), [(0.008_999, 1), (0.009, 0)])
def test_threshold_at_the_noise_floor_is_not_warned_of(share: float, count: int) -> None:
    limits = {GRAPH: Thresholds(Limit(share, 0), Limit(0.25, 0))}

    assert len(warnings([(measurement(), NOISE)], limits)) == count


def test_floor_in_nanoseconds_counts_as_a_threshold() -> None:
    limits = {GRAPH: Thresholds(Limit(0.005, 80), Limit(0.25, 0))}  # 80 ns are 1 % of 8 us

    assert warnings([(measurement(), NOISE)], limits) == []
