"""Compiled modules on the device, and cases made ready to run: one submission path for all uses.

The same prepared launches are run once for numerics, captured into graphs, and timed, so what is
timed is what was checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.device import _clock
from pytest_rmsperf.device.clusters import PORTABLE_CLUSTER_BLOCKS
from pytest_rmsperf.device.context import CudaContext, checked
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.errors import DeviceError, GateFailure
from pytest_rmsperf.launch import Argument, Buffer, KernelLaunch, LaunchPlan, ScalarArgument
from pytest_rmsperf.resources import CompiledModule

if TYPE_CHECKING:
    from cuda.core.graph import Graph

# Above this a kernel must opt in to more dynamic shared memory (CUDA C++ Programming Guide).
DEFAULT_SMEM_BYTES = 48 * 1024

# Launches after the first that must give the same bits: enough for a kernel that resets its
# barriers wrongly to hang or to err, and 5 ms for the slowest case of the bundled operator (H200).
REPEATED_LAUNCHES = 50


class NotCaptured(DeviceError):
    """Launches that can be submitted, but not captured into a graph."""


class LoadedModule:
    """A cubin loaded into the context; as a Capacity it asks the driver."""

    def __init__(self, module: CompiledModule, context: CudaContext) -> None:
        from cuda.core import ObjectCode

        self.module = module
        self.context = context
        self._code = ObjectCode.from_cubin(module.cubin)
        self._kernels = {one.name: self._code.get_kernel(one.name) for one in module.kernels}
        self._allowed_bytes: dict[str, int] = {}
        self._optin_bytes = context.device.properties.max_shared_memory_per_block_optin

    @property
    def capacity_source(self) -> str:
        return "driver"

    @property
    def device(self) -> str:
        return str(self.context.device.name)

    @property
    def sms(self) -> int:
        return int(self.context.device.properties.multiprocessor_count)

    def prepare(
        self, plan: LaunchPlan, submission: Submission, buffers: Sequence[Buffer]
    ) -> Invocation:
        """Return the plan's launches bound to newly allocated and poisoned buffers."""
        return Invocation(plan, submission, self, DeviceMemory.of(buffers, self.context))

    def handle(self, kernel: str) -> Any:
        """Return the CUkernel; GateFailure lists the kernels there are when it is not one."""
        self.module.kernel(kernel)
        return self._kernels[kernel].handle

    def attribute(self, kernel: str, name: str) -> int:
        """Return a driver attribute of a kernel by its CU_FUNC_ATTRIBUTE name in lower case."""
        from cuda.bindings import driver

        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name.upper()}")
        answer = driver.cuKernelGetAttribute(
            attribute, self.handle(kernel), self.context.device.device_id
        )
        return int(checked(answer, f"attribute {name} of {kernel}"))

    def blocks_per_sm(self, kernel: str, threads_per_block: int, dynamic_smem_bytes: int) -> int:
        """Return the driver's answer; 0 when a block is larger than the device allows."""
        from cuda.bindings import driver

        static = self.module.kernel(kernel).static_smem_bytes
        if static + dynamic_smem_bytes > self._optin_bytes:
            return 0
        if threads_per_block > self.attribute(kernel, "max_threads_per_block"):
            return 0
        self.allow_smem(kernel, dynamic_smem_bytes)
        function = driver.CUfunction(int(self.handle(kernel)))
        answer = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            function, threads_per_block, dynamic_smem_bytes
        )
        return int(checked(answer, f"blocks per SM of {kernel}"))

    def active_clusters(self, launch: KernelLaunch) -> int:
        """Return the driver's answer, which depends on which SMs the very board has.

        0 when not even one block fits. Raises GateFailure for a cluster of more blocks than is
        portable: nothing here sets the attribute that such a launch needs.
        """
        from cuda.bindings import driver

        self._require_portable(launch)
        place = (launch.kernel, launch.threads_per_block, launch.dynamic_smem_bytes)
        if not self.blocks_per_sm(*place):
            return 0
        size = driver.CUlaunchAttribute()
        size.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size.value.clusterDim.x = launch.blocks_per_cluster
        size.value.clusterDim.y = size.value.clusterDim.z = 1
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = launch.blocks, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = launch.threads_per_block, 1, 1
        config.sharedMemBytes = launch.dynamic_smem_bytes
        config.attrs, config.numAttrs = [size], 1
        function = driver.CUfunction(int(self.handle(launch.kernel)))
        answer = driver.cuOccupancyMaxActiveClusters(function, config)
        return int(checked(answer, f"clusters of {launch.kernel}"))

    def _require_portable(self, launch: KernelLaunch) -> None:
        if launch.blocks_per_cluster > PORTABLE_CLUSTER_BLOCKS:
            raise GateFailure(
                f"cannot be launched on {self.device}: {launch.kernel} has clusters of "
                f"{launch.blocks_per_cluster} blocks, and {PORTABLE_CLUSTER_BLOCKS} are portable\n"
                "  larger ones need NON_PORTABLE_CLUSTER_SIZE_ALLOWED, which is not set yet\n"
                "make the clusters smaller, then: pytest --rmsperf --lf"
            )

    def allow_smem(self, kernel: str, dynamic_smem_bytes: int) -> None:
        """Opt in to a dynamic shared size above 48 KiB, counted together with the static part.

        The opt-in belongs to the kernel, which several cases share, so it is only ever raised.
        """
        from cuda.bindings import driver

        static = self.module.kernel(kernel).static_smem_bytes
        allowed = self._allowed_bytes.get(kernel, DEFAULT_SMEM_BYTES - static)
        if dynamic_smem_bytes <= allowed:
            return
        answer = driver.cuKernelSetAttribute(
            driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            dynamic_smem_bytes,
            self.handle(kernel),
            self.context.device.device_id,
        )
        checked(answer, f"{dynamic_smem_bytes} dynamic shared bytes for {kernel}")
        self._allowed_bytes[kernel] = dynamic_smem_bytes


