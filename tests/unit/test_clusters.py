"""What is known of clusters without a device: which can never be launched on it."""

from __future__ import annotations

import pytest

from pytest_rmsperf.device.clusters import cluster_refusal, has_clusters, largest_cluster
from pytest_rmsperf.device.occupancy import LIMITS
from pytest_rmsperf.launch import KernelLaunch


def launch_of(blocks_per_cluster: int) -> KernelLaunch:
    return KernelLaunch("row", 240, 128, (), blocks_per_cluster=blocks_per_cluster)


def test_clusters_begin_with_compute_capability_9_0() -> None:
    known = [limits.compute_capability for limits in LIMITS]

    assert [one for one in known if has_clusters(one)] == known[known.index("9.0") :]


@pytest.mark.parametrize(
    ("compute_capability", "blocks"),
    [("8.9", 1), ("9.0", 16), ("10.0", 16), ("11.0", 8), ("12.0", 16), ("12.1", 8)],
)
def test_the_largest_cluster_is_that_of_the_documents(compute_capability: str, blocks: int) -> None:
    assert largest_cluster(compute_capability) == blocks


@pytest.mark.parametrize(
    ("compute_capability", "size"), [("7.5", 1), ("8.9", 1), ("9.0", 16), ("12.1", 8)]
)
def test_a_cluster_that_some_device_takes_is_not_refused(
    compute_capability: str, size: int
) -> None:
    assert cluster_refusal(compute_capability, launch_of(size)) is None


@pytest.mark.parametrize("compute_capability", ["7.5", "8.9"])
def test_a_device_without_clusters_refuses_one_of_two_blocks(compute_capability: str) -> None:
    assert cluster_refusal(compute_capability, launch_of(2)) == (
        f"row has clusters of 2 blocks, and compute capability {compute_capability} has none: "
        "they begin with 9.0"
    )


@pytest.mark.parametrize(
    ("compute_capability", "size", "most"), [("9.0", 20, 16), ("10.0", 24, 16), ("12.1", 10, 8)]
)
def test_a_cluster_above_the_largest_is_refused_with_what_is_portable(
    compute_capability: str, size: int, most: int
) -> None:
    assert cluster_refusal(compute_capability, launch_of(size)) == (
        f"row has clusters of {size} blocks, and compute capability {compute_capability} takes "
        f"at most {most} (8 are portable)"
    )
