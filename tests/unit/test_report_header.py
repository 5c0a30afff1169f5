"""The head of a run: what it happens on, and what it can therefore not say."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState, Tenant
from pytest_rmsperf.report.header import header

H100 = DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81_559)
NO_DRIVER = "no driver: libcuda.so.1"


def lines_of(machine: Machine, **changes: Any) -> list[str]:
    """The header of a run with usual settings."""
    usual = {"arch": "sm_90", "settings": "as they are", "devices": profiles_named("h100-sxm")}
    return header(machine, **{**usual, **changes})


def first_line(machine: Machine) -> str:
    return lines_of(machine)[0]


def test_a_device_is_described() -> None:
    device = DeviceRecord(H100, "GPU-1", "13.0", DeviceState("580.159"))

    assert first_line(Machine(device, None)) == (
        "rmsperf device: NVIDIA H100 80GB HBM3 (132 SMs, 81559 MiB, compute capability 9.0), "
        "driver 580.159, CUDA 13.0"
    )


def test_an_emulated_device_is_loud_about_what_it_is_and_what_it_cannot_do() -> None:
    emulated = EmulatedMachine(H100, "g++ 12.2.0", Schedules(0, 4))

    assert first_line(Machine(None, NO_DRIVER, emulated=emulated)) == (
        "rmsperf device: EMULATED NVIDIA H100 80GB HBM3 on this CPU (g++ 12.2.0; no driver: "
        "libcuda.so.1): numerics and barriers are checked by 4 schedules, seeds 0 to 3; nothing "
        "is timed, nothing enters a baseline"
    )


def test_neither_device_gives_both_reasons() -> None:
    machine = Machine(None, NO_DRIVER, why_no_emulation="no C++ compiler: g++")

    assert first_line(machine) == (
        "rmsperf device: NONE: no driver: libcuda.so.1, and no emulated one: no C++ compiler: g++. "
        "Nothing will be launched or timed; compiling for sm_90"
    )


def test_an_emulated_device_that_nobody_looked_for_is_not_missed() -> None:
    assert first_line(Machine(None, "none")) == (
        "rmsperf device: NONE: none. Nothing will be launched or timed; compiling for sm_90"
    )


def test_compiler_and_settings_have_lines_of_their_own() -> None:
    machine = Machine(None, "none", (("nvrtc", "13.0.88"), ("cccl", "3.0")))

    assert lines_of(machine)[1:] == [
        "rmsperf compiler: nvrtc 13.0.88, cccl 3.0",
        "rmsperf static: 1 device, sm_90: h100-sxm",
        "rmsperf: as they are",
    ]


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ("rtx-5090 l4 l40s", "3 devices, sm_89 sm_120: rtx-5090, l4, l40s"),
        ("t4", "1 device, sm_75: t4"),
    ],
)
def test_devices_of_interest_are_named_with_their_archs(devices: str, told: str) -> None:
    lines = lines_of(Machine(None, "none"), devices=profiles_named(devices))

    assert f"rmsperf static: {told}" in lines


def test_static_run_misses_no_device() -> None:
    assert lines_of(Machine(None, "nobody looked"), is_static=True)[0] == (
        "rmsperf device: none is looked for: every case is compiled, and nothing is launched or "
        "timed"
    )


def test_processes_of_others_on_the_device_are_named() -> None:
    state = DeviceState(other_processes=(Tenant(4711, "train.py", 96), Tenant(4712)))
    device = DeviceRecord(H100, "GPU-1", "13.0", state)

    assert lines_of(Machine(device, None))[4:] == [
        (
            "rmsperf WARNING: others are on the device: train.py (pid 4711, 96 % of the SMs' "
            "time), a process whose name is hidden (pid 4712)"
        )
    ]


def test_a_listed_process_that_may_be_ours_is_no_other() -> None:
    state = DeviceState(other_processes=(Tenant(3_000_000),), ours_unlisted=True)
    device = DeviceRecord(H100, "GPU-1", "13.0", state)

    assert lines_of(Machine(device, None))[4:] == []
