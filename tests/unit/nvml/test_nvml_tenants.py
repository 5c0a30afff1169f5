"""What is told of each other process: its name, and its share of the SMs' time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fake_nvml import NotFound, fake, noting, read, running
from pytest_rmsperf.environment import DeviceState, Tenant

PID = 4711
NO_PID = 2**22  # the largest there can be: nothing has it in /proc here


def beside(pid: int = PID, **changes: object) -> DeviceState:
    """The state of a device with one other process on it."""
    return read(binding=fake(nvmlDeviceGetComputeRunningProcesses=running(pid), **changes))


def the_other(pid: int = PID, **changes: object) -> Tenant:
    (other,) = beside(pid, **changes).other_processes or ()
    return other


def used(*shares: tuple[int, int]) -> list[SimpleNamespace]:
    """Samples of pid and percent."""
    return [SimpleNamespace(pid=pid, smUtil=percent) for pid, percent in shares]


# ---- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("/usr/lib/xorg/Xorg", "Xorg"),
        (b"/usr/lib/xorg/Xorg", "Xorg"),
        ("train.py", "train.py"),
        ("/opt/chrome --type=gpu-process --secret=a/b", "chrome"),
        ("C:\\job.exe", "C:\\job.exe"),
    ],
)
def test_the_name_is_the_programs_without_folder_and_arguments(
    told: str | bytes, name: str
) -> None:
    assert the_other(nvmlSystemGetProcessName=told).name == name


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize(
    "told",
    [
        NotImplemented,
        Exception("No Permission"),
        Exception("Not Supported"),
        "",
        b"\xff",
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ],
    ids=["absent", "no permission", "not supported", "empty", "bytes", "undecodable"],
)
def test_a_name_that_nvml_does_not_tell_is_the_kernels(told: object) -> None:
    name = Path("/proc/self/comm").read_text(encoding="utf-8").split()[0]

    assert the_other(os.getpid(), nvmlSystemGetProcessName=told).name == name


def test_a_name_that_nobody_tells_is_missing_with_a_note() -> None:
    state = beside(NO_PID, nvmlSystemGetProcessName=Exception("Not Found"))

    (note,) = state.notes
    assert (state.other_processes, note.partition(":")[0]) == (
        (Tenant(NO_PID),),
        f"other_processes, name of {NO_PID}",
    )


@pytest.mark.parametrize(
    ("tenant", "text"),
    [
        (Tenant(PID, "train.py", 96), "train.py (pid 4711, 96 % of the SMs' time)"),
        (Tenant(PID, "train.py"), "train.py (pid 4711)"),
        (Tenant(PID), "a process whose name is hidden (pid 4711)"),
    ],
)
def test_a_tenant_says_what_is_known_of_it(tenant: Tenant, text: str) -> None:
    assert str(tenant) == text


# ---- shares ----------------------------------------------------------------------------------


def test_a_share_is_the_largest_of_the_samples_of_that_process() -> None:
    samples = used((PID, 31), (PID, 96), (PID, 2), (12, 100))

    assert the_other(nvmlDeviceGetProcessUtilization=samples).sm_percent == 96


@pytest.mark.parametrize(("percent", "share"), [(0, 0), (100, 100), (-1, None), (101, None)])
def test_a_share_that_can_be_none_is_not_told(percent: int, share: int | None) -> None:
    samples = used((PID, percent))

    assert the_other(nvmlDeviceGetProcessUtilization=samples).sm_percent == share


def test_samples_of_the_last_second_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("time.time_ns", lambda: 5_000_000_000)

    the_other(nvmlDeviceGetProcessUtilization=noting(asked, []))

    assert asked == [4_000_000]


def test_a_second_in_which_nothing_ran_is_no_refusal() -> None:
    state = beside(nvmlDeviceGetProcessUtilization=NotFound("Not Found"))

    assert (state.other_processes, state.notes) == ((Tenant(PID, f"job-{PID}"),), ())


@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (Exception("Not Supported"), "Not Supported"),
        (NotImplemented, "'types.SimpleNamespace' object has no attribute"),
    ],
    ids=["in a virtual machine", "in an old binding"],
)
def test_shares_that_are_refused_leave_the_processes_and_a_note(
    refusal: object, reason: str
) -> None:
    state = beside(nvmlDeviceGetProcessUtilization=refusal)

    (note,) = state.notes
    assert state.other_processes == (Tenant(PID, f"job-{PID}"),)
    assert note.startswith(f"other_processes, sm_percent: {reason}")


def test_an_old_binding_without_the_error_for_nothing_notes_it() -> None:
    state = beside(NVMLError_NotFound=NotImplemented)

    assert state.notes == ("other_processes, sm_percent: Not Found",)


def test_nobody_is_asked_for_shares_of_a_device_that_is_ours_alone() -> None:
    nvml = fake(nvmlDeviceGetProcessUtilization=Exception("Not Supported"))

    assert read(binding=nvml).notes == ()
