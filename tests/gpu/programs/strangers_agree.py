"""Run kernels that know nothing of the plugin on the device and emulated; print what differs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_rmsperf.cases import Submission, Variant
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.emulated.device import EmulatedDevice
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer, int32

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array
    from pytest_rmsperf.problem import Problem
    from pytest_rmsperf.resources import Capacity

HERE = Path(__file__).parent
STRANGERS = HERE.parents[1] / "unit" / "emulated" / "device" / "data" / "strangers.cu"
CLUSTERS = HERE / "clusters.cu"


@dataclass(frozen=True, slots=True)
class Stranger:
    """One launch: its source, its input x, and the elements of its output y."""

    source: Path
    launch: KernelLaunch
    x: Array
    outputs: int
    scratch: tuple[Buffer, ...] = ()

    def run(self, checker: Checker) -> Array:
        """Return y of one launch on the checker's device."""
        loaded = checker.loaded(Variant(self.source.stem, self.source, _no_plan))
        x = Buffer("x", Role.INPUT, self.x.shape, self.x.dtype.name)
        y = Buffer("y", Role.OUTPUT, (self.outputs,), self.x.dtype.name)
        plan = LaunchPlan((self.launch,), self.scratch, (), "the same on both devices")
        prepared = loaded.prepare(plan, Submission.DIRECT, (x, y, *self.scratch))
        prepared.memory.upload({"x": self.x})
        prepared.run()
        return prepared.memory.outputs()["y"]


def _no_plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    raise NotImplementedError("a stranger's launch is written down in full")


def strangers() -> tuple[Stranger, ...]:
    """A scan by shuffles, one in shared memory, a grid-wide sum, and a ring of cluster blocks."""
    random = np.random.default_rng(1)
    integers, floats = random.integers(-9, 9, 612, np.int32), random.random(5003, np.float32)
    x, y = buffer("x"), buffer("y")
    total = Buffer("total", Role.SCRATCH, (1,))
    sum_arguments = (x, y, buffer("total"), int32(floats.size))
    return (
        Stranger(STRANGERS, KernelLaunch("scan", 2, 512, (x, y, int32(612))), integers, 612),
        Stranger(
            STRANGERS,
            KernelLaunch("prescan", 1, 128, (x, y, int32(256)), dynamic_smem_bytes=1024),
            np.arange(256, dtype=np.float32),
            256,
        ),
        Stranger(
            STRANGERS,
            KernelLaunch("normalizeBySum", 6, 128, sum_arguments, cooperative=True),
            floats,
            floats.size,
            (total,),
        ),
        *(
            Stranger(
                CLUSTERS,
                KernelLaunch("ring", 16, 32, (x, y), blocks_per_cluster=blocks),
                np.arange(16, dtype=np.float32),
                16 * 32,
            )
            for blocks in (2, 8)
        ),
    )


def main() -> None:
    context = CudaContext.open()
    arch = context.identity().arch
    emulated = EmulatedDevice.open(profile_for_arch(arch), Schedules())
    here, there = Checker(emulated, arch), Checker(context, arch)
    apart = {}
    for one in strangers():
        mine, theirs = one.run(here).astype(np.float64), one.run(there).astype(np.float64)
        name = f"{one.launch.kernel} in clusters of {one.launch.blocks_per_cluster}"
        apart[name] = float(np.max(np.abs(mine - theirs) / np.maximum(np.abs(theirs), 1e-30)))
    print(json.dumps({"device": context.identity().name, "apart": apart}))


if __name__ == "__main__":
    main()
