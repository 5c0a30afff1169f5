"""The state of a device, told by a stand-in for pynvml."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import pytest

from fake_nvml import GPU, HEALTHY, MIB, MIG, OTHER_GPU, fake, read
from pytest_rmsperf.device.nvml import CLOCKS_EVENT_REASONS
from pytest_rmsperf.device.nvml_binding import Nvml
from pytest_rmsperf.environment import DeviceState

FIELD_OF = {
    "nvmlSystemGetDriverVersion": "driver",
    "nvmlDeviceGetEnforcedPowerLimit": "power_limit_mw",
    "nvmlDeviceGetPowerManagementDefaultLimit": "default_power_limit_mw",
    "nvmlDeviceGetPowerUsage": "power_mw",
    "nvmlDeviceGetTemperature": "temperature_c",
    "nvmlDeviceGetUtilizationRates": "utilization_percent",
    "nvmlDeviceGetEccMode": "ecc_enabled",
    "nvmlDeviceGetMigMode": "mig_enabled",
    "nvmlDeviceGetPersistenceMode": "persistence_enabled",
    "nvmlDeviceGetComputeMode": "compute_mode",
    "nvmlDeviceGetMemoryInfo": "used_memory_mib",
    "nvmlDeviceGetComputeRunningProcesses": "other_processes",
}


def test_a_healthy_device_tells_every_field_and_leaves_no_note() -> None:
    assert read(GPU, binding=fake()) == HEALTHY


def test_the_binding_has_everything_that_the_protocol_names() -> None:
    pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is an optional dependency")
    named = {name for name in vars(Nvml) if name.startswith("nvml")} | set(Nvml.__annotations__)
    assert {name for name in named if not hasattr(pynvml, name)} == set()


def test_the_device_is_found_by_uuid_whatever_its_place_in_the_order_of_nvml() -> None:
    watts = {f"handle of {OTHER_GPU}": 1, f"handle of {GPU}": 2}
    nvml = fake(nvmlDeviceGetPowerUsage=lambda handle: watts[handle])
    assert [read(uuid, binding=nvml).power_mw for uuid in (GPU, OTHER_GPU)] == [2, 1]


@pytest.mark.parametrize("uuid", [GPU, MIG])
def test_a_uuid_without_its_prefix_finds_the_same_device(uuid: str) -> None:
    assert read(uuid[4:], binding=fake()) == read(uuid, binding=fake())


def test_an_unknown_uuid_leaves_the_driver_and_a_note_with_the_uuid() -> None:
    expected = DeviceState(
        driver="580.159", notes=("every field of device GPU-af7b: Not Found",)
    )  # a prefix is no match: the guess could be the neighbour
    assert read("GPU-af7b", binding=fake()) == expected


@pytest.mark.parametrize("version", ["580.159", b"580.159"])
def test_text_is_the_same_whether_the_binding_gives_bytes_or_str(version: str | bytes) -> None:
    assert read(GPU, binding=fake(nvmlSystemGetDriverVersion=version)) == HEALTHY


@pytest.mark.parametrize(
    "driver_version",
    [b"\xff580", UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")],
    ids=["bytes", "decode error inside the binding"],
)
def test_text_that_is_not_utf8_is_noted(driver_version: object) -> None:
    state = read(GPU, binding=fake(nvmlSystemGetDriverVersion=driver_version))
    note = "driver: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
    assert state == replace(HEALTHY, driver=None, notes=(note,))


def test_without_the_binding_every_field_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    note = "every field: install nvidia-ml-py, so that NVML can be asked"
    assert read(GPU) == DeviceState(notes=(note,))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Exception("NVML Shared Library Not Found"), "NVML Shared Library Not Found"),
        (Exception("Driver Not Loaded"), "Driver Not Loaded"),
        (OSError("libnvidia-ml.so.1: wrong ELF class"), "libnvidia-ml.so.1: wrong ELF class"),
    ],
)
def test_a_library_that_does_not_start_is_noted(error: Exception, reason: str) -> None:
    state = read(GPU, binding=fake(nvmlInit=error))
    assert state == DeviceState(notes=(f"every field: {reason}",))


def without(state: DeviceState, field: str, *notes: str) -> DeviceState:
    unknown: dict[str, Any] = {field: None}
    return replace(state, **unknown, notes=notes)


@pytest.mark.parametrize("function", FIELD_OF)
def test_one_refused_query_costs_its_own_field_only(function: str) -> None:
    field = FIELD_OF[function]
    state = read(GPU, binding=fake(**{function: Exception("Not Supported")}))
    assert state == without(HEALTHY, field, f"{field}: Not Supported")


@pytest.mark.parametrize("function", FIELD_OF)
def test_a_function_missing_in_an_old_binding_costs_its_own_field_only(function: str) -> None:
    state = read(GPU, binding=fake(**{function: NotImplemented}))
    assert replace(state, notes=()) == without(HEALTHY, FIELD_OF[function])


def test_every_field_that_nothing_is_told_about_has_a_note_with_its_name() -> None:
    asked = {name for name in vars(Nvml) if name.startswith(("nvmlDeviceGet", "nvmlSystem"))}
    refused = asked - {"nvmlDeviceGetHandleByUUID"}
    state = read(GPU, binding=fake(**dict.fromkeys(refused, Exception("Not Supported"))))
    names = {note.split(":")[0] for note in state.notes}
    assert names == {field.name for field in fields(DeviceState)} - {"notes", "ours_unlisted"}


def test_a_refused_highest_clock_costs_both_of_them_and_nothing_else() -> None:
    state = read(binding=fake(nvmlDeviceGetMaxClockInfo=Exception("Not Supported")))

    notes = ("max_sm_mhz: Not Supported", "max_memory_mhz: Not Supported")
    assert state == replace(HEALTHY, max_sm_mhz=None, max_memory_mhz=None, notes=notes)


def test_a_number_that_stands_for_not_available_is_no_measurement() -> None:
    state = read(GPU, binding=fake(nvmlDeviceGetPowerUsage=2**32 - 1))
    note = "power_mw: the driver answered with the value for 'not available'"
    assert state == replace(HEALTHY, power_mw=None, notes=(note,))


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (0x0, ()),
        (0x1, ("gpu_idle",)),
        (0x200, ("0x200",)),
        (0x209, ("gpu_idle", "hw_slowdown", "0x200")),
        (0x1FF, tuple(CLOCKS_EVENT_REASONS.values())),
    ],
)
def test_clocks_event_reasons_are_words_and_unknown_bits_stay_raw(
    mask: int, words: tuple[str, ...]
) -> None:
    nvml = fake(nvmlDeviceGetCurrentClocksEventReasons=mask)
    assert read(GPU, binding=nvml).clocks_event_reasons == words


@pytest.mark.parametrize("change", [NotImplemented, Exception("Function Not Found")])
def test_clocks_event_reasons_are_found_under_their_old_name(change: object) -> None:
    nvml = fake(nvmlDeviceGetCurrentClocksEventReasons=change)
    assert read(GPU, binding=nvml) == replace(HEALTHY, clocks_event_reasons=("hw_slowdown",))


def test_an_unknown_compute_mode_is_shown_by_its_number() -> None:
    assert read(GPU, binding=fake(nvmlDeviceGetComputeMode=9)).compute_mode == ("unknown mode 9")


def test_a_slice_has_its_own_memory_and_processes_and_the_clocks_of_its_board() -> None:
    part, board = f"handle of {MIG}", f"handle of {GPU}"
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=lambda handle: {part: []}[handle],
        nvmlDeviceGetMemoryInfo=lambda handle, _: {part: SimpleNamespace(used=9 * MIB)}[handle],
        nvmlDeviceGetClockInfo=lambda handle, clock: {(board, 1): 1980, (board, 2): 2619}[
            handle, clock
        ],
    )
    assert read(MIG, binding=nvml) == replace(HEALTHY, mig_enabled=True, used_memory_mib=9)


def test_a_slice_whose_board_is_hidden_keeps_what_is_its_own() -> None:
    nvml = fake(
        nvmlDeviceGetDeviceHandleFromMigDeviceHandle=Exception("Not Found"),
        nvmlDeviceGetTemperature=lambda handle, _: {f"handle of {MIG}": 31}[handle],
        nvmlDeviceGetPowerUsage=Exception("Invalid Argument"),
    )
    notes = (f"board of {MIG}: Not Found", "power_mw: Invalid Argument")
    assert read(MIG, binding=nvml) == replace(HEALTHY, mig_enabled=True, power_mw=None, notes=notes)


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        ({}, ["init", "shutdown"]),
        ({"nvmlDeviceGetHandleByUUID": Exception("GPU is lost")}, ["init", "shutdown"]),
        ({"nvmlInit": Exception("Driver Not Loaded")}, []),
    ],
    ids=["healthy", "device lost", "not started"],
)
def test_nvml_is_shut_down_once_for_every_start(
    change: dict[str, object], calls: list[str]
) -> None:
    made: list[str] = []
    journal: dict[str, object] = {
        "nvmlInit": lambda: made.append("init"),
        "nvmlShutdown": lambda: made.append("shutdown"),
    }
    read(GPU, binding=fake(**(journal | change)))
    assert made == calls


def test_nvml_is_shut_down_when_reading_breaks_in_a_way_of_its_own() -> None:
    made: list[str] = []
    nvml = fake(
        nvmlDeviceGetPowerUsage=KeyboardInterrupt(),
        nvmlShutdown=lambda: made.append("shutdown"),
    )
    with pytest.raises(KeyboardInterrupt):
        read(GPU, binding=nvml)
    assert made == ["shutdown"]


def test_a_refused_shutdown_leaves_what_was_told() -> None:
    assert read(GPU, binding=fake(nvmlShutdown=Exception("Unknown Error"))) == HEALTHY
