"""What a plan has left on a device, and how little more of something would lose a block per SM."""

from __future__ import annotations

from pytest_rmsperf.costs import DeviceFit, StaticCost, kernel_named
from pytest_rmsperf.device.occupancy import Slack, slack
from pytest_rmsperf.judge.cost_differences import limits_of


def tipping_points(cost: StaticCost, fit: DeviceFit) -> str:
    """Return what is left of a plan on a device, and what more would lose of its tightest launch.

    As "fits by 4 blocks of 528; one more register per thread: 3 -> 2 blocks per SM; ...".
    """
    headroom = fit.headroom_blocks
    at_most = " at most" if fit.is_upper_bound else ""
    spare = (
        [] if headroom is None else [f"fits by{at_most} {headroom} blocks of {fit.limit_blocks}"]
    )
    found = slack_of(cost, fit)
    return "; ".join([*spare, *(found.lines if found is not None else ())])


def slack_of(cost: StaticCost, fit: DeviceFit) -> Slack | None:
    """Return the tipping points of the tightest launch; None where its limits are not known."""
    launch, limits = fit.tightest, limits_of(cost.arch)
    kernel = kernel_named(cost.kernels, launch.kernel) if launch is not None else None
    if launch is None or limits is None or kernel is None:
        return None
    return slack(limits, kernel, launch.threads_per_block, launch.dynamic_smem_bytes)


def clusters_line(fit: DeviceFit) -> str | None:
    """Say what is not known of a plan that launches clusters, where no device was asked."""
    launch = fit.tightest
    if launch is None or not launch.is_upper_bound:
        return None
    most = launch.limit_blocks(fit.sms) // launch.blocks_per_cluster
    return (
        f"{fit.device}: at most {most} clusters of {launch.blocks_per_cluster} blocks fit by "
        "computation; how many do, only the device says"
    )
