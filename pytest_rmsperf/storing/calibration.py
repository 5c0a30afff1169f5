"""How much an unchanged case differs from itself, and so how small a change can be found at all.

Sessions of unchanged code (A/A) are dealt out again and again, as if some had been stored and
others measured against them, and each deal is held against the judge's rules: a first and a
confirming round must both lie beyond the limit, and both together beyond their scatter. What chance
alone brings about is the noise floor; what has to be added until the rules are met is the smallest
change that can be found. A bootstrap of sessions (Efron and Tibshirani, An Introduction to the
Bootstrap, 1993), each deal of a scatter of its own, as few sessions leave it open.

Simulated sessions of a normal distribution had their detectable change found by the judge in 98.7
to 99.5 of 100 runs, whether it was taken from 12, 24 or 60 of them (3600 runs each, two scatters).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from pytest_rmsperf.errors import RmsperfError, SettingError
from pytest_rmsperf.judge.comparability import incomparable
from pytest_rmsperf.judge.evidence import SURE
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.measurement import Measurement, Noise, middle
from pytest_rmsperf.report.messages import selector
from pytest_rmsperf.storing.baselines import BaselineStore, Cases
from pytest_rmsperf.storing.case_store import apply

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

# Of fewer sessions the few extreme ones decide everything.
LEAST_SESSIONS = 10
DRAWS = 10_000
SEED = 20_240_229  # any; the same sessions must give the same noise
# One false alarm in so many runs of a case is what the floor allows.
FLOOR_QUANTILE = 0.999
# A change of the detectable size is found in this share of runs.
FOUND_QUANTILE = 0.99

Calibrated = tuple[Measurement, Noise]


def noise_of(
    device_medians: Sequence[int],
    completion_medians: Sequence[int],
    *,
    thresholds: Thresholds,
    stored_sessions: int = 6,
    round_sessions: int = 3,
) -> Noise:
    """Return the noise of one case from its session medians in ns, all of unchanged code.

    `stored_sessions` is how many a baseline is made of, and `round_sessions` how many are measured
    in the first round and in the confirming one. The detectable change depends on the thresholds in
    force: below them nothing is reported, however quiet the case is.

    Raises SettingError for fewer than 10 sessions, and RmsperfError for times that are not
    positive.
    """
    fewest = min(len(device_medians), len(completion_medians))
    if fewest < LEAST_SESSIONS:
        raise SettingError(
            f"a calibration needs at least {LEAST_SESSIONS} sessions of each case, got {fewest}; "
            "measure more with: pytest --rmsperf-calibrate --rmsperf-sessions=12"
        )
    least = min(*device_medians, *completion_medians)
    if least <= 0:
        raise RmsperfError(
            f"a calibration needs positive times, got {least} ns\n"
            "measure again with: pytest --rmsperf-calibrate"
        )
    sizes = (stored_sessions, round_sessions)
    device = _noise(device_medians, thresholds.device, sizes)
    completion = _noise(completion_medians, thresholds.completion, sizes)
    return Noise(fewest, *device, *completion)


def store_noise(
    store: BaselineStore, device_key: str, calibrated: Sequence[Calibrated]
) -> list[str]:
    """Write noise into the baselines of its cases, which stay as they are; return what was done.

    Each measurement holds the sessions that its noise was taken from. Raises RmsperfError, and
    writes nothing, when a case has no baseline that these sessions could be compared with.
    """
    by_operator: dict[str, list[Calibrated]] = {}
    for one in calibrated:
        by_operator.setdefault(one[0].case_id.split("/")[0], []).append(one)
    apply(
        [
            store.edit(device_key, operator, _Calibration(tuple(found)))
            for operator, found in by_operator.items()
        ]
    )
    return [_told(measurement.case_id, noise) for measurement, noise in calibrated]


def warnings(calibrated: Sequence[Calibrated], thresholds: Mapping[str, Thresholds]) -> list[str]:
    """Return one line for each threshold in force, by case id, that lies below a noise floor."""
    return [
        line
        for measurement, noise in calibrated
        for line in _warnings(measurement, noise, thresholds[measurement.case_id])
    ]


@dataclass(frozen=True, slots=True)
class _Calibration:
    """The change of one file: the noise of its cases, and nothing else."""

    calibrated: tuple[Calibrated, ...]

    def __call__(self, stored: Cases) -> Cases:
        news: Cases = {}
        for measurement, noise in self.calibrated:
            case_id = measurement.case_id
            old = stored.get(case_id)
            why = "there is no baseline" if old is None else incomparable(measurement, old)
            if old is None or why is not None:
                raise RmsperfError(
                    f"the noise of {case_id} belongs to no baseline: {why}\n"
                    f'save one first: pytest --rmsperf-save -k "{selector(case_id)}"'
                )
            news[case_id] = replace(old, noise=noise)
        return {**stored, **news}


def _noise(medians: Sequence[int], limit: Limit, sizes: tuple[int, int]) -> tuple[int, int]:
    """Return the floor and the detectable change of one figure in millionths."""
    import numpy as np

    before, first, second = _dealt(medians, *sizes)
    base = np.median(before, axis=1)
    changes = np.stack([np.expm1(np.median(one, axis=1) - base) for one in (first, second)])
    lesser = np.abs(changes).min(axis=0)
    floor = float(np.quantile(lesser, FLOOR_QUANTILE, method="higher"))
    in_force = max(limit.of(middle(medians) or 1), floor)
    # A true change s turns a change c that chance made into (1 + s)(1 + c) - 1. It is found when
    # that exceeds the limit in both rounds, and in both together their scatter.
    after = np.concatenate([first, second], axis=1)
    whole = np.expm1(np.median(after, axis=1) - base)
    wanted = np.maximum(
        (1 + in_force) / (1 + changes.min(axis=0)) - 1,
        (1 + _widths(before, after)) / (1 + whole) - 1,
    )
    found = float(np.quantile(wanted, FOUND_QUANTILE, method="higher"))
    return _ppm(floor), _ppm(max(in_force, found))


def _ppm(share: float) -> int:
    """Return a share in millionths, rounded up, except where only a float's error is above."""
    return ceil(1e6 * share - 1e-6)


