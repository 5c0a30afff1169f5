"""The judge of static costs: several devices and archs, doubt, violations, and the worst of all."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from costs import (
    CASE_ID,
    H100,
    H200,
    L4,
    SPILLING,
    STORED,
    check_of,
    cost_of,
    fit_of_device,
    judge_arch,
    kernel_of,
    launch_of,
    told,
)
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.judge.cost import (
    PRECEDENCE,
    ArchVerdict,
    CostFinding,
    CostLimits,
    CostVerdict,
    cost_outcome,
    judge_cost,
)
from pytest_rmsperf.judge.policy import Outcome, Policy, Status

HEAVIER = cost_of(fit_of_device(blocks_per_sm=5), kernels=[kernel_of(registers=48)])
UNFIT = f"does not fit {H100}: 3 blocks too many (computed)\n  row asks for 795 blocks at once"


def of_status(status: Status, arch: str = "sm_90") -> ArchVerdict:
    return ArchVerdict(arch, status, (), (), None, None)


# ---- several devices -------------------------------------------------------------------------


def test_what_differs_alike_on_several_devices_is_told_once() -> None:
    before, after = (
        cost_of(*(fit_of_device(one, facts=(("tile", tile),)) for one in (H100, H200)))
        for tile in (4096, 8192)
    )

    assert told(judge_arch(after, before).findings) == (f"{H100}, {H200}: tile 4096 -> 8192",)


def test_a_device_that_the_baseline_lacks_is_missing_and_named() -> None:
    found = judge_arch(cost_of(fit_of_device(), fit_of_device(H200)), STORED)

    assert (found.status, found.findings) == (
        Status.MISSING,
        (CostFinding((H200,), "no cost is stored"),),
    )


def test_a_loss_on_one_device_outranks_one_that_is_missing() -> None:
    found = judge_arch(replace(HEAVIER, fits=(*HEAVIER.fits, fit_of_device(H200))), STORED)

    assert found.status is Status.COSTLIER
    assert CostFinding((H200,), "no cost is stored") in found.notes


def test_a_stored_device_that_is_no_longer_of_interest_is_nothing() -> None:
    wide = cost_of(fit_of_device(), fit_of_device(H200, launch_of("other")), kernels=[kernel_of()])

    assert judge_arch(STORED, replace(wide, kernels=(kernel_of(), kernel_of("other")))).status is (
        Status.UNCHANGED
    )


def test_a_kernel_that_only_a_new_device_launches_is_not_new() -> None:
    wide = cost_of(
        fit_of_device(),
        fit_of_device(H200, launch_of("other")),
        kernels=[kernel_of(), kernel_of("other")],
    )

    assert judge_arch(wide, STORED).status is Status.MISSING


# ---- nothing to compare with -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_paired", "why"), [(False, "no cost is stored"), (True, "the other commit has no cost")]
)
def test_an_arch_without_a_baseline_is_missing(why: str, *, is_paired: bool) -> None:
    found = judge_arch(STORED, None, is_paired=is_paired)

    assert found.status is Status.MISSING
    assert str(found.findings[0]).startswith(f"sm_90: {why}")


def test_another_compiler_is_incomparable_and_every_entry_is_named() -> None:
    old = replace(HEAVIER, compiler=(("nvrtc", "13.0.88"), ("headers", "12")))
    new = replace(STORED, compiler=(("nvrtc", "13.5.27"), ("cccl", "3")))

    found = judge_arch(new, old)

    assert (found.status, told(found.findings)) == (
        Status.INCOMPARABLE,
        ("sm_90: other compiler: nvrtc 13.0.88 -> 13.5.27, headers 12 -> none, cccl none -> 3",),
    )


def test_what_another_compiler_made_of_it_is_noted() -> None:
    found = judge_arch(replace(SPILLING, compiler=(("nvrtc", "13.5.27"),)), STORED)

    assert told(found.notes) == ("sm_90: spill stores 0 -> 8 bytes per thread of row",)


def test_other_flags_are_incomparable() -> None:
    found = judge_arch(replace(STORED, flags=("--maxrregcount=32",)), STORED)

    assert (found.status, told(found.findings)) == (
        Status.INCOMPARABLE,
        ("sm_90: other compiler flags: none -> --maxrregcount=32",),
    )


def test_other_flags_of_another_commit_are_what_is_compared() -> None:
    found = judge_arch(replace(SPILLING, flags=("-G",)), STORED, is_paired=True)

    assert (found.status, told(found.notes)) == (
        Status.COSTLIER,
        ("sm_90: other compiler flags: none -> -G",),
    )


# ---- violated --------------------------------------------------------------------------------


def test_a_device_that_it_does_not_fit_is_violated_and_the_device_is_said_once() -> None:
    found = judge_arch(check_of(STORED, (H100, UNFIT)), STORED)

    assert (found.status, told(found.findings)) == (
        Status.VIOLATED,
        (f"{H100}: does not fit: 3 blocks too many (computed)",),
    )


def test_a_violation_is_told_with_what_changed() -> None:
    found = judge_arch(check_of(SPILLING, (H100, UNFIT)), STORED)

    assert told(found.notes) == ("sm_90: spill stores 0 -> 8 bytes per thread of row",)


def test_a_source_that_does_not_compile_for_an_arch_is_violated() -> None:
    check = StaticCheck("sm_75", None, "row.cu does not compile for sm_75\n  an error")

    verdict = judge_cost(CASE_ID, [check], {}, CostLimits())

    assert (verdict.status, told(verdict.archs[0].findings), verdict.violations) == (
        Status.VIOLATED,
        ("sm_75: row.cu does not compile for sm_75",),
        (("sm_75", "row.cu does not compile for sm_75\n  an error"),),
    )


def test_a_device_without_a_plan_is_violated_and_its_kernels_are_not_gone() -> None:
    planless = cost_of(fit_of_device(why_not="a row is 32 blocks and 20 fit"), kernels=[])

    found = judge_arch(planless, STORED)

    assert (found.status, told(found.findings), told(found.notes)) == (
        Status.VIOLATED,
        (f"{H100}: a row is 32 blocks and 20 fit",),
        (),
    )


def test_a_plan_where_there_was_none_is_cheaper() -> None:
    planless = cost_of(fit_of_device(why_not="a row is 32 blocks and 20 fit"), kernels=[])

    found = judge_arch(STORED, planless)

    assert (found.status, told(found.findings)) == (
        Status.CHEAPER,
        (f"{H100}: has a plan where there was none",),
    )


# ---- the whole case --------------------------------------------------------------------------


def test_every_status_of_a_cost_has_its_place() -> None:
    latency = {Status.FASTER, Status.SLOWER, Status.INCONCLUSIVE, Status.INVALID, Status.STALE}

    assert set(PRECEDENCE) == set(Status) - latency


@pytest.mark.parametrize(("worse", "better"), [*pairwise(PRECEDENCE)], ids=str)
def test_the_worst_arch_decides(worse: Status, better: Status) -> None:
    archs = (of_status(better), of_status(worse, "sm_89"))

    assert CostVerdict(CASE_ID, archs, ()).status is worse


def test_archs_are_judged_by_their_own_baselines() -> None:
    on_l4 = cost_of(fit_of_device(L4), arch="sm_89", kernels=[kernel_of(registers=40)])
    baselines = {"sm_90": STORED, "sm_89": replace(on_l4, kernels=(kernel_of(bounds=512),))}

    verdict = judge_cost(CASE_ID, [check_of(STORED), check_of(on_l4)], baselines, CostLimits())

    assert [one.status for one in verdict.archs] == [Status.UNCHANGED, Status.CHANGED]


def test_a_case_that_no_device_of_interest_can_run_is_missing_and_not_compared() -> None:
    verdict = judge_cost(CASE_ID, [], {}, CostLimits())

    assert (verdict.status, verdict.is_compared) == (Status.MISSING, False)


@pytest.mark.parametrize("status", PRECEDENCE)
def test_a_case_is_compared_when_every_arch_is(status: Status) -> None:
    verdict = CostVerdict(CASE_ID, (of_status(Status.UNCHANGED), of_status(status)), ())

    compares_nothing = {Status.VIOLATED, Status.INCOMPARABLE, Status.MISSING}
    assert verdict.is_compared is (status not in compares_nothing)


# ---- what becomes of the test ----------------------------------------------------------------


def test_no_policy_lets_a_violation_pass() -> None:
    verdict = CostVerdict(CASE_ID, (of_status(Status.VIOLATED),), (), is_paired=True)

    assert cost_outcome(verdict, Policy(((Status.VIOLATED, Outcome.PASS),))) is Outcome.FAIL


@pytest.mark.parametrize("status", [Status.COSTLIER, Status.CHANGED, Status.MISSING])
def test_against_another_commit_a_cost_warns_and_against_the_stored_one_it_fails(
    status: Status,
) -> None:
    stored = CostVerdict(CASE_ID, (of_status(status),), ())

    outcomes = [cost_outcome(one, Policy()) for one in (stored, replace(stored, is_paired=True))]

    assert outcomes == [Outcome.FAIL, Outcome.WARN]


def test_a_policy_that_names_the_verdict_holds_against_another_commit_too() -> None:
    verdict = CostVerdict(CASE_ID, (of_status(Status.COSTLIER),), (), is_paired=True)

    assert cost_outcome(verdict, Policy(((Status.COSTLIER, Outcome.FAIL),))) is Outcome.FAIL
