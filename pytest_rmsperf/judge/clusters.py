"""What a device once said of clusters, used where the device itself is not asked.

How many clusters are resident together depends on how the SMs of the very board are spread over
its GPCs, so that it cannot be computed. A measurement on the device stores its driver's answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, StaticCheck


def with_known_clusters(check: StaticCheck, measured: Mapping[str, DeviceFit]) -> StaticCheck:
    """Return the check with the active clusters that are known, and what violates them.

    `measured` are plans stored with a measurement, by device. Its answer holds for a launch of the
    same kernel and shape, as often resident on one SM: what else a kernel needs does not matter.
    """
    if check.cost is None:
        return check
    fits = tuple(
        _informed(one, measured[one.device]) if one.device in measured else one
        for one in check.cost.fits
    )
    violated = dict(check.violations)
    for fit in fits:
        excess = next((one for one in fit.launches if _exceeds(one)), None)
        if excess is not None:
            violated.setdefault(fit.device, _does_not_fit(fit, excess))
    return replace(check, cost=replace(check.cost, fits=fits), violations=tuple(violated.items()))


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the number of active clusters depends on, on one device."""

    kernel: str
    threads_per_block: int
    dynamic_smem_bytes: int
    blocks_per_cluster: int
    blocks_per_sm: int


def _shape(launch: PlannedLaunch) -> _Shape:
    return _Shape(
        launch.kernel,
        launch.threads_per_block,
        launch.dynamic_smem_bytes,
        launch.blocks_per_cluster,
        launch.blocks_per_sm,
    )


def _informed(fit: DeviceFit, measured: DeviceFit) -> DeviceFit:
    if fit.sms != measured.sms:
        return fit
    known = {_shape(one): one.active_clusters for one in measured.launches}
    launches = tuple(
        replace(one, active_clusters=known.get(_shape(one))) if one.blocks_per_cluster > 1 else one
        for one in fit.launches
    )
    return replace(fit, launches=launches)


def _exceeds(launch: PlannedLaunch) -> bool:
    """Say whether a launch asks for more clusters at once than are known to be active."""
    if launch.active_clusters is None:
        return False
    wanted = launch.blocks // launch.blocks_per_cluster if launch.must_be_resident else 1
    return wanted > launch.active_clusters


def _does_not_fit(fit: DeviceFit, launch: PlannedLaunch) -> str:
    asked_of = "asked of the device, by its stored measurement"
    if not launch.must_be_resident:
        return (
            f"does not fit {fit.device}: not even one cluster of {launch.blocks_per_cluster} "
            f"blocks of {launch.kernel} is resident ({asked_of})\n"
            "the driver refuses such a launch; make the block smaller, then: pytest --rmsperf --lf"
        )
    clusters = launch.blocks // launch.blocks_per_cluster
    return (
        f"does not fit {fit.device}: {launch.kernel} asks for {clusters} clusters of "
        f"{launch.blocks_per_cluster} blocks; {launch.active_clusters} are resident together "
        f"({asked_of})\n"
        "a launch that waits on clusters which are not resident never ends; split it into more "
        "launches or make the block smaller, then: pytest --rmsperf --lf"
    )
