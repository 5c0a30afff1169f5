"""The judge: the ladder of its answers, what is impossible, and what failing means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.measurement import Measurement, ProbeFigures
from pytest_rmsperf.samples import Quartiles
from pytest_rmsperf.verdict import COMPARED, FAILING, Status, Thresholds, Verdict, judge, share

Measured = Callable[..., Measurement]
Judged = Callable[..., Verdict]

THRESHOLDS = Thresholds(0.03, 50, 0.25, 1000)
BEFORE = (10_000, 10_000, 10_000)
HOST_BEFORE = (20_000, 20_000, 20_000)


@pytest.mark.parametrize(
    ("status", "fails", "compared"),
    [
        (Status.UNCHANGED, False, True),
        (Status.FASTER, False, True),
        (Status.INCONCLUSIVE, False, True),
        (Status.SLOWER, True, True),
        (Status.MISSING, True, False),
        (Status.INCOMPARABLE, True, False),
        (Status.INVALID, True, False),
    ],
)
def test_a_status_has_one_outcome(status: Status, *, fails: bool, compared: bool) -> None:
    verdict = Verdict("case", status, "", None, None, THRESHOLDS)

    assert (verdict.fails, status in COMPARED) == (fails, compared)


def test_a_status_that_compared_nothing_fails() -> None:
    assert set(Status) - COMPARED <= FAILING


# ---- the ladder: each rung is asked before the next ------------------------------------------


def test_no_measurement_is_invalid_even_without_a_baseline() -> None:
    verdict = judge("case", None, None, THRESHOLDS)

    assert (verdict.status, verdict.reason) == (Status.INVALID, "no samples")


def test_a_measurement_without_sessions_is_invalid(measured: Measured) -> None:
    assert judge("case", measured(()), measured(), THRESHOLDS).status is Status.INVALID


def test_impossible_figures_are_invalid_before_a_baseline_is_missed(measured: Measured) -> None:
    assert judge("case", measured((0, 0, 0)), None, THRESHOLDS).status is Status.INVALID


def test_a_missing_baseline_is_missing_and_never_unchanged(measured: Measured) -> None:
    verdict = judge("case", measured(), None, THRESHOLDS)

    assert (verdict.status, verdict.reason) == (Status.MISSING, "no baseline")


def test_an_incomparable_baseline_is_never_evidence(measured: Measured) -> None:
    other = replace(measured(), inputs="zeros")

    assert judge("case", measured((99_000,)), other, THRESHOLDS).status is Status.INCOMPARABLE


def test_a_verdict_carries_what_was_judged(measured: Measured) -> None:
    current, baseline = measured((8000,)), measured((9000,))

    verdict = judge("case", current, baseline, THRESHOLDS)

    assert (verdict.case_id, verdict.current, verdict.baseline) == ("case", current, baseline)


# ---- impossible figures ----------------------------------------------------------------------


@pytest.mark.parametrize("device_ns", [0, -1])
def test_a_device_time_that_no_clock_gives_is_invalid(measured: Measured, device_ns: int) -> None:
    verdict = judge("case", measured((8000, device_ns, 8000)), measured(), THRESHOLDS)

    assert (verdict.status, verdict.reason) == (Status.INVALID, f"device time of {device_ns} ns")


@pytest.mark.parametrize("completion_ns", [0, -1])
def test_a_host_completion_that_no_clock_gives_is_invalid(
    measured: Measured, completion_ns: int
) -> None:
    current = measured((8000,), completion_ns=(completion_ns,))

    verdict = judge("case", current, measured(), THRESHOLDS)

    assert verdict.reason == f"host completion of {completion_ns} ns"


def test_a_quarter_of_zero_samples_is_invalid_though_the_median_is_not(measured: Measured) -> None:
    whole = measured((8000,))
    session = replace(whole.sessions[0], device=Quartiles(0, 8000, 8000))

    verdict = judge("case", replace(whole, sessions=(session,)), whole, THRESHOLDS)

    assert verdict.status is Status.INVALID


def test_a_session_without_device_time_is_invalid(measured: Measured) -> None:
    current = measured((8000, None))

    assert judge("case", current, measured(), THRESHOLDS).reason == "no device time"


def test_half_the_time_of_a_kernel_that_does_nothing_is_possible(measured: Measured) -> None:
    assert judge("case", measured((500,)), None, THRESHOLDS).status is Status.MISSING


def test_less_than_half_the_time_of_a_kernel_that_does_nothing_is_implausible(
    measured: Measured,
) -> None:
    verdict = judge("case", measured((499,)), None, THRESHOLDS)

    assert verdict.reason == (
        "implausibly fast: device time 499 ns, but a kernel that does nothing takes 1000 ns; "
        "is the work on another stream?"
    )


def test_without_a_null_kernel_beside_it_a_short_time_is_believed(measured: Measured) -> None:
    assert judge("case", measured((499,), null_ns=None), None, THRESHOLDS).status is Status.MISSING


# ---- the change ------------------------------------------------------------------------------


def test_a_positive_change_is_slower(judged: Judged) -> None:
    verdict = judged(BEFORE, (11_000,) * 3, host=(HOST_BEFORE, (10_000,) * 3))

    assert [verdict.change, verdict.completion_change] == pytest.approx([0.1, -0.5])


@pytest.mark.parametrize("status", sorted(set(Status) - COMPARED))
def test_figures_that_were_not_compared_have_no_change(measured: Measured, status: Status) -> None:
    verdict = Verdict("case", status, "", measured((9000,)), measured((8000,)), THRESHOLDS)

    assert (verdict.change, verdict.completion_change) == (None, None)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(None, 5, None), (5, None, None), (0, 5, None), (5, 0, -1.0), (5, 5, 0.0)],
)
def test_a_share_is_finite_or_unknown(
    before: int | None, after: int | None, change: float | None
) -> None:
    assert share(before, after) == change


def test_probes_rescale_nothing(measured: Measured) -> None:
    probe = ProbeFigures(device_ns=14_000, completion_ns=12_000)
    baseline, current = measured(BEFORE), measured((11_000,) * 3)
    halved = tuple(replace(one, copy=probe) for one in current.sessions)

    verdict = judge("case", replace(current, sessions=halved), baseline, THRESHOLDS)

    assert verdict.change == pytest.approx(0.1)