def _dealt(medians: Sequence[int], stored: int, size: int) -> tuple[Floats, Floats, Floats]:
    """Return stored sessions and those of two rounds, as logarithms of times, deal by deal."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    count = len(medians)
    logs = np.log(np.asarray(medians, dtype=np.float64) / np.median(medians))
    deals = generator.choice(logs, size=(DRAWS, stored + 2 * size))
    # Few sessions show their own scatter only so well. Each deal gets one that they might as well
    # have come from, as in Student's distribution. Without this, changes of the size that 12
    # sessions of a normal distribution promised were found in 65 to 95 of 100 runs, not in 99.
    scale = np.sqrt(count / generator.chisquare(count - 1, size=(DRAWS, 1)))
    first, second = stored, stored + size
    deals *= scale
    return deals[:, :first], deals[:, first:second], deals[:, second:]


def _widths(before: Floats, after: Floats) -> Floats:
    """Return how far each deal's sessions scatter, as a share, by the judge's interval."""
    import numpy as np
    from scipy.special import stdtrit

    sizes = [one.shape[1] for one in (before, after)]
    freedom = sum(sizes) - 2
    squares = sum(np.var(one, axis=1) * one.shape[1] for one in (before, after))
    error = np.sqrt(squares / freedom * sum(1 / size for size in sizes))
    return np.asarray(np.expm1(stdtrit(freedom, (1 + SURE) / 2) * error))


def _told(case_id: str, noise: Noise) -> str:
    return (
        f"noise: {case_id} device time {_percent(noise.device_floor_ppm)}, a change of "
        f"{_percent(noise.device_detectable_ppm)} is found; host completion "
        f"{_percent(noise.completion_floor_ppm)}, {_percent(noise.completion_detectable_ppm)} "
        f"({noise.sessions} sessions)"
    )


def _warnings(measurement: Measurement, noise: Noise, thresholds: Thresholds) -> list[str]:
    return [
        f"threshold {_percent(round(1e6 * limit))} of {what} lies below the noise floor of "
        f"{_percent(floor)} of {measurement.case_id}: a change below {_percent(found)} may not be "
        f"found; raise it: {option}={_rounded_up(floor)}, or compare builds in one process: "
        "--rmsperf-against=REF"
        for what, option, limit, floor, found in (
            (
                "device time",
                "--rmsperf-threshold",
                thresholds.device.of(measurement.device_ns or 1),
                noise.device_floor_ppm,
                noise.device_detectable_ppm,
            ),
            (
                "host completion",
                "--rmsperf-completion-threshold",
                thresholds.completion.of(measurement.completion_ns or 1),
                noise.completion_floor_ppm,
                noise.completion_detectable_ppm,
            ),
        )
        if 1e6 * limit < floor
    ]


def _percent(ppm: int) -> str:
    return f"{ppm / 1e4:.2g} %" if ppm < 1e5 else f"{ppm / 1e4:.0f} %"


def _rounded_up(ppm: int) -> str:
    """Return a percentage that is not below `ppm`, with one digit behind the point."""
    return f"{ceil(ppm / 1000) / 10:g}"
