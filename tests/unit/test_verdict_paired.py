"""The judge of two builds that took turns in the same processes: no baseline, and pairs only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, nan

import pytest

from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import PAIRED
from pytest_rmsperf.judge.verdict import Round, Verdict, judge_paired
from pytest_rmsperf.measurement import Conditions, Measurement, Noise
from pytest_rmsperf.protocol import StopReason

Measured = Callable[..., Measurement]
Pairs = Sequence[tuple[float, float]]

LOSS = ((0.006, 0.0),) * 3
NONE = ((0.0, 0.0),) * 3


@pytest.fixture
def paired(measured: Measured) -> Callable[..., Verdict]:
    """Judges pairs of device time and host completion: `paired(LOSS)`, or with a second round."""

    def judge(*rounds: Pairs, unfit: str | None = None, **changes: object) -> Verdict:
        other = replace(measured((8000,) * 3), **changes)  # type: ignore[arg-type]
        found = [Round(measured((8000,) * len(one)), tuple(one), unfit) for one in rounds]
        return judge_paired("case", found, other, PAIRED, missing="")

    return judge


Judged = Callable[..., Verdict]


@pytest.mark.parametrize(
    ("share", "status"),
    [
        (0.0025, Status.UNCHANGED),
        (0.0026, Status.SLOWER),
        (-0.0025, Status.UNCHANGED),
        (-0.0026, Status.FASTER),
    ],
)
def test_change_of_device_time_counts_beyond_its_limit(
    paired: Judged, share: float, status: Status
) -> None:
    assert paired(((share, 0.0),) * 3, ((share, 0.0),) * 3).status is status


@pytest.mark.parametrize(("share", "status"), [(0.05, Status.UNCHANGED), (0.051, Status.SLOWER)])
def test_change_of_host_completion_counts_beyond_its_own_limit(
    paired: Judged, share: float, status: Status
) -> None:
    assert paired(((0.0, share),) * 3, ((0.0, share),) * 3).status is status


@pytest.mark.parametrize(("share", "status"), [(0.015, Status.UNCHANGED), (0.0151, Status.SLOWER)])
def test_floor_is_held_against_the_other_builds_time(
    measured: Measured, share: float, status: Status
) -> None:
    short = measured((1000,) * 3, copy_ns=None)
    rounds = [Round(short, ((share, 0.0),) * 3)] * 2

    assert judge_paired("case", rounds, short, PAIRED, missing="").status is status


def test_three_pairs_on_one_side_ask_for_three_more(paired: Judged) -> None:
    verdict = paired(LOSS)

    assert (verdict.status, verdict.more_sessions, verdict.reason) == (
        Status.INCONCLUSIVE,
        3,
        "device time: beyond the threshold, but so few sessions prove nothing",
    )


def test_loss_in_one_round_only_is_cleared(paired: Judged) -> None:
    verdict = paired(LOSS, NONE)

    assert (verdict.status, verdict.cleared) == (Status.UNCHANGED, 0.006)


def test_one_pair_does_not_tell(paired: Judged) -> None:
    assert paired(NONE[:1]).status is Status.INCONCLUSIVE


def test_verdict_rests_on_the_pairs_and_not_on_the_medians(measured: Measured) -> None:
    rounds = [Round(measured((9000,) * 3), NONE)]

    verdict = judge_paired("case", rounds, measured((8000,) * 3), PAIRED, missing="")

    assert (verdict.status, verdict.change, verdict.is_paired) == (Status.UNCHANGED, 0, True)


# ---- the ladder ----------------------------------------------------------------------


def test_build_without_the_case_says_so(measured: Measured) -> None:
    why = "1a2b3c4 has no such case"

    verdict = judge_paired("case", [Round(measured())], None, PAIRED, missing=why)

    assert (verdict.status, verdict.reason) == (Status.MISSING, why)


def test_no_samples_are_invalid(measured: Measured) -> None:
    verdict = judge_paired("case", [], measured(), PAIRED, missing="")

    assert (verdict.status, verdict.reason) == (Status.INVALID, "no samples")


def test_no_samples_of_the_other_build_are_invalid(paired: Judged) -> None:
    verdict = paired(LOSS, sessions=())

    assert (verdict.status, verdict.reason) == (Status.INVALID, "no samples of the other build")


def test_other_inputs_are_no_pair(paired: Judged) -> None:
    assert paired(LOSS, inputs="zeros").status is Status.INCOMPARABLE


@pytest.mark.parametrize("changes", [{"flags": ("-G",)}, {"resources": None}], ids=str)
def test_builds_may_differ_in_flags_and_resources(
    paired: Judged, changes: dict[str, object]
) -> None:
    assert paired(LOSS, LOSS, **changes).status is Status.SLOWER


def test_unfit_machine_is_invalid_and_never_a_loss(paired: Judged) -> None:
    verdict = paired(LOSS, LOSS, unfit="the clocks were lowered")

    assert (verdict.status, verdict.reason) == (Status.INVALID, "the clocks were lowered")


def test_impossible_figure_of_the_other_build_is_invalid(measured: Measured) -> None:
    rounds = [Round(measured((8000,) * 3), LOSS)] * 2

    verdict = judge_paired("case", rounds, measured((8000, 0, 8000)), PAIRED, missing="")

    assert (verdict.status, verdict.reason) == (
        Status.INVALID,
        "of the other build: device time of 0 ns",
    )


def test_sessions_without_a_pair_are_invalid_and_never_a_pass(paired: Judged) -> None:
    verdict = paired(())

    assert (verdict.status, verdict.reason) == (Status.INVALID, "no samples")


def test_rounds_that_timed_one_build_only_are_invalid(measured: Measured) -> None:
    verdict = judge_paired("case", [Round(measured())], measured(), PAIRED, missing="")

    assert (verdict.status, verdict.reason) == (Status.INVALID, "no session timed both builds")


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_change_that_is_no_number_is_invalid(paired: Judged, value: float) -> None:
    verdict = paired((*LOSS[:2], (value, 0.0)))

    assert (verdict.status, verdict.reason) == (Status.INVALID, "a change that is no number")


# ---- what only stored figures need ---------------------------------------------------


def test_host_that_moved_took_both_builds_along_and_excuses_nothing(measured: Measured) -> None:
    pairs = ((0.0, 0.5),) * 3
    rounds = [Round(measured((8000,) * 3, null_ns=90_000), pairs)] * 2

    verdict = judge_paired("case", rounds, measured((8000,) * 3, null_ns=6000), PAIRED, missing="")

    assert verdict.status is Status.SLOWER


def test_noise_between_sessions_does_not_raise_the_limits_of_pairs(paired: Judged) -> None:
    verdict = paired(LOSS, LOSS, noise=Noise(12, 500_000, 0, 500_000, 0))

    assert (verdict.status, verdict.thresholds) == (Status.SLOWER, PAIRED)


def test_clock_is_the_same_for_both_builds_and_excuses_nothing(measured: Measured) -> None:
    run = measured().run
    slow, fast = (
        replace(run, conditions=(Conditions(15, StopReason.BLOCKS, median_sm_mhz=mhz),) * 3)
        for mhz in (1200, 1980)
    )
    rounds = [Round(measured((8000,) * 3, run=slow), LOSS)] * 2

    verdict = judge_paired("case", rounds, measured((8000,) * 3, run=fast), PAIRED, missing="")

    assert verdict.status is Status.SLOWER
