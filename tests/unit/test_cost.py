"""The judge of static costs: what each difference is by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import H100, STORED, cost_of, fit_of_device, judge_arch, kernel_of, launch_of, told
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.resources import CompiledKernel

HEAVIER = cost_of(fit_of_device(blocks_per_sm=5), kernels=[kernel_of(registers=48)])


# ---- what stays ------------------------------------------------------------------------------


def test_the_same_cost_is_unchanged_and_nothing_is_noted() -> None:
    found = judge_arch(STORED, STORED)

    assert (found.status, told(found.findings), told(found.notes)) == (Status.UNCHANGED, (), ())


def test_registers_alone_are_a_note() -> None:
    found = judge_arch(cost_of(kernels=[kernel_of(registers=38)]), STORED)

    assert (found.status, told(found.findings), told(found.notes)) == (
        Status.UNCHANGED,
        (),
        ("sm_90: registers 40 -> 38 per thread of row",),
    )


def test_a_verdict_keeps_both_costs() -> None:
    found = judge_arch(HEAVIER, STORED)

    assert (found.current, found.baseline) == (HEAVIER, STORED)


# ---- costlier, changed, cheaper --------------------------------------------------------------


def test_losing_a_block_per_sm_is_costlier_and_names_device_kernel_and_cause() -> None:
    found = judge_arch(HEAVIER, STORED)

    assert (found.status, told(found.findings)[0]) == (
        Status.COSTLIER,
        f"{H100}: 6 -> 5 blocks per SM of row, limited by registers: registers 40 -> 48 per thread",
    )


def test_a_cause_that_a_finding_names_is_not_noted_again() -> None:
    assert told(judge_arch(HEAVIER, STORED).notes) == ()


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (kernel_of(spills=(8, 0)), "spill stores 0 -> 8 bytes per thread of row"),
        (kernel_of(spills=(0, 4)), "spill loads 0 -> 4 bytes per thread of row"),
        (kernel_of(local=16), "local bytes 0 -> 16 per thread of row"),
    ],
)
def test_any_spill_or_local_byte_more_is_costlier(kernel: CompiledKernel, text: str) -> None:
    found = judge_arch(replace(STORED, kernels=(kernel,)), STORED)

    assert (found.status, told(found.findings)) == (Status.COSTLIER, (f"sm_90: {text}",))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (kernel_of(spills=(8, 0)), "spill stores 8 -> 0 bytes per thread of row"),
        (kernel_of(spills=(0, 4)), "spill loads 4 -> 0 bytes per thread of row"),
        (kernel_of(local=16), "local bytes 16 -> 0 per thread of row"),
    ],
)
def test_a_spill_that_is_gone_is_cheaper(kernel: CompiledKernel, text: str) -> None:
    found = judge_arch(STORED, replace(STORED, kernels=(kernel,)))

    assert (found.status, told(found.findings)) == (Status.CHEAPER, (f"sm_90: {text}",))


def test_a_block_per_sm_more_is_cheaper() -> None:
    found = judge_arch(STORED, HEAVIER)

    assert (found.status, told(found.findings)[0]) == (
        Status.CHEAPER,
        f"{H100}: 5 -> 6 blocks per SM of row: registers 48 -> 40 per thread",
    )


def test_a_changed_decision_that_is_also_cheaper_is_changed() -> None:
    larger = cost_of(fit_of_device(H100, launch_of(smem=49152, blocks_per_sm=4)))

    found = judge_arch(STORED, larger)

    assert (found.status, told(found.findings), told(found.notes)[0]) == (
        Status.CHANGED,
        (f"{H100}: dynamic shared bytes 49152 -> 16384 per block of row",),
        f"{H100}: 4 -> 6 blocks per SM of row: dynamic shared bytes 49152 -> 16384 per block",
    )


def test_removed_launch_bounds_are_changed() -> None:
    found = judge_arch(cost_of(kernels=[kernel_of(bounds=1024)]), STORED)

    assert (found.status, told(found.findings)) == (
        Status.CHANGED,
        ("sm_90: launch bounds 256 -> none of row",),
    )


def test_a_larger_grid_is_changed_and_no_loss_where_blocks_do_not_wait() -> None:
    grids = [
        cost_of(fit_of_device(H100, launch_of(blocks=one, waits=False))) for one in (4096, 8192)
    ]

    found = judge_arch(grids[1], grids[0])

    assert (found.status, told(found.findings)) == (
        Status.CHANGED,
        (f"{H100}: blocks 4096 -> 8192 of row",),
    )


def test_another_kernel_is_changed_and_both_are_named() -> None:
    other = cost_of(fit_of_device(H100, launch_of("tiles")), kernels=[kernel_of("tiles")])

    found = judge_arch(other, STORED)

    assert (found.status, told(found.findings)) == (
        Status.CHANGED,
        (
            f"{H100}: launches of row -> tiles",
            "sm_90: kernel row is gone",
            "sm_90: kernel tiles is new",
        ),
    )


def test_another_tile_is_changed() -> None:
    other = cost_of(fit_of_device(facts=(("tile", 8192), ("rows_per_launch", 16))))

    assert told(judge_arch(other, STORED).findings) == (f"{H100}: tile 4096 -> 8192",)


# ---- headroom --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "status"), [(591, Status.CHANGED), (592, Status.COSTLIER)], ids=["79", "80"]
)
def test_headroom_may_fall_by_a_tenth_of_the_blocks_that_are_held(
    blocks: int, status: Status
) -> None:
    found = judge_arch(cost_of(fit_of_device(blocks=blocks)), STORED)

    assert found.status is status


def test_too_little_headroom_is_told_with_both_numbers_and_the_limit() -> None:
    found = judge_arch(cost_of(fit_of_device(blocks=788)), STORED)

    assert (told(found.findings), told(found.notes)) == (
        (f"{H100}: headroom of row 280 -> 4 blocks of 792 (limit 79 less)",),
        (f"{H100}: blocks 512 -> 788 of row",),
    )


def test_the_share_of_headroom_is_a_setting() -> None:
    current = cost_of(fit_of_device(blocks=788))

    statuses = [judge_arch(current, STORED, headroom_loss=one).status for one in (0.34, 0.35)]

    assert statuses == [Status.COSTLIER, Status.CHANGED]


def test_active_clusters_that_one_side_knows_are_no_difference() -> None:
    known, unknown = (
        cost_of(fit_of_device(H100, launch_of(cluster=8, active_clusters=one)))
        for one in (65, None)
    )

    assert [judge_arch(known, unknown).status, judge_arch(unknown, known).status] == [
        Status.UNCHANGED
    ] * 2
