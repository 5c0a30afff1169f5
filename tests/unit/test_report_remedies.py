"""Why a figure changed, as far as it is known, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, judge_paired
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.measurement import Measurement, Resources
from pytest_rmsperf.report.messages import (
    remedy,
    resource_differences,
    verdict_message,
)

Measured = Callable[..., Measurement]
Judged = Callable[..., Verdict]

CASE_ID = "softmax/online-graph/16x1024"
THRESHOLDS = Thresholds(Limit(0.03, 50), Limit(0.25, 1000))
PAIRED = Thresholds(Limit(0.0025, 15), Limit(0.05, 500))
THREE = (8230, 8230, 8230)
SLOW = (9050, 9050, 9050)

COSTS = Resources(40, 1024, 16384, 0, 8, 32)
CASE_IDS = [case.id for case in OPERATOR.cases()]
ACCEPT = 'pytest --rmsperf-save -k "softmax/online-graph/16x1024"'


def lines_of(verdict: Verdict) -> list[str]:
    return verdict_message(verdict).splitlines()


def judge_one(
    current: Measurement | None, baseline: Measurement | None, *more: Measurement
) -> Verdict:
    """Judge one round, or two, against a baseline."""
    rounds = [Round(one) for one in (current, *more) if one is not None]
    return judge(CASE_ID, rounds, baseline, THRESHOLDS)


def with_status(measured: Measured, status: Status, *, is_paired: bool = False) -> Verdict:
    """A verdict without figures that were weighed."""
    one = measured()
    return Verdict(CASE_ID, status, "a reason", one, one, THRESHOLDS, is_paired=is_paired)


def paired(
    current: Measurement, other: Measurement, share: float = 0.0111, *, rounds: int = 2
) -> Verdict:
    """Judge a change of device time by this share in every session of so many rounds."""
    pairs = ((share, 0.0),) * len(current.sessions)
    twin = replace(other, case_id=f"{CASE_ID}@5e6f7a8")
    return judge_paired(CASE_ID, [Round(current, pairs)] * rounds, twin, PAIRED, missing="")


@pytest.mark.parametrize(
    ("before", "because"),
    [
        (COSTS, "the kernel's resources are the same"),
        (replace(COSTS, static_smem_bytes=0), "static shared bytes 0 -> 1024"),
        (replace(COSTS, dynamic_smem_bytes=0), "dynamic shared bytes 0 -> 16384"),
        (replace(COSTS, local_bytes=8), "local bytes 8 -> 0"),
        (
            replace(COSTS, registers_per_thread=32, blocks_per_sm=4),
            "registers per thread 32 -> 40, blocks per SM 4 -> 8",
        ),
    ],
)
def test_a_change_is_explained_by_what_the_kernel_costs(
    measured: Measured, before: Resources, because: str
) -> None:
    old, new = measured(THREE, resources=before), measured(SLOW, resources=COSTS)

    assert f"  because    {because}" in lines_of(judge_one(new, old))


def test_a_change_of_driver_explains_beside_the_resources(measured: Measured) -> None:
    old = measured(THREE, resources=replace(COSTS, local_bytes=8))
    old = replace(old, run=replace(old.run, driver="550.54"))
    new = measured(SLOW, resources=COSTS)

    lines = lines_of(judge_one(new, old))

    assert "  because    local bytes 8 -> 0, driver 550.54 -> 580.159" in lines


def test_a_change_of_driver_explains_where_resources_are_unknown(measured: Measured) -> None:
    old = measured(THREE)
    old = replace(old, run=replace(old.run, driver="550.54"))

    assert "  because    driver 550.54 -> 580.159" in lines_of(judge_one(measured(SLOW), old))


def test_equal_resources_do_not_differ() -> None:
    assert resource_differences(COSTS, replace(COSTS, headroom_blocks=None)) == []


@pytest.mark.parametrize(("before", "after"), [(None, COSTS), (COSTS, None)])
def test_costs_known_on_one_side_explain_nothing(
    measured: Measured, before: Resources | None, after: Resources | None
) -> None:
    old, new = measured(THREE, resources=before), measured(SLOW, resources=after)

    assert "because" not in verdict_message(judge_one(new, old))


def test_what_did_not_change_needs_no_explanation(measured: Measured) -> None:
    old, new = measured(resources=replace(COSTS, local_bytes=8)), measured(resources=COSTS)

    assert "because" not in verdict_message(judge_one(new, old))


# ---- the remedy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.SLOWER, f"accept it with: {ACCEPT}"),
        (Status.FASTER, f"accept it with: {ACCEPT}"),
        (Status.MISSING, f"create it with: {ACCEPT}"),
        (Status.INCOMPARABLE, f"measure a new baseline with: {ACCEPT}"),
        (Status.INVALID, "measure again with: pytest --rmsperf --lf"),
        (Status.UNCHANGED, "nothing to do"),
        (
            Status.INCONCLUSIVE,
            f"look closer with: {ACCEPT}".replace("-save", " --rmsperf-sessions=9"),
        ),
    ],
)
def test_the_last_line_is_the_remedy(measured: Measured, status: Status, text: str) -> None:
    assert lines_of(with_status(measured, status))[-1] == text


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.SLOWER, "mend the kernel; a loss that is meant is waived on its test: "),
        (Status.FASTER, "keep it: store it as a baseline with: pytest --rmsperf-save"),
        (Status.MISSING, "compare with a commit that has it: pytest --rmsperf-against=REF"),
        (Status.INCOMPARABLE, "compare with a commit whose case is measured alike: "),
    ],
)
def test_two_builds_have_remedies_of_their_own(
    measured: Measured, status: Status, text: str
) -> None:
    assert remedy(with_status(measured, status, is_paired=True)).startswith(text)


def test_a_save_that_refuses_a_loss_says_how_to_name_it(measured: Measured) -> None:
    text = remedy(with_status(measured, Status.SLOWER), saves=True)

    assert text == f"nothing of this run is saved; name the case to accept it: {ACCEPT}"


def test_a_save_that_is_invalid_is_to_be_saved_again(measured: Measured) -> None:
    text = remedy(with_status(measured, Status.INVALID), saves=True)

    assert text == "measure again with: pytest --rmsperf-save"
