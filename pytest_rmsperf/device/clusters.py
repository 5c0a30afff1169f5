"""What can be said of clusters of blocks without a device: which can never be launched on it.

How many clusters a device holds at a time depends on which SMs its very board has, so that only the
driver can say it.
"""

from __future__ import annotations

from pytest_rmsperf.environment import capability_number
from pytest_rmsperf.launch import KernelLaunch

FIRST_WITH_CLUSTERS = (9, 0)  # CUDA C++ Programming Guide, "Thread Block Clusters"
# What every device with clusters takes, save one with fewer SMs (same section).
PORTABLE_CLUSTER_BLOCKS = 8
# With an opt-in that is not portable: an H100 (Hopper Tuning Guide) and a B200 (Blackwell Tuning
# Guide). No device is documented to take more.
LARGEST_CLUSTER_BLOCKS = 16
# These stay at the portable size: integrated devices, as NVIDIA Warp's documentation of
# `get_cuda_max_cluster_dim` has it.
PORTABLE_ONLY = ("11.0", "12.1")


def has_clusters(compute_capability: str) -> bool:
    """Say whether devices of this compute capability, such as "9.0", launch clusters at all."""
    return capability_number(compute_capability) >= FIRST_WITH_CLUSTERS


def largest_cluster(compute_capability: str) -> int:
    """Return the most blocks of a cluster, opted in; 1 where there are no clusters."""
    if not has_clusters(compute_capability):
        return 1
    return (
        PORTABLE_CLUSTER_BLOCKS if compute_capability in PORTABLE_ONLY else LARGEST_CLUSTER_BLOCKS
    )


def cluster_refusal(compute_capability: str, launch: KernelLaunch) -> str | None:
    """Return why a launch can never run on devices of a compute capability, for its clusters.

    None says only that nothing rules it out: whether even one cluster fits, the driver knows.
    """
    size = launch.blocks_per_cluster
    if size <= largest_cluster(compute_capability):
        return None
    if not has_clusters(compute_capability):
        return (
            f"{launch.kernel} has clusters of {size} blocks, and compute capability "
            f"{compute_capability} has none: they begin with 9.0"
        )
    return (
        f"{launch.kernel} has clusters of {size} blocks, and compute capability "
        f"{compute_capability} takes at most {largest_cluster(compute_capability)} "
        f"({PORTABLE_CLUSTER_BLOCKS} are portable)"
    )
