"""Print what is computed of the bundled kernels, their plans and probes, and the driver's word.

The argument says of what: `kernels`, `launches` or `plans`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

from pytest_rmsperf import probes
from pytest_rmsperf.cases import Variant
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.costs import DeviceFit, fit_of
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import LoadedModule
from pytest_rmsperf.device.occupancy import ProfileCapacity, blocks_per_sm, limits_for
from pytest_rmsperf.device.profiles import PROFILES, DeviceProfile
from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.launch import MAX_THREADS_PER_BLOCK, LaunchPlan
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.residency import check_residency
from pytest_rmsperf.resources import CompiledKernel, CompiledModule
from pytest_rmsperf.selftest import faults

FIGURES = {
    "registers": "num_regs",
    "static_smem_bytes": "shared_size_bytes",
    "local_bytes": "local_size_bytes",
    "max_threads": "max_threads_per_block",
    "binary_version": "binary_version",
}


@dataclass(frozen=True)
class Planned:
    """One variant planned for one problem by both capacities; nothing of it is launched."""

    name: str
    variant: Variant
    problem: Problem
    compiled: CompiledModule
    loaded: LoadedModule
    profiled: ProfileCapacity

    @cached_property
    def computed(self) -> LaunchPlan:
        return self.variant.plan(self.problem, self.profiled)

    @cached_property
    def by_driver(self) -> LaunchPlan:
        return self.variant.plan(self.problem, self.loaded)

    @property
    def fits(self) -> tuple[DeviceFit, DeviceFit]:
        """Return the fit as the static gate computes it, then as the driver says it."""
        computed = check_residency(self.computed, self.compiled, self.profiled, source="computed")
        driver = check_residency(self.by_driver, self.compiled, self.loaded, source="driver")
        return fit_of(computed, self.computed), fit_of(driver, self.by_driver)


def wanted() -> Iterator[tuple[str, Variant, Problem]]:
    """Yield the operator's, the selftest's and the probes' variants with their problems."""
    for operator in (OPERATOR, faults.OPERATOR):
        for variant in operator.variants:
            for problem in operator.problems:
                yield f"{operator.name}/{variant.name}/{problem.label}", variant, problem
    for problem in OPERATOR.problems:
        moved = Problem.of(bytes=OPERATOR.traffic_bytes(problem))
        for variant in probes.OPERATOR.variants:
            yield f"probe/{variant.name}/{moved.label}", variant, moved
    yield "probe/block", probes.BLOCK, Problem.of(words=1, limit_ns=1)


def profile_of(identity: DeviceIdentity) -> DeviceProfile:
    """Return the profile of this device, or of none other than what CUDA says of it."""
    for profile in PROFILES:
        if (profile.identity.name, profile.identity.sms) == (identity.name, identity.sms):
            return profile
    return DeviceProfile(identity, "no profile: asked from CUDA")


def planned(checker: Checker, profile: DeviceProfile) -> Iterator[Planned]:
    for name, variant, problem in wanted():
        compiled = checker.compiled(variant)
        capacity = ProfileCapacity(profile, compiled)
        yield Planned(name, variant, problem, compiled, checker.on_cuda(variant), capacity)


def largest_block(kernel: CompiledKernel, compute_capability: str) -> int:
    """Return the threads of the largest block of which one fits an SM; the driver says the same."""
    limits = limits_for(compute_capability)
    sizes = range(1, MAX_THREADS_PER_BLOCK + 1)
    return max((one for one in sizes if blocks_per_sm(limits, kernel, one, 0)), default=0)


def kernels(checker: Checker, profile: DeviceProfile) -> Iterator[dict[str, object]]:
    """Yield the figures of each compiled kernel once, whether a plan launches it or not."""
    for name, variant in {
        name.rpartition("/")[0]: variant for name, variant, _ in wanted()
    }.items():
        loaded = checker.on_cuda(variant)
        for kernel in checker.compiled(variant).kernels:
            computed = (
                kernel.registers_per_thread,
                kernel.static_smem_bytes,
                kernel.local_bytes,
                largest_block(kernel, profile.identity.compute_capability),
                int(profile.arch.removeprefix("sm_")),
            )
            driver = [loaded.attribute(kernel.name, word) for word in FIGURES.values()]
            yield {
                "kernel": f"{name}:{kernel.name}",
                "computed": dict(zip(FIGURES, computed, strict=True)),
                "driver": dict(zip(FIGURES, driver, strict=True)),
            }


def launches(checker: Checker, profile: DeviceProfile) -> Iterator[dict[str, object]]:
    """Yield every launch of every plan with the blocks per SM of both."""
    for one in planned(checker, profile):
        for launch in one.by_driver.launches:
            place = (launch.kernel, launch.threads_per_block, launch.dynamic_smem_bytes)
            yield {
                "launch": f"{one.name}:{launch.kernel}",
                "blocks": launch.blocks,
                "threads_per_block": launch.threads_per_block,
                "dynamic_smem_bytes": launch.dynamic_smem_bytes,
                "computed": one.profiled.blocks_per_sm(*place),
                "driver": one.loaded.blocks_per_sm(*place),
            }


def plans(checker: Checker, profile: DeviceProfile) -> Iterator[dict[str, object]]:
    """Yield every plan and its fit, as computed and as by the driver."""
    for one in planned(checker, profile):
        computed, driver = one.fits
        yield {
            "plan": one.name,
            "launches": len(driver.launches),
            "limit_blocks": driver.limit_blocks,
            "headroom_blocks": driver.headroom_blocks,
            "same_plan": one.computed == one.by_driver,
            "computed": asdict(computed),
            "driver": asdict(driver),
        }


WAYS = {one.__name__: one for one in (kernels, launches, plans)}


def main(way: str) -> None:
    context = CudaContext.open()
    identity = context.identity()
    profile = profile_of(identity)
    found = WAYS[way](Checker(context, identity.arch), profile)
    print(json.dumps({"profile": profile.source, "found": list(found)}))


if __name__ == "__main__":
    main(sys.argv[1])
