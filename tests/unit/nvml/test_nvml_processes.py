"""What else is on a device, by memory and processes, told by a stand-in for pynvml."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from fake_nvml import HEALTHY, MIB, Mismatch, fake, read, running
from pytest_rmsperf.device.tenants import IDLE_MEMORY_MIB, MAX_PID
from pytest_rmsperf.environment import Tenant

JOB_20, JOB_30 = Tenant(20, "job-20"), Tenant(30, "job-30")


def test_memory_in_use_leaves_out_what_the_driver_reserves() -> None:
    used = {2: 4, None: 600}
    nvml = fake(
        nvmlDeviceGetMemoryInfo=lambda _, version=None: SimpleNamespace(used=used[version] * MIB)
    )

    assert read(binding=nvml).used_memory_mib == 4


def test_memory_in_use_is_told_by_a_binding_without_the_second_version() -> None:
    assert read(binding=fake(nvmlMemory_v2=NotImplemented)).used_memory_mib == 4


def test_processes_that_compute_or_draw_are_others_and_our_own_are_not() -> None:
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=running(30, 10),
        nvmlDeviceGetGraphicsRunningProcesses=running(20, 10),
    )

    state = read(own_pids=frozenset({10}), binding=nvml)

    assert state == replace(HEALTHY, other_processes=(JOB_20, JOB_30))


def test_pids_without_our_own_are_marked_as_possibly_those_of_the_host() -> None:
    nvml = fake(nvmlDeviceGetComputeRunningProcesses=running(3_000_000))

    state = read(own_pids=frozenset({10}), binding=nvml)

    note = (
        "other_processes: none of our own is listed; "
        "these may be pids of the host, with ours among them"
    )
    others = (Tenant(3_000_000),)  # its name would be that of another process
    assert state == replace(HEALTHY, other_processes=others, ours_unlisted=True, notes=(note,))


@pytest.mark.parametrize(("used_mib", "notes"), [(IDLE_MEMORY_MIB, 0), (IDLE_MEMORY_MIB + 1, 1)])
def test_an_empty_list_is_doubted_when_more_memory_is_used_than_idle(
    used_mib: int, notes: int
) -> None:
    nvml = fake(nvmlDeviceGetMemoryInfo=SimpleNamespace(used=used_mib * MIB))

    assert len(read(binding=nvml).notes) == notes


@pytest.mark.parametrize(
    ("pid", "others"),
    [
        (1, (Tenant(1, "job-1"),)),
        (MAX_PID, (Tenant(MAX_PID, f"job-{MAX_PID}"),)),
        (0, None),
        (MAX_PID + 1, None),
    ],
)
def test_a_number_that_can_be_no_pid_discredits_the_list(
    pid: int, others: tuple[Tenant, ...] | None
) -> None:
    nvml = fake(nvmlDeviceGetComputeRunningProcesses=running(pid))

    assert read(binding=nvml).other_processes == others


def test_a_driver_older_than_the_binding_hides_the_processes_only() -> None:
    error = Mismatch("use a versioned function")

    state = read(binding=fake(nvmlDeviceGetComputeRunningProcesses=error))

    note = "other_processes: use a versioned function"
    assert state == replace(HEALTHY, other_processes=None, notes=(note,))


def test_processes_that_compute_are_kept_where_those_that_draw_are_not_told() -> None:
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=running(30),
        nvmlDeviceGetGraphicsRunningProcesses=Exception("Not Supported"),
    )

    state = read(binding=nvml)

    note = "other_processes, drawing: Not Supported"
    assert state == replace(HEALTHY, other_processes=(JOB_30,), notes=(note,))
