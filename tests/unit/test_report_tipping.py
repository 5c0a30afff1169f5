"""What a plan has left on a device, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import H100, H200, STORED, cost_of, fit_of_device, kernel_of, launch_of
from pytest_rmsperf.costs import PlannedLaunch
from pytest_rmsperf.report.tipping import clusters_line, slack_of, tipping_points

TIPS = (
    "one more register per thread: 6 -> 5 blocks per SM; "
    "20481 more shared bytes per block: 6 -> 5 blocks per SM"
)


def test_blocks_to_spare_stand_before_the_tipping_points() -> None:
    assert tipping_points(STORED, STORED.fits[0]) == f"fits by 280 blocks of 792; {TIPS}"


def test_a_plan_that_does_not_wait_has_tipping_points_alone() -> None:
    fit = fit_of_device(H100, launch_of(waits=False))

    assert tipping_points(STORED, fit) == TIPS


def test_clusters_that_nobody_asked_about_fit_by_at_most_so_many() -> None:
    fit = fit_of_device(H100, launch_of(cluster=8))

    assert tipping_points(STORED, fit) == f"fits by at most 280 blocks of 792; {TIPS}"


def test_the_tipping_points_are_those_of_the_tightest_launch() -> None:
    launches = launch_of("sums", blocks=8, smem=0), launch_of("row")
    cost = cost_of(kernels=[kernel_of("sums", registers=200), kernel_of()])

    assert tipping_points(cost, fit_of_device(H100, *launches)).endswith(TIPS)


def test_an_arch_of_unknown_limits_has_only_blocks_to_spare() -> None:
    unknown = replace(STORED, arch="sm_20")

    assert tipping_points(unknown, STORED.fits[0]) == "fits by 280 blocks of 792"


@pytest.mark.parametrize(
    "launch", [launch_of(), launch_of(cluster=8, active_clusters=64)], ids=["no cluster", "asked"]
)
def test_nothing_is_unknown_without_clusters_or_where_the_device_was_asked(
    launch: PlannedLaunch,
) -> None:
    assert clusters_line(fit_of_device(H200, launch)) is None


def test_clusters_that_nobody_asked_about_are_bounded_by_computation() -> None:
    assert clusters_line(fit_of_device(H200, launch_of(cluster=8))) == (
        f"{H200}: at most 99 clusters of 8 blocks fit by computation; "
        "how many do, only the device says"
    )


def test_a_device_without_a_plan_has_nothing_to_lose() -> None:
    planless = fit_of_device(H200, why_not="a row is 32 blocks and 20 fit")

    assert (slack_of(STORED, planless), clusters_line(planless)) == (None, None)
