"""Opting in to shared memory, asking of clusters, submitting, on a driver that only remembers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.device.clusters import PORTABLE_CLUSTER_BLOCKS
from pytest_rmsperf.device.launcher import (
    DEFAULT_SMEM_BYTES,
    REPEATED_LAUNCHES,
    Invocation,
    LoadedModule,
    NotCaptured,
)
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.errors import DeviceError, GateFailure
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.resources import CompiledKernel, CompiledModule

STATIC = 1024
KERNEL = CompiledKernel("k", 32, STATIC, 0, 0, 0)
MODULE = CompiledModule("k.cu", (), "key", b"", (KERNEL,), from_cache=False)


@pytest.fixture
def opted(monkeypatch: pytest.MonkeyPatch) -> tuple[LoadedModule, list[int]]:
    """A module on a device that does not exist, and the sizes that the driver was told."""
    driver = pytest.importorskip("cuda.bindings.driver")
    told: list[int] = []

    def remember(attribute: object, size: int, kernel: object, device: int) -> tuple[Any]:
        told.append(size)
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuKernelSetAttribute", remember)
    loaded: Any = object.__new__(LoadedModule)
    loaded.module = MODULE
    loaded.context = SimpleNamespace(device=SimpleNamespace(device_id=0))
    loaded._kernels = {"k": SimpleNamespace(handle=0)}
    loaded._allowed_bytes = {}
    return loaded, told


def test_a_size_within_the_default_needs_no_opt_in(
    opted: tuple[LoadedModule, list[int]],
) -> None:
    loaded, told = opted

    loaded.allow_smem("k", DEFAULT_SMEM_BYTES - STATIC)

    assert told == []


def test_one_byte_more_does(opted: tuple[LoadedModule, list[int]]) -> None:
    loaded, told = opted

    loaded.allow_smem("k", DEFAULT_SMEM_BYTES - STATIC + 1)

    assert told == [DEFAULT_SMEM_BYTES - STATIC + 1]


def test_a_later_smaller_size_does_not_take_the_larger_one_back(
    opted: tuple[LoadedModule, list[int]],
) -> None:
    loaded, told = opted

    for size in (100_000, 60_000, 100_000, 120_000):
        loaded.allow_smem("k", size)

    assert told == [100_000, 120_000]


# ---- clusters --------------------------------------------------------------------------------


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> tuple[LoadedModule, list[tuple[int, ...]]]:
    """A module of which 9 clusters fit, and what the driver was asked of: grid, block, cluster."""
    driver = pytest.importorskip("cuda.bindings.driver")
    asked: list[tuple[int, ...]] = []

    def remember(function: object, config: Any) -> tuple[Any, int]:
        size = config.attrs[0].value.clusterDim
        assert (config.gridDimY, config.gridDimZ, size.y, size.z) == (1, 1, 1, 1)
        asked.append((config.gridDimX, config.blockDimX, config.sharedMemBytes, size.x))
        return driver.CUresult.CUDA_SUCCESS, 9

    monkeypatch.setattr(driver, "cuOccupancyMaxActiveClusters", remember)
    monkeypatch.setattr(LoadedModule, "device", "fake device")
    # No block of 1024 threads fits.
    monkeypatch.setattr(LoadedModule, "blocks_per_sm", lambda *place: int(place[2] < 1024))
    loaded: Any = object.__new__(LoadedModule)
    loaded.module = MODULE
    loaded._kernels = {"k": SimpleNamespace(handle=0)}
    return loaded, asked


def test_the_driver_is_asked_how_many_clusters_of_the_launch_are_resident(
    clusters: tuple[LoadedModule, list[tuple[int, ...]]],
) -> None:
    loaded, asked = clusters
    launch = KernelLaunch("k", 64, 256, (), 4096, blocks_per_cluster=PORTABLE_CLUSTER_BLOCKS)

    assert loaded.active_clusters(launch) == 9

    assert asked == [(64, 256, 4096, PORTABLE_CLUSTER_BLOCKS)]


def test_a_cluster_of_one_block_more_than_is_portable_is_refused_and_not_asked_of(
    clusters: tuple[LoadedModule, list[tuple[int, ...]]],
) -> None:
    loaded, asked = clusters
    launch = KernelLaunch("k", 9, 256, (), blocks_per_cluster=PORTABLE_CLUSTER_BLOCKS + 1)

    with pytest.raises(GateFailure) as refusal:
        loaded.active_clusters(launch)

    assert str(refusal.value).splitlines() == [
        "cannot be launched on fake device: k has clusters of 9 blocks, and 8 are portable",
        "  larger ones need NON_PORTABLE_CLUSTER_SIZE_ALLOWED, which is not set yet",
        "make the clusters smaller, then: pytest --rmsperf --lf",
    ]
    assert asked == []


def test_no_cluster_is_resident_of_a_block_that_does_not_fit(
    clusters: tuple[LoadedModule, list[tuple[int, ...]]],
) -> None:
    loaded, asked = clusters

    assert loaded.active_clusters(KernelLaunch("k", 8, 1024, (), blocks_per_cluster=8)) == 0

    assert asked == []


# ---- submitting ------------------------------------------------------------------------------


def test_repeated_launches_are_one_batch() -> None:
    launched: list[int] = []
    invocation: Any = object.__new__(Invocation)
    invocation.complete = launched.append

    assert list(invocation.repeats()) == launched == [REPEATED_LAUNCHES]


def test_every_launch_of_a_plan_is_submitted_whatever_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("memset", "flush_l2", "softmax", "memset")
    module: Any = SimpleNamespace(
        context=None,
        allow_smem=lambda *_: None,
        handle=names.index,
    )
    monkeypatch.setattr("pytest_rmsperf.device._clock.prepare", tuple)
    plan = LaunchPlan(tuple(KernelLaunch(one, 1, 32, ()) for one in names), (), (), "a test")

    invocation: Any = Invocation(plan, Submission.DIRECT, module, DeviceMemory([]))

    assert [launch[0] for launch in invocation._sequence] == [0, 1, 2, 0]


# ---- capturing -------------------------------------------------------------------------------

OWN_STREAM, CAPTURING_STREAM = 7, 8


class Device:
    """A device that builds graphs of nothing; `log` says what was asked of it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.is_valid = True
        self.stream = SimpleNamespace(handle=CAPTURING_STREAM)

    def create_graph_builder(self) -> Device:
        return self

    def begin_building(self) -> None:
        self.log.append("begin")

    def end_building(self) -> Device:
        if not self.is_valid:
            raise RuntimeError("Build process encountered an error and has been invalidated.")
        self.log.append("end")
        return self

    def complete(self) -> Device:
        self.log.append("instantiate")
        return self

    def upload(self, _: object) -> None:
        self.log.append("upload")


