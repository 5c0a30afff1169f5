"""Blocks per SM and headroom that are lost: to what, and by how much."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import (
    H100,
    H200,
    fit_of_device,
    kernel_of,
    launch_of,
    resources_of,
)
from pytest_rmsperf.costs import PlannedLaunch
from pytest_rmsperf.device.occupancy import blocks_per_sm, limits_for
from pytest_rmsperf.judge.cost_differences import (
    headroom_difference,
    launch_differences,
    limited_by,
    limits_of,
    resource_differences,
)
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.resources import CompiledKernel

HOPPER = limits_for("9.0")
ROW = resources_of()


# ---- blocks per SM ---------------------------------------------------------------------------


def test_all_causes_of_a_lost_block_stand_before_it() -> None:
    heavier = kernel_of(registers=64, smem=2048, code=None)
    after = resources_of(heavier, fit=fit_of_device(H200, launch_of(blocks_per_sm=4)))

    [told] = resource_differences(ROW, after)

    assert told == (
        "registers 40 -> 64 per thread, static shared bytes 1024 -> 2048 per block: "
        "6 -> 4 blocks per SM"
    )


def test_only_causes_of_the_scarce_resource_are_told_where_it_is_known() -> None:
    before = resources_of(fit=fit_of_device(H100))
    heavier = kernel_of(registers=64, smem=2048)
    after = resources_of(heavier, fit=fit_of_device(H100, launch_of(blocks_per_sm=4)))

    [found] = launch_differences(before, after, HOPPER)

    assert str(found) == (
        "6 -> 4 blocks per SM of row, limited by registers: registers 40 -> 64 per thread"
    )


def test_a_lost_block_without_a_cause_of_ours_is_told_alone() -> None:
    after = resources_of(fit=fit_of_device(H200, blocks_per_sm=5))

    assert resource_differences(ROW, after) == ["6 -> 5 blocks per SM"]


@pytest.mark.parametrize(
    ("kernel", "launch", "scarce"),
    [
        (kernel_of(registers=48), launch_of(), "registers"),
        (kernel_of(), launch_of(smem=49152), "shared memory"),
        (kernel_of(registers=24), launch_of(smem=0), "threads"),
        (kernel_of(registers=128, smem=0), launch_of(smem=100_000), "registers and shared memory"),
    ],
    ids=["registers", "shared", "threads", "both"],
)
def test_the_scarce_resource_is_the_one_that_gives_a_block_when_it_is_free(
    kernel: CompiledKernel, launch: PlannedLaunch, scarce: str
) -> None:
    assert limited_by(HOPPER, kernel, launch) == scarce


def test_the_example_of_two_scarce_resources_holds() -> None:
    kernel = kernel_of(registers=128, smem=0)

    held = [
        blocks_per_sm(HOPPER, one, 256, smem)
        for one, smem in (
            (kernel, 100_000),
            (kernel, 0),
            (replace(kernel, registers_per_thread=0), 100_000),
        )
    ]

    assert held == [2, 2, 2]


@pytest.mark.parametrize(
    ("arch", "capability"),
    [("sm_75", "7.5"), ("sm_90", "9.0"), ("sm_90a", "9.0"), ("sm_120f", "12.0")],
)
def test_an_arch_has_the_limits_of_its_compute_capability(arch: str, capability: str) -> None:
    limits = limits_of(arch)

    assert limits is not None
    assert limits.compute_capability == capability


@pytest.mark.parametrize("arch", ["sm_20", "sm_", "native"])
def test_an_arch_that_nobody_knows_has_no_limits(arch: str) -> None:
    assert limits_of(arch) is None


# ---- headroom --------------------------------------------------------------------------------


def test_headroom_is_told_of_both_limits_where_the_device_holds_fewer_blocks() -> None:
    found = headroom_difference(fit_of_device(), fit_of_device(blocks_per_sm=5), 0.5)

    assert str(found) == "headroom of row 280 of 792 -> 148 of 660 blocks"


@pytest.mark.parametrize("waits", [(True, False), (False, True), (False, False)])
def test_headroom_is_compared_only_where_both_plans_wait(waits: tuple[bool, bool]) -> None:
    before, after = (fit_of_device(H100, launch_of(waits=one, blocks=9)) for one in waits)

    assert headroom_difference(before, after, 0.1) is None


def test_more_headroom_is_a_note() -> None:
    found = headroom_difference(fit_of_device(blocks=700), fit_of_device(blocks=1), 0.1)

    assert found is not None
    assert (found.status, str(found)) == (
        Status.UNCHANGED,
        "headroom of row 92 -> 791 blocks of 792",
    )


@pytest.mark.parametrize(
    ("blocks", "status"), [(710, Status.UNCHANGED), (711, Status.COSTLIER)], ids=["198", "199"]
)
def test_headroom_that_falls_by_the_whole_share_is_within_it(blocks: int, status: Status) -> None:
    found = headroom_difference(fit_of_device(), fit_of_device(blocks=blocks), 0.25)

    assert found is not None
    assert found.status is status