class Invocation:
    """One case on the device: its launches with every argument bound, ready to submit.

    Whoever makes one keeps `memory` alive through it: the launches hold plain addresses.
    """

    copies = 1  # of its buffers; see Rotation

    def __init__(
        self, plan: LaunchPlan, submission: Submission, module: LoadedModule, memory: DeviceMemory
    ) -> None:
        self.plan = plan
        self.submission = submission
        self.context = module.context
        self.memory = memory
        self._sequence = _clock.prepare(
            tuple(_prepared(launch, module, memory) for launch in plan.launches)
        )
        self._graph = self.capture(1) if submission is Submission.GRAPH else None

    def run(self) -> None:
        """Submit once, the way this case is submitted, and wait; DeviceError when it fails."""
        self.complete(1)

    def repeats(self) -> Iterator[int]:
        """Launch REPEATED_LAUNCHES times in one batch; DeviceError when one of them fails."""
        self.complete(REPEATED_LAUNCHES)
        yield REPEATED_LAUNCHES

    def complete(self, count: int) -> list[int]:
        """Submit and wait `count` times; return the host completion times in ns."""
        stream = self.context.stream_handle
        try:
            if self._graph is not None:
                return _clock.time_graph(int(self._graph.handle), stream, count)
            return _clock.time_launches(self._sequence, stream, count)
        except RuntimeError as error:
            raise DeviceError(str(error)) from error

    def submit(self, count: int, stream: int | None = None) -> None:
        """Submit `count` times launch by launch, without waiting, on a stream or on the context's.

        DeviceError names what the driver refused.
        """
        try:
            for _ in range(count):
                _clock.submit(self._sequence, stream or self.context.stream_handle)
        except RuntimeError as error:
            raise DeviceError(str(error)) from error

    def capture(self, repeats: int) -> Graph:
        """Return a graph of `repeats` invocations one after the other; see `captured`."""
        return captured(self.context, partial(self.submit, repeats))


def captured(context: CudaContext, submit: Callable[[int], None]) -> Graph:
    """Return what `submit` submits to the stream it is given as a graph, uploaded to the device.

    Raises NotCaptured when the driver refuses that.
    """
    builder = context.device.create_graph_builder()
    builder.begin_building()
    try:
        submit(int(builder.stream.handle))
        built = builder.end_building()
    except (DeviceError, RuntimeError) as error:
        raise NotCaptured(f"cannot be captured into a graph: {error}") from error
    graph = built.complete()
    graph.upload(context.stream)
    context.synchronize()
    return graph


def _prepared(
    launch: KernelLaunch, module: LoadedModule, memory: DeviceMemory
) -> tuple[int, int, int, int, int, bool, tuple[bytes, ...]]:
    module.allow_smem(launch.kernel, launch.dynamic_smem_bytes)
    return (
        int(module.handle(launch.kernel)),
        launch.blocks,
        launch.threads_per_block,
        launch.dynamic_smem_bytes,
        launch.blocks_per_cluster,
        launch.cooperative,
        tuple(_bound(argument, memory) for argument in launch.arguments),
    )


def _bound(argument: Argument, memory: DeviceMemory) -> bytes:
    if isinstance(argument, ScalarArgument):
        return argument.packed()
    return memory[argument.name].address.to_bytes(8, "little")
