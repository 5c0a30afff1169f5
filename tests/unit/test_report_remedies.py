"""Why a figure changed, as far as it is known, and what to do about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judged import ACCEPT, COSTS, SLOW, THREE, Measured, judge_one, lines_of, with_status
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.measurement import Resources
from pytest_rmsperf.report.messages import (
    remedy,
    resource_differences,
    verdict_message,
)


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
