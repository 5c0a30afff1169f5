"""What a person reads of a cost: the verdict and where, the evidence, the remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import (
    A100,
    CASE_ID,
    H100,
    H200,
    L4,
    SPILLING,
    STORED,
    check_of,
    cost_of,
    fit_of_device,
    kernel_of,
    launch_of,
)
from pytest_rmsperf.costs import StaticCheck, StaticCost
from pytest_rmsperf.judge.cost import ArchVerdict, CostFinding, CostLimits, CostVerdict, judge_cost
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.report.cost_messages import cost_headline, cost_message, cost_remedy

SAVE = "pytest --rmsperf-static --rmsperf-save"
NAMED = f'{SAVE} -k "{CASE_ID}"'
ADA = replace(STORED, arch="sm_89", fits=(fit_of_device(L4, blocks=256, blocks_per_sm=5),))
UNFIT = (
    f"does not fit {L4}: 3 blocks too many (computed)\n"
    "  row asks for 293 blocks at once\n"
    "split it, then: pytest --rmsperf --lf"
)


def verdict_of(*pairs: tuple[StaticCost | StaticCheck, StaticCost | None]) -> CostVerdict:
    """Judge costs or checks of several archs, each against its baseline."""
    checks = [one if isinstance(one, StaticCheck) else check_of(one) for one, _ in pairs]
    baselines = {one.arch: one for _, one in pairs if one is not None}
    return judge_cost(CASE_ID, checks, baselines, CostLimits())


def lines_of(verdict: CostVerdict, policy: Policy | None = None) -> list[str]:
    message = cost_message(verdict, policy or Policy())
    assert message is not None
    return message.splitlines()


def with_status(status: Status, *, is_paired: bool = False) -> CostVerdict:
    one = ArchVerdict("sm_90", status, (CostFinding(("sm_90",), "a finding"),), (), STORED, STORED)
    return CostVerdict(CASE_ID, (one,), (), is_paired)


def on(*devices: str, tile: int, arch: str = "sm_90") -> StaticCost:
    fits = [fit_of_device(one, facts=(("tile", tile),)) for one in devices]
    return cost_of(*fits, arch=arch)


# ---- the whole message -----------------------------------------------------------------------


def test_a_message_is_verdict_evidence_remedy() -> None:
    heavier = cost_of(fit_of_device(blocks_per_sm=5), kernels=[kernel_of(registers=48)])

    assert lines_of(verdict_of((heavier, STORED), (ADA, ADA))) == [
        (
            f"costlier: {H100}: 6 -> 5 blocks per SM of row, limited by registers: "
            "registers 40 -> 48 per thread"
        ),
        "  also       headroom of row 280 of 792 -> 148 of 660 blocks (limit 79 less)",
        (
            f"  left       {H100}: fits by 148 blocks of 660; "
            "one more register per thread: 5 -> 4 blocks per SM; "
            "28161 more shared bytes per block: 5 -> 4 blocks per SM"
        ),
        "  archs      sm_90 costlier; sm_89 unchanged; compiled by nvrtc 13.0.88",
        f"accept it with: {NAMED}",
    ]


@pytest.mark.parametrize("status", [Status.UNCHANGED, Status.CHEAPER])
def test_a_verdict_that_passes_has_no_message(status: Status) -> None:
    assert cost_message(with_status(status), Policy()) is None


def test_a_policy_decides_whether_a_change_has_a_message() -> None:
    lenient = Policy(((Status.CHANGED, Outcome.WARN),))

    assert cost_message(with_status(Status.CHANGED), lenient) is None


def test_a_change_alike_everywhere_is_told_once_and_devices_are_listed_below() -> None:
    pairs = [
        (on(H100, H200, tile=8192), on(H100, H200, tile=4096)),
        (on(A100, tile=8192, arch="sm_80"), on(A100, tile=4096, arch="sm_80")),
    ]

    assert lines_of(verdict_of(*pairs))[:3] == [
        "changed: all 3 devices: tile 4096 -> 8192",
        f"  on         {H100}, {H200}, {A100}",
        "  archs      sm_90, sm_80 changed; compiled by nvrtc 13.0.88",
    ]


def test_archs_are_counted_above_and_listed_at_the_end_alone() -> None:
    archs = ("sm_80", "sm_89", "sm_90")
    pairs = [(replace(SPILLING, arch=one), replace(STORED, arch=one)) for one in archs]

    assert lines_of(verdict_of(*pairs))[:2] == [
        "costlier: all 3 archs: spill stores 0 -> 8 bytes per thread of row",
        "  archs      sm_80, sm_89, sm_90 costlier; compiled by nvrtc 13.0.88",
    ]


def test_devices_that_are_not_all_are_counted() -> None:
    pairs = [
        (on(H100, H200, A100, tile=8192), on(H100, H200, A100, tile=4096)),
        (ADA, ADA),
    ]

    assert cost_headline(verdict_of(*pairs)) == "changed: 3 devices: tile 4096 -> 8192"


def test_findings_of_the_same_devices_stand_together_and_others_on_lines_of_their_own() -> None:
    before = cost_of(fit_of_device(H100), fit_of_device(H200))
    launches = launch_of(blocks=256, smem=0), launch_of(blocks=128, threads=128)
    after = cost_of(fit_of_device(H100, launches[0]), fit_of_device(H200, launches[1]))

    assert lines_of(verdict_of((after, before)))[:3] == [
        f"changed: {H100}: dynamic shared bytes 16384 -> 0 per block of row",
        "  also       blocks 512 -> 256 of row",
        f"             {H200}: threads 256 -> 128 per block of row; blocks 512 -> 128 of row",
    ]


def test_what_is_no_reason_stands_besides() -> None:
    ours = replace(ADA, kernels=(kernel_of(registers=44),))

    lines = lines_of(verdict_of((SPILLING, STORED), (ours, ADA)))

    assert lines[1] == "  besides    sm_89: registers 40 -> 44 per thread of row"


def test_many_findings_are_counted() -> None:
    facts = tuple((f"fact_{number}", 1) for number in range(8))
    after = cost_of(fit_of_device(facts=facts))

    lines = lines_of(verdict_of((after, cost_of(fit_of_device(facts=())))))

    assert lines[6:8] == ["             fact_6 none -> 1", "             and 1 more"]


# ---- violated --------------------------------------------------------------------------------


def test_a_violation_is_told_whole_with_its_own_remedy_before_the_way_out() -> None:
    spilling = replace(ADA, kernels=SPILLING.kernels)

    assert lines_of(verdict_of((STORED, STORED), (check_of(spilling, (L4, UNFIT)), ADA))) == [
        f"violated: {L4}: does not fit: 3 blocks too many (computed)",
        "  row asks for 293 blocks at once",
        "  besides    sm_89: spill stores 0 -> 8 bytes per thread of row",
        "  archs      sm_90 unchanged; sm_89 violated; compiled by nvrtc 13.0.88",
        "split it, then: pytest --rmsperf --lf",
        "make it fit, or leave the device out of --rmsperf-devices",
    ]


def test_of_several_violations_one_is_told_whole_and_all_are_named() -> None:
    twice = [(one, UNFIT.replace(L4, one)) for one in (H100, H200)]
    check = check_of(cost_of(fit_of_device(H100), fit_of_device(H200)), *twice)

    lines = lines_of(verdict_of((check, None), (check_of(ADA, (L4, "no plan\n  why")), ADA)))

    assert (lines[0], lines[2]) == (
        f"violated: {H100}, {H200}: does not fit: 3 blocks too many (computed)",
        f"  also       {L4}: no plan",
    )


# ---- what is left ----------------------------------------------------------------------------


def test_clusters_that_nobody_asked_about_are_said_to_be_unknown() -> None:
    before, after = (
        cost_of(fit_of_device(H200, launch_of(cluster=8, blocks_per_sm=one))) for one in (6, 5)
    )

    lines = lines_of(verdict_of((after, before)))

    assert (
        f"             {H200}: at most 82 clusters of 8 blocks fit by computation; how many do, "
        "only the device says"
    ) in lines


def test_what_is_left_is_told_only_where_something_was_lost() -> None:
    changed = verdict_of((cost_of(fit_of_device(blocks=256)), STORED))

    assert not any(line.startswith("  left") for line in lines_of(changed))


# ---- headline and remedy ---------------------------------------------------------------------


def test_an_unchanged_cost_says_what_is_the_same() -> None:
    assert cost_headline(verdict_of((STORED, STORED))) == (
        "unchanged: blocks per SM, headroom and plan are the same"
    )


def test_a_case_that_no_device_can_run_says_so() -> None:
    assert cost_headline(verdict_of()) == "missing: no device of interest"


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.COSTLIER, f"accept it with: {NAMED}"),
        (Status.CHANGED, f"accept it with: {NAMED}"),
        (Status.CHEAPER, f"accept it with: {NAMED}"),
        (Status.MISSING, f"create it with: {NAMED}"),
        (Status.INCOMPARABLE, f"store what this compiler makes of all cases with: {SAVE}"),
        (Status.VIOLATED, "make it fit, or leave the device out of --rmsperf-devices"),
        (Status.UNCHANGED, "nothing to do"),
    ],
)
def test_each_verdict_has_its_remedy(status: Status, text: str) -> None:
    assert cost_remedy(with_status(status)) == text


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.COSTLIER, f"mend the kernel, or accept it with: {NAMED}"),
        (Status.CHANGED, f"accept it with: {NAMED}"),
        (Status.MISSING, "compare with a commit that has it: pytest --rmsperf-against=REF"),
        (
            Status.INCOMPARABLE,
            "compare with a commit that is compiled alike: pytest --rmsperf-against=REF",
        ),
    ],
)
def test_another_commit_has_remedies_of_its_own(status: Status, text: str) -> None:
    assert cost_remedy(with_status(status, is_paired=True)) == text


def test_a_save_that_refuses_a_loss_says_how_to_name_it() -> None:
    text = cost_remedy(with_status(Status.COSTLIER), saves=True)

    assert text == f"nothing of this run is saved; name the case to accept it: {NAMED}"
