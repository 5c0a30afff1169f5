"""Readings of a device while cases are timed: cheap, from an NVML that stays open."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fake_nvml import GPU, HEALTHY, fake, noting, running
from pytest_rmsperf.device.nvml import NvmlReader
from pytest_rmsperf.environment import DeviceState, Tenant

CHANGING = {
    "sm_mhz",
    "max_sm_mhz",
    "memory_mhz",
    "power_mw",
    "temperature_c",
    "clocks_event_reasons",
    "other_processes",
}


def test_a_sample_tells_what_changes_and_nothing_else() -> None:
    with NvmlReader(GPU, binding=fake()) as reader:
        sample = reader.sample()

    told = {name: getattr(HEALTHY, name) for name in CHANGING}
    assert sample == DeviceState(**told)


def test_a_sample_follows_the_device() -> None:
    clocks = iter((1980, 1410))
    nvml = fake(nvmlDeviceGetClockInfo=lambda _, clock: next(clocks) if clock == 1 else 2619)

    with NvmlReader(GPU, binding=nvml) as reader:
        seen = [reader.sample().sm_mhz for _ in range(2)]

    assert seen == [1980, 1410]


def test_a_sample_knows_the_other_processes_by_name_and_share() -> None:
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=running(10, 4711),
        nvmlDeviceGetProcessUtilization=[SimpleNamespace(pid=4711, smUtil=96)],
    )

    with NvmlReader(GPU, own_pids=frozenset({10}), binding=nvml) as reader:
        sample = reader.sample()

    assert sample.other_processes == (Tenant(4711, "job-4711", 96),)


def test_nvml_is_started_once_and_shut_down_once_for_all_readings() -> None:
    calls: list[str] = []
    nvml = fake(
        nvmlInit=lambda: calls.append("init"),
        nvmlShutdown=lambda: calls.append("shutdown"),
    )

    with NvmlReader(GPU, binding=nvml) as reader:
        reader.read()
        reader.sample()
        reader.close()

    assert calls == ["init", "shutdown"]


def test_the_device_is_looked_for_once() -> None:
    uuids: list[object] = []
    nvml = fake(nvmlDeviceGetHandleByUUID=noting(uuids, "handle"))

    with NvmlReader(GPU, binding=nvml) as reader:
        reader.read()
        reader.sample()

    assert uuids == [GPU]


def test_the_name_of_a_process_is_asked_once_while_it_stays() -> None:
    lists = iter([running(1), running(1), running(), running(1)])
    asked: list[object] = []
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=lambda _: next(lists),
        nvmlSystemGetProcessName=noting(asked, "job"),
    )

    with NvmlReader(GPU, binding=nvml) as reader:
        for _ in range(4):
            reader.sample()

    assert asked == [1, 1]  # a pid that comes back may be another process


def test_a_device_that_is_lost_in_between_costs_the_sample_and_raises_nothing() -> None:
    lost: dict[str, object] = {
        name: Exception("GPU is lost") for name in vars(fake()) if name.startswith("nvmlDeviceGet")
    }
    nvml = fake(**(lost | {"nvmlDeviceGetHandleByUUID": "handle"}))

    with NvmlReader(GPU, binding=nvml) as reader:
        sample = reader.sample()

    assert replace(sample, notes=()) == DeviceState()
    assert {note.partition(": ")[0] for note in sample.notes} == CHANGING


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"nvmlInit": Exception("Driver Not Loaded")}, "every field: Driver Not Loaded"),
        (
            {"nvmlDeviceGetHandleByUUID": Exception("Not Found")},
            f"every field of device {GPU}: Not Found",
        ),
    ],
)
def test_every_sample_says_why_there_is_nothing_to_read(
    change: dict[str, object], note: str
) -> None:
    with NvmlReader(GPU, binding=fake(**change)) as reader:
        samples = [reader.sample() for _ in range(2)]

    assert samples == [DeviceState(notes=(note,))] * 2


def test_without_the_binding_a_sample_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)

    with NvmlReader(GPU) as reader:
        sample = reader.sample()

    assert sample == DeviceState(
        notes=("every field: install nvidia-ml-py, so that NVML can be asked",)
    )


def test_a_closed_reader_tells_nothing_and_shuts_down_no_more() -> None:
    calls: list[str] = []
    reader = NvmlReader(GPU, binding=fake(nvmlShutdown=lambda: calls.append("shutdown")))

    reader.close()
    reader.close()

    assert (reader.sample(), reader.read(), calls) == (DeviceState(), DeviceState(), ["shutdown"])
