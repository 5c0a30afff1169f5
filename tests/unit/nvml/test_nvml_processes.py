"""What else is on a device, by memory and processes, told by a stand-in for pynvml."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pytest_rmsperf.device.nvml import IDLE_MEMORY_MIB, MAX_PID, Nvml
from pytest_rmsperf.device.nvml import read_state as read
from pytest_rmsperf.environment import DeviceState

GPU = "GPU-af7b1111-0000-0000-0000-000000000000"
MIB = 2**20
FakeNvml = Callable[..., Nvml]


def running(*pids: int) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=pid) for pid in pids]


def test_memory_in_use_leaves_out_what_the_driver_reserves(fake_nvml: FakeNvml) -> None:
    used = {2: 4, None: 600}
    nvml = fake_nvml(
        nvmlDeviceGetMemoryInfo=lambda _, version=None: SimpleNamespace(used=used[version] * MIB)
    )
    assert read(GPU, library=nvml).used_memory_mib == 4


def test_memory_in_use_is_told_by_a_binding_without_the_second_version(fake_nvml: FakeNvml) -> None:
    assert read(GPU, library=fake_nvml(nvmlMemory_v2=NotImplemented)).used_memory_mib == 4


def test_processes_that_compute_or_draw_are_others_and_our_own_are_not(
    fake_nvml: FakeNvml, healthy: DeviceState
) -> None:
    nvml = fake_nvml(
        nvmlDeviceGetComputeRunningProcesses=running(30, 10),
        nvmlDeviceGetGraphicsRunningProcesses=running(20, 10),
    )
    state = read(GPU, library=nvml, own_pids=frozenset({10}))
    assert state == replace(healthy, other_processes=(20, 30))


def test_pids_without_our_own_are_noted_as_possibly_those_of_the_host(
    fake_nvml: FakeNvml, healthy: DeviceState
) -> None:
    nvml = fake_nvml(nvmlDeviceGetComputeRunningProcesses=running(3_000_000))
    state = read(GPU, library=nvml, own_pids=frozenset({10}))
    note = (
        "other_processes: none of our own is listed; "
        "these may be pids of the host, with ours among them"
    )
    assert state == replace(healthy, other_processes=(3_000_000,), notes=(note,))


@pytest.mark.parametrize(("used_mib", "notes"), [(IDLE_MEMORY_MIB, 0), (IDLE_MEMORY_MIB + 1, 1)])
def test_an_empty_list_is_doubted_when_more_memory_is_used_than_idle(
    fake_nvml: FakeNvml, used_mib: int, notes: int
) -> None:
    nvml = fake_nvml(nvmlDeviceGetMemoryInfo=SimpleNamespace(used=used_mib * MIB))
    assert len(read(GPU, library=nvml).notes) == notes


@pytest.mark.parametrize(
    ("pid", "others"), [(1, (1,)), (MAX_PID, (MAX_PID,)), (0, None), (MAX_PID + 1, None)]
)
def test_a_number_that_can_be_no_pid_discredits_the_list(
    fake_nvml: FakeNvml, pid: int, others: tuple[int, ...] | None
) -> None:
    nvml = fake_nvml(nvmlDeviceGetComputeRunningProcesses=running(pid))
    assert read(GPU, library=nvml).other_processes == others


def test_a_driver_older_than_the_binding_hides_the_processes_only(
    fake_nvml: FakeNvml, healthy: DeviceState, mismatch: type[Exception]
) -> None:
    error = mismatch("use a versioned function")
    state = read(GPU, library=fake_nvml(nvmlDeviceGetComputeRunningProcesses=error))
    note = "other_processes: use a versioned function"
    assert state == replace(healthy, other_processes=None, notes=(note,))


def test_processes_that_compute_are_kept_where_those_that_draw_are_not_told(
    fake_nvml: FakeNvml, healthy: DeviceState
) -> None:
    nvml = fake_nvml(
        nvmlDeviceGetComputeRunningProcesses=running(30),
        nvmlDeviceGetGraphicsRunningProcesses=Exception("Not Supported"),
    )
    note = "other_processes, drawing: Not Supported"
    assert read(GPU, library=nvml) == replace(healthy, other_processes=(30,), notes=(note,))
