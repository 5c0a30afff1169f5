"""The judge's ladder: samples, comparability, validity, a baseline at all, and then evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.judge.policy import COMPARED, Status
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, share, together
from pytest_rmsperf.measurement import Conditions, Measurement, Noise, ProbeFigures
from pytest_rmsperf.protocol import StopReason
from pytest_rmsperf.samples import Quartiles

Measured = Callable[..., Measurement]
Judged = Callable[..., Verdict]

THRESHOLDS = Thresholds(Limit(0.03, 50), Limit(0.25, 1000))
BEFORE = (10_000, 10_000, 10_000)
SLOW = (11_000, 11_000, 11_000)
BUSY = "a foreign process runs on the device: python (pid 7)"


def verdict_of(
    current: Measurement, baseline: Measurement | None, *, unfit: str | None = None
) -> Verdict:
    """Judge one round."""
    return judge("case", [Round(current, unfit=unfit)], baseline, THRESHOLDS)


# ---- each rung is asked before the next ----------------------------------------------


@pytest.mark.parametrize("rounds", [0, 1])
def test_no_samples_are_invalid_even_without_a_baseline(measured: Measured, rounds: int) -> None:
    verdict = judge("case", [Round(measured(()))] * rounds, None, THRESHOLDS)

    assert (verdict.status, verdict.reason) == (Status.INVALID, "no samples")


def test_no_samples_are_invalid_before_a_baseline_is_incomparable(measured: Measured) -> None:
    other = replace(measured(), inputs="zeros")

    assert verdict_of(measured(()), other).reason == "no samples"


def test_incomparable_baseline_is_never_evidence(measured: Measured) -> None:
    other = replace(measured(), inputs="zeros")

    verdict = verdict_of(measured(SLOW), other)

    assert (verdict.status, verdict.reason) == (
        Status.INCOMPARABLE,
        "other inputs: zeros -> random rows",
    )


def test_comparability_is_asked_before_validity(measured: Measured) -> None:
    other = replace(measured(), inputs="zeros")

    assert verdict_of(measured((0, 0, 0)), other, unfit=BUSY).status is Status.INCOMPARABLE


@pytest.mark.parametrize("after", [SLOW, (9000,) * 3, BEFORE], ids=["slower", "faster", "equal"])
def test_unfit_machine_is_invalid_whatever_the_figures_say(
    measured: Measured, after: tuple[int, ...]
) -> None:
    verdict = verdict_of(measured(after), measured(BEFORE), unfit=BUSY)

    assert (verdict.status, verdict.reason) == (Status.INVALID, BUSY)


def test_one_unfit_session_of_a_second_round_is_invalid(measured: Measured) -> None:
    rounds = [Round(measured(SLOW)), Round(measured(SLOW), unfit=BUSY)]

    verdict = judge("case", rounds, measured(BEFORE), THRESHOLDS)

    assert (verdict.status, verdict.reason) == (Status.INVALID, BUSY)


def test_impossible_figure_is_invalid_before_any_evidence(measured: Measured) -> None:
    verdict = verdict_of(measured((0, 0, 0)), measured(BEFORE))

    assert (verdict.status, verdict.reason) == (Status.INVALID, "device time of 0 ns")


def test_impossible_figure_of_a_second_round_is_invalid(measured: Measured) -> None:
    rounds = [Round(measured(SLOW)), Round(measured((11_000, 11_000, 0)))]

    assert judge("case", rounds, measured(BEFORE), THRESHOLDS).status is Status.INVALID


@pytest.mark.parametrize(
    ("device_ns", "unfit"), [((0, 0, 0), None), (BEFORE, BUSY)], ids=["impossible", "unfit"]
)
def test_what_is_invalid_is_not_excused_by_a_missing_baseline(
    measured: Measured, device_ns: tuple[int, ...], unfit: str | None
) -> None:
    assert verdict_of(measured(device_ns), None, unfit=unfit).status is Status.INVALID


def test_missing_baseline_is_missing_and_never_unchanged(measured: Measured) -> None:
    verdict = verdict_of(measured(), None)

    assert (verdict.status, verdict.reason) == (Status.MISSING, "no baseline")


def test_baseline_of_one_session_is_incomparable_and_never_a_pass(measured: Measured) -> None:
    assert verdict_of(measured((99_000,) * 3), measured((10_000,))).status is Status.INCOMPARABLE


def test_verdict_carries_what_was_judged(measured: Measured) -> None:
    current, baseline = measured((8000,) * 3), measured((9000,) * 3)

    verdict = verdict_of(current, baseline)

    assert (verdict.case_id, verdict.current, verdict.baseline) == ("case", current, baseline)


def test_current_holds_the_sessions_and_conditions_of_both_rounds(measured: Measured) -> None:
    run = replace(measured().run, conditions=(Conditions(15, StopReason.BLOCKS),) * 3)
    rounds = [Round(measured(SLOW, run=run)), Round(measured((11_100,) * 3, run=run))]

    found = together(rounds)

    assert found is not None
    assert (found.device_medians, len(found.run.conditions)) == ((*SLOW, *(11_100,) * 3), 6)


def test_rounds_of_nothing_are_nothing_together() -> None:
    assert together([]) is None


@pytest.mark.parametrize("status", Status)
def test_verdict_is_compared_when_its_status_is(status: Status) -> None:
    verdict = Verdict("case", status, "", None, None, THRESHOLDS)

    assert verdict.is_compared is (status in COMPARED)


# ---- thresholds in force -------------------------------------------------------------


def noisy(measurement: Measurement, device_ppm: int, completion_ppm: int) -> Measurement:
    """The same with a noise floor stored beside it."""
    return replace(measurement, noise=Noise(12, device_ppm, 0, completion_ppm, 0))


@pytest.mark.parametrize(
    ("noise_ppm", "status"), [(99_999, Status.SLOWER), (100_000, Status.UNCHANGED)]
)
def test_stored_noise_floor_raises_the_limit_of_its_case(
    measured: Measured, noise_ppm: int, status: Status
) -> None:
    verdict = verdict_of(measured(SLOW), noisy(measured(BEFORE), noise_ppm, 0))

    assert verdict.status is status


def test_verdict_shows_the_thresholds_in_force(measured: Measured) -> None:
    verdict = verdict_of(measured(), noisy(measured(), 40_000, 300_000))

    assert verdict.thresholds == Thresholds(Limit(0.04, 50), Limit(0.3, 1000))


def test_noise_floor_below_the_limit_changes_nothing(measured: Measured) -> None:
    verdict = verdict_of(measured(), noisy(measured(), 20_000, 100_000))

    assert verdict.thresholds == THRESHOLDS


# ---- a lower clock than the baseline's -----------------------------------------------


def at_clock(measurement: Measurement, sm_mhz: int | None) -> Measurement:
    """The same with every session at this SM clock."""
    one = Conditions(15, StopReason.BLOCKS, median_sm_mhz=sm_mhz)
    count = len(measurement.sessions)
    return replace(measurement, run=replace(measurement.run, conditions=(one,) * count))


def test_loss_at_a_lower_clock_is_invalid_and_says_the_clocks(measured: Measured) -> None:
    baseline = at_clock(measured(BEFORE), 1980)

    verdict = verdict_of(at_clock(measured(SLOW), 1200), baseline)

    assert (verdict.status, verdict.reason) == (
        Status.INVALID,
        "slower device time, but the SM clock 1980 -> 1200 MHz",
    )


def test_loss_at_a_lower_clock_may_still_be_settled_by_fresh_sessions(measured: Measured) -> None:
    baseline = at_clock(measured(BEFORE), 1980)

    assert verdict_of(at_clock(measured(SLOW), 1200), baseline).more_sessions == 3


@pytest.mark.parametrize(
    ("after", "status"), [(BEFORE, Status.UNCHANGED), ((9000,) * 3, Status.FASTER)]
)
def test_lower_clock_takes_nothing_from_a_figure_that_is_no_loss(
    measured: Measured, after: tuple[int, ...], status: Status
) -> None:
    baseline = at_clock(measured(BEFORE), 1980)

    assert verdict_of(at_clock(measured(after), 1200), baseline).status is status


@pytest.mark.parametrize("now", [1980, 2100, None])
def test_loss_at_the_same_or_a_higher_or_an_unknown_clock_is_a_loss(
    measured: Measured, now: int | None
) -> None:
    baseline = at_clock(measured(BEFORE), 1980)

    assert verdict_of(at_clock(measured(SLOW), now), baseline).status is Status.SLOWER


# ---- the change ----------------------------------------------------------------------


def test_positive_change_is_slower(judged: Judged) -> None:
    verdict = judged(BEFORE, SLOW, host=((20_000,) * 3, (10_000,) * 3))

    assert [verdict.change, verdict.completion_change] == pytest.approx([0.1, -0.5])


@pytest.mark.parametrize("status", sorted(set(Status) - COMPARED))
def test_figures_that_were_not_compared_have_no_change(measured: Measured, status: Status) -> None:
    verdict = Verdict("case", status, "", measured((9000,)), measured((8000,)), THRESHOLDS)

    assert (verdict.change, verdict.completion_change, verdict.cleared) == (None, None, None)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(None, 5, None), (5, None, None), (0, 5, None), (5, 0, -1.0), (5, 5, 0.0)],
)
def test_share_is_finite_or_unknown(
    before: int | None, after: int | None, change: float | None
) -> None:
    assert share(before, after) == change


def test_probes_rescale_nothing(measured: Measured) -> None:
    probe = ProbeFigures(device_ns=14_000, completion_ns=12_000)
    current = measured(SLOW)
    halved = tuple(replace(one, copy=probe) for one in current.sessions)

    verdict = verdict_of(replace(current, sessions=halved), measured(BEFORE))

    assert verdict.change == pytest.approx(0.1)


def test_quartiles_inside_a_session_decide_nothing(measured: Measured) -> None:
    current = measured(SLOW)
    wide = tuple(replace(one, device=Quartiles(5000, 11_000, 90_000)) for one in current.sessions)

    assert verdict_of(replace(current, sessions=wide), measured(BEFORE)).status is Status.SLOWER
