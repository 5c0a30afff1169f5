"""What one case costs where: the records that are stored, compared and shown.

A cost is exact: it comes from the compiler and from arithmetic, so two of them are equal or differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rmsperf.launch import LaunchPlan
from pytest_rmsperf.residency import LaunchResidency, Residency, blocks_held
from pytest_rmsperf.resources import CompiledKernel, CompiledModule


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """One launch of a plan on one device, and how much of it the device holds at a time.

    `must_be_resident` says that its blocks wait for one another, so that all of them must be held.
    `active_clusters` is what the driver said, None where it was not asked or where there are none.
    """

    kernel: str
    blocks: int
    threads_per_block: int
    dynamic_smem_bytes: int
    blocks_per_cluster: int
    must_be_resident: bool
    blocks_per_sm: int
    active_clusters: int | None = None

    def limit_blocks(self, sms: int) -> int:
        """Return how many blocks are resident at a time: whole clusters, where there are any."""
        return blocks_held(self.blocks_per_sm, sms, self.blocks_per_cluster, self.active_clusters)

    @property
    def is_upper_bound(self) -> bool:
        """Whether fewer blocks may fit than computed: clusters, of which no device was asked."""
        return self.blocks_per_cluster > 1 and self.active_clusters is None


@dataclass(frozen=True, slots=True)
class DeviceFit:
    """The plan of one case on one device: its launches in order, and the facts of the plan.

    `why_not` says why there is no plan for this device; then there are no launches.
    """

    device: str
    sms: int
    launches: tuple[PlannedLaunch, ...]
    facts: tuple[tuple[str, int], ...]
    why_not: str | None = None

    @property
    def tightest(self) -> PlannedLaunch | None:
        """The launch that must be resident and has least headroom, else the first of fewest."""
        waiting = [one for one in self.launches if one.must_be_resident]
        if waiting:
            return min(waiting, key=self._headroom)
        return min(self.launches, key=lambda one: one.blocks_per_sm, default=None)

    @property
    def limit_blocks(self) -> int:
        """Blocks of the tightest launch that the device holds; 0 where there is no plan."""
        return self.tightest.limit_blocks(self.sms) if self.tightest is not None else 0

    @property
    def is_upper_bound(self) -> bool:
        """Whether the device may hold fewer blocks of the tightest launch than computed."""
        return self.tightest is not None and self.tightest.is_upper_bound

    @property
    def headroom_blocks(self) -> int | None:
        """Blocks to spare of the tightest launch; None where no launch waits on other blocks."""
        tightest = self.tightest
        if tightest is None or not tightest.must_be_resident:
            return None
        return self._headroom(tightest)

    def _headroom(self, launch: PlannedLaunch) -> int:
        return launch.limit_blocks(self.sms) - launch.blocks


@dataclass(frozen=True, slots=True)
class Resources:
    """What a measured case cost: the kernels that its plan launches, sorted by name, and its plan.

    Kept beside a latency, so that a change of it can be explained.
    """

    kernels: tuple[CompiledKernel, ...]
    fit: DeviceFit


@dataclass(frozen=True, slots=True)
class StaticCost:
    """One case compiled for one arch, and its plan on each device of interest that has this arch.

    `compiler` names what else than source and flags shaped the machine code. `kernels` are those
    that the plans launch, sorted by name. An accepted cost is a baseline.
    """

    case_id: str
    arch: str
    compiler: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]
    kernels: tuple[CompiledKernel, ...]
    fits: tuple[DeviceFit, ...]

    def fit_on(self, device: str) -> DeviceFit | None:
        """Return the plan on the device of this full name; None where it was not looked at."""
        return next((one for one in self.fits if one.device == device), None)


@dataclass(frozen=True, slots=True)
class StaticCheck:
    """One case held against the devices of interest of one arch, without launching anything.

    `cost` is None where the source does not compile for this arch: `failure` says why. `violations`
    hold, by device name, the whole message for each on which the plan does not fit.
    """

    arch: str
    cost: StaticCost | None
    failure: str | None = None
    violations: tuple[tuple[str, str], ...] = ()

    @property
    def refusals(self) -> tuple[tuple[str, str], ...]:
        """All violations: also of devices without a plan, and by arch where nothing compiles."""
        if self.cost is None:
            return ((self.arch, self.failure or "does not compile"),)
        planless = {one.device: one.why_not for one in self.cost.fits if one.why_not is not None}
        return tuple({**planless, **dict(self.violations)}.items())


def fit_of(residency: Residency, plan: LaunchPlan) -> DeviceFit:
    """Return what is stored of a plan that was held against a device."""
    sms = residency.launches[0].sms
    return DeviceFit(
        device=residency.device,
        sms=sms,
        launches=tuple(map(_planned, residency.launches)),
        facts=plan.facts,
    )


def kernel_named(kernels: Sequence[CompiledKernel], name: str) -> CompiledKernel | None:
    """Return the kernel of this name; None where there is none."""
    return next((one for one in kernels if one.name == name), None)


def launched_kernels(module: CompiledModule, *plans: LaunchPlan) -> tuple[CompiledKernel, ...]:
    """Return the kernels of a module that these plans launch, sorted by name."""
    names = {launch.kernel for plan in plans for launch in plan.launches}
    return tuple(sorted((module.kernel(name) for name in names), key=lambda one: one.name))


def _planned(one: LaunchResidency) -> PlannedLaunch:
    launch = one.launch
    return PlannedLaunch(
        kernel=launch.kernel,
        blocks=launch.blocks,
        threads_per_block=launch.threads_per_block,
        dynamic_smem_bytes=launch.dynamic_smem_bytes,
        blocks_per_cluster=launch.blocks_per_cluster,
        must_be_resident=launch.must_be_resident,
        blocks_per_sm=one.blocks_per_sm,
        active_clusters=one.active_clusters,
    )