@pytest.fixture
def submitting(monkeypatch: pytest.MonkeyPatch) -> tuple[Invocation, Device]:
    """An invocation whose launches only tell on which stream they are submitted."""
    device = Device()

    def submit(sequence: object, stream: int) -> None:
        device.log.append(f"launch on {stream}")

    monkeypatch.setattr("pytest_rmsperf.device._clock.submit", submit)
    invocation: Any = object.__new__(Invocation)
    invocation._sequence = None
    invocation.context = SimpleNamespace(
        device=device,
        stream=None,
        stream_handle=OWN_STREAM,
        synchronize=lambda: device.log.append("wait"),
    )
    return invocation, device


def refuse(sequence: object, stream: int) -> NoReturn:
    raise RuntimeError("launch: CUDA_ERROR_NOT_PERMITTED (800)")


def test_launches_are_queued_on_the_one_stream_and_not_waited_for(
    submitting: tuple[Invocation, Device],
) -> None:
    invocation, device = submitting

    invocation.submit(2)

    assert device.log == ["launch on 7", "launch on 7"]


def test_a_graph_is_captured_on_a_stream_of_its_own_and_uploaded(
    submitting: tuple[Invocation, Device],
) -> None:
    invocation, device = submitting

    invocation.capture(2)

    steps = ["begin", "launch on 8", "launch on 8", "end", "instantiate", "upload", "wait"]
    assert device.log == steps


def test_a_launch_that_is_refused_is_an_error_with_the_drivers_word(
    submitting: tuple[Invocation, Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_rmsperf.device._clock.submit", refuse)

    with pytest.raises(DeviceError, match="CUDA_ERROR_NOT_PERMITTED") as caught:
        submitting[0].submit(1)

    assert not isinstance(caught.value, NotCaptured)


def test_a_launch_that_is_refused_while_it_is_captured_is_told_apart(
    submitting: tuple[Invocation, Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_rmsperf.device._clock.submit", refuse)

    with pytest.raises(NotCaptured, match=r"^cannot be captured into a graph: .*NOT_PERMITTED"):
        submitting[0].capture(1)


def test_so_is_a_capture_that_turns_out_invalid_at_its_end(
    submitting: tuple[Invocation, Device],
) -> None:
    invocation, device = submitting
    device.is_valid = False

    with pytest.raises(NotCaptured, match=r"^cannot be captured .* invalidated"):
        invocation.capture(1)
