"""Whether the launches of a plan fit a device, each as a whole where its blocks wait on others."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.resources import Capacity, CompiledKernel, CompiledModule


@dataclass(frozen=True, slots=True)
class LaunchResidency:
    """One launch against the device: what it asks for and what fits.

    `active_clusters` are those resident at a time, None where nobody was asked: then the blocks
    that fit are no more than an upper bound, because a cluster needs its SMs in one GPC.
    """

    launch: KernelLaunch
    kernel: CompiledKernel
    blocks_per_sm: int
    sms: int
    active_clusters: int | None = None

    @property
    def limit_blocks(self) -> int:
        """Blocks that are resident at a time: whole clusters, where there are clusters."""
        return blocks_held(
            self.blocks_per_sm, self.sms, self.launch.blocks_per_cluster, self.active_clusters
        )

    @property
    def is_upper_bound(self) -> bool:
        """Whether fewer blocks may fit than computed, as the device alone can say."""
        return self.launch.blocks_per_cluster > 1 and self.active_clusters is None

    @property
    def headroom_blocks(self) -> int:
        """Blocks to spare; negative when the launch does not fit."""
        return self.limit_blocks - self.launch.blocks

    @property
    def fits(self) -> bool:
        if self.launch.must_be_resident:
            return self.headroom_blocks >= 0
        return self.limit_blocks > 0

    def explain(self, unit: str) -> str:
        """Return the evidence for a launch that does not fit: both numbers and their causes."""
        launch, kernel = self.launch, self.kernel
        smem = kernel.static_smem_bytes + launch.dynamic_smem_bytes
        cost = (
            f"{kernel.registers_per_thread} registers per thread, "
            f"{launch.threads_per_block} threads and {smem} shared bytes "
            f"({launch.dynamic_smem_bytes} of them dynamic) per block"
        )
        if launch.threads_per_block > kernel.max_threads_per_block:
            cost += f"; its __launch_bounds__ allow {kernel.max_threads_per_block} threads"
        units = self.limit_blocks // launch.blocks_per_unit
        plural = "s" if launch.blocks_per_unit > 1 else ""
        return (
            f"  {launch.kernel} asks for {launch.blocks} blocks at once; {self._fitting}\n"
            f"  because    {cost}\n"
            f"  would fit  {units} {unit}s per launch "
            f"({launch.blocks_per_unit} block{plural} per {unit})"
        )

    @property
    def _fitting(self) -> str:
        size, limit = self.launch.blocks_per_cluster, self.limit_blocks
        on_all_sms = f"{self.blocks_per_sm} blocks per SM x {self.sms} SMs"
        if size == 1:
            return f"{on_all_sms} = {limit} fit"
        clusters = f"{limit // size} clusters of {size} = {limit} fit"
        return f"{clusters} at most ({on_all_sms})" if self.is_upper_bound else clusters


@dataclass(frozen=True, slots=True)
class Residency:
    """All launches of one plan against one device."""

    device: str
    source: str  # "driver" when the driver was asked, "computed" from a device profile
    unit: str
    launches: tuple[LaunchResidency, ...]

    @property
    def fits(self) -> bool:
        return all(launch.fits for launch in self.launches)

    @property
    def tightest(self) -> LaunchResidency:
        """The launch that must be resident and has least headroom, else the first of fewest."""
        waiting = [one for one in self.launches if one.launch.must_be_resident]
        if waiting:
            return min(waiting, key=lambda one: one.headroom_blocks)
        return min(self.launches, key=lambda one: one.blocks_per_sm)

    @property
    def headroom_blocks(self) -> int | None:
        """Blocks to spare of the tightest launch; None when no launch waits on other blocks."""
        tightest = self.tightest
        return tightest.headroom_blocks if tightest.launch.must_be_resident else None

    def __str__(self) -> str:
        if self.fits:
            spare = self.headroom_blocks
            if spare is None:
                return f"fits {self.device} ({self.source}): no launch waits on other blocks"
            tightest = self.tightest
            at_most = "at most " if tightest.is_upper_bound else ""
            return (
                f"fits {self.device} ({self.source}): {tightest.launch.blocks} of "
                f"{at_most}{tightest.limit_blocks} blocks, {spare} to spare"
            )
        broken = next(one for one in self.launches if not one.fits)
        excess = -broken.headroom_blocks
        if broken.limit_blocks:
            what = f"{excess} block{'s' if excess > 1 else ''} too many"
            remedy = (
                "a launch that waits on blocks which are not resident never ends; split its "
                f"{self.unit}s into more launches or make the block smaller"
            )
        else:
            what = f"not even one {'cluster' if broken.blocks_per_sm else 'block per SM'}"
            remedy = "the driver refuses such a launch; make the block smaller"
        headline = f"does not fit {self.device}: {what}"
        return (
            f"{headline} ({self.source})\n{broken.explain(self.unit)}\n"
            f"{remedy}, then: pytest --rmsperf --lf"
        )

    def require(self) -> None:
        """Raise GateFailure with both numbers and the remedy when a launch does not fit."""
        if not self.fits:
            raise GateFailure(str(self))


def blocks_held(
    blocks_per_sm: int, sms: int, blocks_per_cluster: int, active_clusters: int | None
) -> int:
    """Return how many blocks of a launch a device holds at a time, as whole clusters.

    An upper bound for clusters where nobody was asked how many are active.
    """
    if active_clusters is not None:
        return active_clusters * blocks_per_cluster
    return blocks_per_sm * sms // blocks_per_cluster * blocks_per_cluster


def check_residency(
    plan: LaunchPlan, module: CompiledModule, capacity: Capacity, *, source: str
) -> Residency:
    """Hold each launch of `plan` against `capacity`; nothing is launched and nothing clamped."""
    launches = tuple(
        LaunchResidency(
            launch=launch,
            kernel=module.kernel(launch.kernel),
            blocks_per_sm=capacity.blocks_per_sm(
                launch.kernel, launch.threads_per_block, launch.dynamic_smem_bytes
            ),
            sms=capacity.sms,
            active_clusters=(
                capacity.active_clusters(launch) if launch.blocks_per_cluster > 1 else None
            ),
        )
        for launch in plan.launches
    )
    return Residency(device=capacity.device, source=source, unit=plan.unit, launches=launches)
