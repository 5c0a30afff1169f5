"""How often the judge is wrong, on synthetic sessions that scatter as those of an H200 do.

There, sessions of one case differed by 0.15 % (root mean square over 56 cases of three sessions).
Here it is 0.2 %: 0.18 % between sessions, and the rest from blocks that differ by 0.3 % inside one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from pytest_rmsperf.judge.evidence import Paired, Shift, confirming_sessions, weigh
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import PAIRED, STORED
from pytest_rmsperf.judge.verdict import Round, judge
from pytest_rmsperf.measurement import Measurement, Noise
from pytest_rmsperf.storing.calibration import noise_of

Measured = Callable[..., Measurement]
# From a generator and a number of sessions to the logarithms of their states.
Scatter = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]

DEVICE_NS, COMPLETION_NS, SLOW_DEVICE_NS = 8000, 14_000, 8120
BLOCKS = 15
RUNS = 1000
PLANTED_RUNS = 500


def quiet(random: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Sessions of a machine that is kept for this."""
    return random.normal(0, 0.0018, count)


def heavy_tailed(random: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Sessions of which 1 in 86 is off by more than 1 %."""
    return 0.0018 * random.standard_t(3, count)


def disturbed(random: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Sessions of which one in 50 is in another state: 3 to 40 % slower."""
    is_off = random.random(count) < 1 / 50
    return quiet(random, count) + is_off * np.log1p(random.uniform(0.03, 0.4, count))


def noisy(random: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Sessions that scatter by 2.5 times the limit, on a machine that nobody calibrated."""
    return random.normal(0, 0.02, count)


def two_modes(
    random: np.random.Generator, count: int, *, apart: float = 0.0065
) -> npt.NDArray[np.float64]:
    """Sessions that are in one of two modes, as those of the row megakernel on an H200 are."""
    return apart * (random.random(count) < 0.5) + random.normal(0, 0.0006, count)


modes_far_apart = partial(two_modes, apart=0.013)


class Machine:
    """Measures a case of 8 us, sessions at a time, and judges it as the gate does."""

    def __init__(self, measured: Measured, scatter: Scatter, seed: int) -> None:
        self._measured = measured
        self._scatter = scatter
        self._random = np.random.default_rng(seed)
        self._noise: Noise | None = None

    def calibrate(self) -> None:
        """Take the noise of the case from twelve sessions, as --rmsperf-calibrate does."""
        found = self.measure(DEVICE_NS, 12)
        self._noise = noise_of(found.device_medians, found.completion_medians, thresholds=STORED)

    def measure(self, device_ns: float, count: int) -> Measurement:
        """Return a measurement of so many sessions; the host scatters by 3 %."""
        random = self._random
        states = self._scatter(random, count)[:, None] + random.normal(0, 0.003, (count, BLOCKS))
        device = np.median(np.rint(device_ns * np.exp(states)), axis=1)
        completion = COMPLETION_NS * np.exp(random.normal(0, 0.03, count))
        return self._measured(
            tuple(int(one) for one in device),
            completion_ns=tuple(int(one) for one in completion),
            copy_ns=None,
        )

    def status(self, *device_ns: float) -> Status:
        """Save, then check by a round, and by another where that is suspicious.

        `device_ns` is the time in each round of the check; the last one stays.
        """
        baseline = replace(self.measure(DEVICE_NS, 6), noise=self._noise)
        rounds = [Round(self.measure(device_ns[0], 3))]
        verdict = judge("case", rounds, baseline, STORED)
        if verdict.more_sessions:
            rounds.append(Round(self.measure(device_ns[-1], verdict.more_sessions)))
            verdict = judge("case", rounds, baseline, STORED)
        return verdict.status


@pytest.fixture
def machine(measured: Measured) -> Callable[..., Machine]:
    """Builds a machine: `machine(quiet, seed=1)`."""
    return partial(Machine, measured)


def paired_status(random: np.random.Generator, change: float) -> Status:
    """Judge pairs that scatter by 0.05 %, by a round, and by another where that is suspicious."""

    def pairs(count: int) -> tuple[float, ...]:
        return tuple(float(one) for one in random.normal(change, 0.0005, count))

    limit = PAIRED.device.of(DEVICE_NS)
    shift: Shift = Paired(pairs(3))
    found = weigh(shift, limit)
    if found.wants_confirmation:
        found = weigh(Paired(pairs(3), pairs(confirming_sessions(shift) or 0)), limit)
    return found.status


# ---- nothing changed -----------------------------------------------------------------


@pytest.mark.parametrize("scatter", [quiet, heavy_tailed, disturbed, two_modes])
def test_unchanged_case_is_never_slower_in_1000_runs(
    machine: Callable[..., Machine], scatter: Scatter
) -> None:
    one = machine(scatter, seed=1)

    found = Counter(one.status(DEVICE_NS) for _ in range(RUNS))

    assert found[Status.SLOWER] == 0


def test_unchanged_case_on_a_quiet_machine_is_unchanged(machine: Callable[..., Machine]) -> None:
    one = machine(quiet, seed=2)

    found = Counter(one.status(DEVICE_NS) for _ in range(RUNS))

    assert found[Status.UNCHANGED] >= 0.999 * RUNS


def test_sessions_in_another_state_seldom_leave_doubt(machine: Callable[..., Machine]) -> None:
    one = machine(disturbed, seed=3)

    found = Counter(one.status(DEVICE_NS) for _ in range(RUNS))

    assert found[Status.UNCHANGED] >= 0.98 * RUNS


def test_scatter_beyond_the_limit_is_called_slower_in_few_of_1000_runs(
    machine: Callable[..., Machine],
) -> None:
    one = machine(noisy, seed=4)

    found = Counter(one.status(DEVICE_NS) for _ in range(RUNS))

    assert found[Status.SLOWER] <= 0.005 * RUNS


# With one session of twelve allowed to be in a bad state, 7 of 64 sixes are of one mode.
def test_modes_beyond_the_limit_are_called_slower_in_few_of_100_runs(
    machine: Callable[..., Machine],
) -> None:
    one = machine(modes_far_apart, seed=10)

    found = Counter(one.status(DEVICE_NS) for _ in range(RUNS))

    assert found[Status.SLOWER] <= 0.03 * RUNS


@pytest.mark.parametrize("scatter", [noisy, modes_far_apart])
def test_unchanged_case_is_never_slower_in_1000_runs_once_it_is_calibrated(
    machine: Callable[..., Machine], scatter: Scatter
) -> None:
    one = machine(scatter, seed=11)
    one.calibrate()

    found = Counter(one.status(DEVICE_NS) for _ in range(RUNS))

    assert found[Status.SLOWER] == 0


def test_unchanged_pairs_are_never_slower_in_1000_runs() -> None:
    random = np.random.default_rng(5)

    found = Counter(paired_status(random, 0.0) for _ in range(RUNS))

    assert found == {Status.UNCHANGED: RUNS}


def test_round_in_a_bad_state_is_never_a_loss_and_mostly_cleared(
    machine: Callable[..., Machine],
) -> None:
    one = machine(quiet, seed=6)

    found = Counter(one.status(1.2 * DEVICE_NS, DEVICE_NS) for _ in range(PLANTED_RUNS))

    assert (found[Status.SLOWER], found[Status.UNCHANGED] >= 0.95 * PLANTED_RUNS) == (0, True)


# ---- something did -------------------------------------------------------------------


@pytest.mark.parametrize(("scatter", "share"), [(quiet, 0.99), (disturbed, 0.98)])
def test_loss_of_one_and_a_half_percent_is_found(
    machine: Callable[..., Machine], scatter: Scatter, share: float
) -> None:
    one = machine(scatter, seed=7)

    found = Counter(one.status(SLOW_DEVICE_NS) for _ in range(PLANTED_RUNS))

    assert found[Status.SLOWER] >= share * PLANTED_RUNS


def test_loss_below_the_limit_is_no_loss(machine: Callable[..., Machine]) -> None:
    one = machine(quiet, seed=8)

    found = Counter(one.status(1.003 * DEVICE_NS) for _ in range(PLANTED_RUNS))

    assert found[Status.SLOWER] == 0


def test_paired_loss_of_half_a_percent_is_found() -> None:
    random = np.random.default_rng(9)

    found = Counter(paired_status(random, 0.005) for _ in range(PLANTED_RUNS))

    assert found[Status.SLOWER] >= 0.99 * PLANTED_RUNS
