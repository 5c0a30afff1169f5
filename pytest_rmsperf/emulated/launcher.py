"""Compiled modules on the emulated device, and cases made ready to run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.device.clusters import PORTABLE_CLUSTER_BLOCKS
from pytest_rmsperf.device.occupancy import DeviceLimits, ProfileCapacity, limits_for
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.emulated.library import BlockCapacity, Conditions, Grid, KernelLibrary, Progress
from pytest_rmsperf.emulated.memory import EmulatedMemory
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import (
    Argument,
    Buffer,
    KernelLaunch,
    LaunchPlan,
    ScalarArgument,
)
from pytest_rmsperf.resources import CompiledModule


@dataclass(frozen=True, slots=True)
class FrozenLaunch:
    """A launch whose argument bytes are fixed, as a graph holds it."""

    launch: KernelLaunch
    arguments: tuple[bytes, ...]


class EmulatedModule:
    """A source's kernels on the emulated device; as a Capacity it computes from the profile."""

    capacity_source = "computed"

    def __init__(
        self,
        module: CompiledModule,
        library: KernelLibrary,
        profile: DeviceProfile,
        schedules: Schedules,
    ) -> None:
        self.module = module
        self.library = library
        self.schedules = schedules
        self.progress: Progress | None = None  # is told of launches that take long
        self.capacity = ProfileCapacity(profile, module)
        self.limits = limits_for(profile.identity.compute_capability)

    @property
    def device(self) -> str:
        return self.capacity.device

    @property
    def sms(self) -> int:
        return self.capacity.sms

    def blocks_per_sm(self, kernel: str, threads_per_block: int, dynamic_smem_bytes: int) -> int:
        """Return what the profile's device would hold on one SM."""
        return self.capacity.blocks_per_sm(kernel, threads_per_block, dynamic_smem_bytes)

    def active_clusters(self, launch: KernelLaunch) -> int | None:
        """Return None: the profile does not say which SMs share a GPC."""
        return self.capacity.active_clusters(launch)

    def prepare(
        self, plan: LaunchPlan, submission: Submission, buffers: Sequence[Buffer]
    ) -> EmulatedInvocation:
        """Allocate `buffers`, poison them, and bind the launches of `plan` to them."""
        return EmulatedInvocation(plan, submission, self, EmulatedMemory(buffers))

    def launch(self, one: FrozenLaunch, *, seed: int, grid: Grid | None = None) -> None:
        """Run one launch; GateFailure when the driver would refuse it, or with its first fault."""
        launch = one.launch
        fits = self.blocks_per_sm(
            launch.kernel, launch.threads_per_block, launch.dynamic_smem_bytes
        )
        refuse_as_driver(launch, fits, self.sms, self.limits)
        self.library.require_arguments(launch.kernel, one.arguments)
        fault = self.library.launch(
            launch.kernel,
            grid or grid_of(launch),
            one.arguments,
            Conditions(BlockCapacity(fits, self.sms), seed, read_check=grid is None),
            self.progress,
        )
        if fault is not None:
            raise GateFailure(str(fault))


class EmulatedGraph:
    """Launches in stream order with frozen arguments: what changes afterwards does not reach it."""

    def __init__(self, launches: Sequence[FrozenLaunch]) -> None:
        self._launches = tuple(launches)

    def replay(self, run: Callable[[FrozenLaunch], None]) -> None:
        """Run all launches, each after the one before it."""
        for one in self._launches:
            run(one)


class EmulatedInvocation:
    """One case on the emulated device: its launches with every argument bound."""

    def __init__(
        self,
        plan: LaunchPlan,
        submission: Submission,
        module: EmulatedModule,
        memory: EmulatedMemory,
    ) -> None:
        self.plan = plan
        self.memory = memory
        self._module = module
        self._graph = self.capture() if submission is Submission.GRAPH else None

    def capture(self) -> EmulatedGraph:
        """Return a graph of the launches with their arguments as they are now."""
        return EmulatedGraph(tuple(self._bound()))

    def run(self) -> None:
        """Submit once by the first schedule; GateFailure with what the kernel did wrong."""
        self._run(self._module.schedules.first_seed)

    def repeats(self) -> Iterator[int]:
        """Launch once by each further schedule, on freshly poisoned outputs and scratch."""
        for seed in self._module.schedules.seeds[1:]:
            self.memory.poison()
            self._run(seed)
            yield 1

    def _run(self, seed: int) -> None:
        def run(one: FrozenLaunch) -> None:
            self._module.launch(one, seed=seed)

        graph = self._graph or EmulatedGraph(tuple(self._bound()))
        graph.replay(run)
        self.memory.require_outputs_written()

    def _bound(self) -> Iterator[FrozenLaunch]:
        for launch in self.plan.launches:
            yield FrozenLaunch(launch, bind(launch.arguments, self.memory))


def grid_of(launch: KernelLaunch) -> Grid:
    """Return the whole grid of a launch."""
    return Grid(
        blocks=launch.blocks,
        threads_per_block=launch.threads_per_block,
        dynamic_smem_bytes=launch.dynamic_smem_bytes,
        cooperative=launch.cooperative,
        blocks_per_cluster=launch.blocks_per_cluster,
    )


def bind(arguments: Sequence[Argument], memory: EmulatedMemory) -> tuple[bytes, ...]:
    """Return the bytes of each argument: a scalar's own, or the address of a buffer."""
    return tuple(
        one.packed()
        if isinstance(one, ScalarArgument)
        else memory[one.name].address.to_bytes(8, "little")
        for one in arguments
    )


def refuse_as_driver(launch: KernelLaunch, fits: int, sms: int, limits: DeviceLimits) -> None:
    """Raise GateFailure with the driver's own error where it would refuse the launch."""
    error, evidence = _refusal(launch, fits, sms, limits)
    if error:
        raise GateFailure(
            f"launch refused: {launch.kernel}: {error}\n  {evidence}\n"
            "change the launch plan, then: pytest --rmsperf --lf"
        )


def _refusal(launch: KernelLaunch, fits: int, sms: int, limits: DeviceLimits) -> tuple[str, str]:
    cluster = launch.blocks_per_cluster
    if cluster > PORTABLE_CLUSTER_BLOCKS:
        return "CUDA_ERROR_INVALID_CLUSTER_SIZE", (
            f"clusters of {cluster} blocks; they have at most {PORTABLE_CLUSTER_BLOCKS}"
        )
    if launch.dynamic_smem_bytes > limits.max_smem_bytes_per_block:
        return "CUDA_ERROR_INVALID_VALUE", (
            f"{launch.dynamic_smem_bytes} dynamic shared bytes; a block has at most "
            f"{limits.max_smem_bytes_per_block}"
        )
    if fits == 0:
        return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "not even one block fits an SM"
    if launch.cooperative and launch.blocks > fits * sms:
        return "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", (
            f"{launch.blocks} blocks; {fits} blocks per SM x {sms} SMs = {fits * sms} fit"
        )
    return "", ""
