"""Print how many clusters the driver holds beside our bound, and what becomes of one more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_rmsperf.accuracy import Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.costs import PlannedLaunch, fit_of
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.occupancy import ProfileCapacity
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.residency import check_residency
from pytest_rmsperf.resources import Capacity

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

SIZES = range(1, 9)
TOO_LARGE = 16  # blocks: needs an attribute that nobody sets

# Threads per block and dynamic shared bytes: blocks as small as they get, two per SM, and one per
# SM, which is what clusters are hardest to place with.
BLOCKS = ((32, 0), (1024, 0), (128, 200_000))


@dataclass(frozen=True, slots=True)
class Rings:
    """Clusters of `size` blocks, each a ring; all of them together are one cooperative launch."""

    size: int
    threads: int
    dynamic_smem_bytes: int = 0

    def plan(self, problem: Problem, capacity: Capacity) -> LaunchPlan:  # noqa: ARG002
        launch = KernelLaunch(
            "ring",
            blocks=problem["blocks"],
            threads_per_block=self.threads,
            arguments=(buffer("x"), buffer("y")),
            dynamic_smem_bytes=self.dynamic_smem_bytes,
            cooperative=True,
            blocks_per_unit=self.size,
            blocks_per_cluster=self.size,
        )
        return LaunchPlan((launch,), (), (("cluster", self.size),), "a test asks", unit="cluster")

    def tensors(self, problem: Problem) -> tuple[Buffer, ...]:
        blocks = problem["blocks"]
        return (
            Buffer("x", Role.INPUT, (blocks,)),
            Buffer("y", Role.OUTPUT, (blocks, self.threads)),
        )

    def reference(self, arrays: Arrays, precision: Precision) -> Arrays:
        """Each block reads its neighbour's number plus its own, and each thread adds its own."""
        x = arrays["x"].astype(precision.value).reshape(-1, self.size)
        sums = (x + np.roll(x, -1, axis=1)).reshape(-1, 1)
        return {"y": sums + np.arange(self.threads, dtype=precision.value)}

    @property
    def variant(self) -> Variant:
        source = Path(__file__).with_name("clusters.cu")
        return Variant("ring", source, self.plan, least_compute_capability="9.0")

    def case(self, clusters: int) -> Case:
        # References are kept by the name of their inputs: these give y another shape each.
        inputs = InputSet(f"{self.size} blocks of {self.threads}", numbers)
        operator = Operator(
            name="rings",
            folder=Path(__file__).parent,
            variants=(self.variant,),
            problems=(),
            tensors=self.tensors,
            reference=self.reference,
            input_sets=(inputs,),
            tolerance=Tolerance(relative=1e-6, floor=1e-30),
        )
        problem = Problem.of(blocks=clusters * self.size)
        return Case(operator, self.variant, Submission.DIRECT, problem)


def numbers(problem: Problem) -> Arrays:
    return {"x": np.arange(problem["blocks"], dtype=np.float32)}


def all_rings() -> Iterator[Rings]:
    for size in SIZES:
        for threads, nbytes in BLOCKS:
            yield Rings(size, threads, nbytes)


def planned(rings: Rings, clusters: int, checker: Checker, capacity: Capacity) -> PlannedLaunch:
    """Return what is stored of a launch of so many clusters."""
    plan = rings.plan(Problem.of(blocks=clusters * rings.size), capacity)
    compiled = checker.compiled(rings.variant)
    fit = fit_of(check_residency(plan, compiled, capacity, source=""), plan)
    return fit.launches[0]


def checked(rings: Rings, clusters: int, checker: Checker) -> dict[str, object]:
    """Return how far a case of so many clusters comes, and what it is refused with."""
    steps: list[str] = []
    found: CheckedCase = checker.check(
        rings.case(clusters), lambda _, step: steps.append(step), numerics=True
    )
    return {
        "stage": found.failure.stage.value if found.failure else None,
        "message": found.failure.message if found.failure else None,
        "fatal": bool(found.failure and found.failure.fatal),
        "launches": found.numerics.launches if found.numerics else 0,
        "steps": steps,
    }


def row(rings: Rings, checker: Checker, profile: DeviceProfile) -> dict[str, object]:
    """Return both numbers for one size, and what becomes of that many clusters and of one more."""
    loaded = checker.on_cuda(rings.variant)
    computed = ProfileCapacity(profile, checker.compiled(rings.variant))
    sms = profile.identity.sms
    launch = rings.plan(Problem.of(blocks=rings.size), loaded).launches[0]
    active = loaded.active_clusters(launch)
    return {
        "size": rings.size,
        "threads": rings.threads,
        "dynamic_smem_bytes": rings.dynamic_smem_bytes,
        "driver": active,
        "bound": planned(rings, 1, checker, computed).limit_blocks(sms) // rings.size,
        "stored": planned(rings, active, checker, loaded).active_clusters,
        "whole": checked(rings, active, checker),
        "one_more": checked(rings, active + 1, checker),
    }


def main() -> None:
    context = CudaContext.open()
    identity = context.identity()
    checker = Checker(context, identity.arch)
    profile = DeviceProfile(identity, "asked from CUDA")
    rows = [row(rings, checker, profile) for rings in all_rings()]
    too_large = checked(Rings(TOO_LARGE, 32), 1, checker)
    after = checked(Rings(2, 32), 1, checker)
    print(json.dumps({"rows": rows, "too_large": too_large, "after": after}))


if __name__ == "__main__":
    main()
