"""The state of a device, told by a stand-in for pynvml."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest

from pytest_rmsperf.device.nvml import CLOCKS_EVENT_REASONS, IDLE_MEMORY_MIB, MAX_PID, Nvml
from pytest_rmsperf.device.nvml import read_state as read
from pytest_rmsperf.environment import DeviceState

GPU = "GPU-af7b1111-0000-0000-0000-000000000000"
OTHER_GPU = "GPU-0b0b2222-0000-0000-0000-000000000000"
MIG = "MIG-c0c03333-0000-0000-0000-000000000000"
MIB = 2**20


class Refused(Exception):
    """Stands for NVMLError."""


class Mismatch(Exception):
    """Stands for NVMLLibraryMismatchError, which is no NVMLError."""


ABSENT = object()  # as a change of `fake`: this binding has no such function

HEALTHY = DeviceState(
    driver="580.159",
    power_limit_mw=700_000,
    default_power_limit_mw=700_001,
    power_mw=90_000,
    sm_mhz=1980,
    max_sm_mhz=1981,
    memory_mhz=2619,
    temperature_c=31,
    utilization_percent=7,
    clocks_event_reasons=("sw_power_cap",),
    ecc_enabled=True,
    mig_enabled=False,
    persistence_enabled=True,
    compute_mode="default",
    used_memory_mib=4,
    other_processes=(),
)

FIELD_OF = {
    "nvmlSystemGetDriverVersion": "driver",
    "nvmlDeviceGetEnforcedPowerLimit": "power_limit_mw",
    "nvmlDeviceGetPowerManagementDefaultLimit": "default_power_limit_mw",
    "nvmlDeviceGetPowerUsage": "power_mw",
    "nvmlDeviceGetMaxClockInfo": "max_sm_mhz",
    "nvmlDeviceGetTemperature": "temperature_c",
    "nvmlDeviceGetUtilizationRates": "utilization_percent",
    "nvmlDeviceGetEccMode": "ecc_enabled",
    "nvmlDeviceGetMigMode": "mig_enabled",
    "nvmlDeviceGetPersistenceMode": "persistence_enabled",
    "nvmlDeviceGetComputeMode": "compute_mode",
    "nvmlDeviceGetMemoryInfo": "used_memory_mib",
    "nvmlDeviceGetComputeRunningProcesses": "other_processes",
}


def refuse(error: BaseException) -> Callable[..., NoReturn]:
    def refusal(*_: object) -> NoReturn:
        raise error

    return refusal


def tell(answer: object) -> Callable[..., object]:
    return lambda *_: answer


def handle_of(uuid: str) -> str:
    """Two devices, the one under test last in NVML's order, and a slice."""
    if uuid not in (OTHER_GPU, GPU, MIG):
        raise Refused("Not Found")
    return f"handle of {uuid}"


def fake(**changes: object) -> Nvml:
    """A healthy device, but for the functions in `changes`."""
    functions: dict[str, object] = {
        "NVMLError": Refused,
        "NVMLLibraryMismatchError": Mismatch,
        "nvmlMemory_v2": 2,
        "nvmlInit": tell(None),
        "nvmlShutdown": tell(None),
        "nvmlSystemGetDriverVersion": tell("580.159"),
        "nvmlDeviceGetHandleByUUID": handle_of,
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": tell(f"handle of {GPU}"),
        "nvmlDeviceGetEnforcedPowerLimit": tell(700_000),
        "nvmlDeviceGetPowerManagementDefaultLimit": tell(700_001),
        "nvmlDeviceGetPowerUsage": tell(90_000),
        "nvmlDeviceGetClockInfo": lambda _, clock: {1: 1980, 2: 2619}[clock],
        "nvmlDeviceGetMaxClockInfo": lambda _, clock: {1: 1981}[clock],
        "nvmlDeviceGetTemperature": tell(31),
        "nvmlDeviceGetUtilizationRates": tell(SimpleNamespace(gpu=7)),
        "nvmlDeviceGetCurrentClocksEventReasons": tell(0x4),
        "nvmlDeviceGetCurrentClocksThrottleReasons": tell(0x8),
        "nvmlDeviceGetEccMode": tell([1, 0]),
        "nvmlDeviceGetMigMode": tell([0, 1]),
        "nvmlDeviceGetPersistenceMode": tell(1),
        "nvmlDeviceGetComputeMode": tell(0),
        "nvmlDeviceGetMemoryInfo": tell(SimpleNamespace(used=4 * MIB)),
        "nvmlDeviceGetComputeRunningProcesses": tell([]),
        "nvmlDeviceGetGraphicsRunningProcesses": tell([]),
    }
    present = {name: value for name, value in (functions | changes).items() if value is not ABSENT}
    return cast("Nvml", SimpleNamespace(**present))


def running(*pids: int) -> Callable[..., object]:
    return tell([SimpleNamespace(pid=pid) for pid in pids])


def test_a_healthy_device_tells_every_field_and_leaves_no_note() -> None:
    assert read(GPU, library=fake()) == HEALTHY


def test_the_binding_has_everything_that_the_protocol_names() -> None:
    pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is an optional dependency")
    named = {name for name in vars(Nvml) if name.startswith("nvml")} | set(Nvml.__annotations__)
    assert {name for name in named if not hasattr(pynvml, name)} == set()


def test_the_device_is_found_by_uuid_whatever_its_place_in_the_order_of_nvml() -> None:
    watts = {f"handle of {OTHER_GPU}": 1, f"handle of {GPU}": 2}
    nvml = fake(nvmlDeviceGetPowerUsage=lambda handle: watts[handle])
    assert [read(uuid, library=nvml).power_mw for uuid in (GPU, OTHER_GPU)] == [2, 1]


@pytest.mark.parametrize("uuid", [GPU, MIG])
def test_a_uuid_without_its_prefix_finds_the_same_device(uuid: str) -> None:
    assert read(uuid[4:], library=fake()) == read(uuid, library=fake())


def test_an_unknown_uuid_leaves_the_driver_and_a_note_with_the_uuid() -> None:
    expected = DeviceState(
        driver="580.159", notes=("every field of device GPU-af7b: Not Found",)
    )  # a prefix is no match: the guess could be the neighbour
    assert read("GPU-af7b", library=fake()) == expected


@pytest.mark.parametrize("version", ["580.159", b"580.159"])
def test_text_is_the_same_whether_the_binding_gives_bytes_or_str(version: str | bytes) -> None:
    assert read(GPU, library=fake(nvmlSystemGetDriverVersion=tell(version))) == HEALTHY


@pytest.mark.parametrize(
    "driver_version",
    [tell(b"\xff580"), refuse(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"))],
    ids=["bytes", "decode error inside the binding"],
)
def test_text_that_is_not_utf8_is_noted(driver_version: Callable[..., object]) -> None:
    state = read(GPU, library=fake(nvmlSystemGetDriverVersion=driver_version))
    note = "driver: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"
    assert state == replace(HEALTHY, driver=None, notes=(note,))


def test_without_the_binding_every_field_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    note = "every field: install nvidia-ml-py, so that NVML can be asked"
    assert read(GPU) == DeviceState(notes=(note,))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Refused("NVML Shared Library Not Found"), "NVML Shared Library Not Found"),
        (Refused("Driver Not Loaded"), "Driver Not Loaded"),
        (OSError("libnvidia-ml.so.1: wrong ELF class"), "libnvidia-ml.so.1: wrong ELF class"),
    ],
)
def test_a_library_that_does_not_start_is_noted(error: Exception, reason: str) -> None:
    state = read(GPU, library=fake(nvmlInit=refuse(error)))
    assert state == DeviceState(notes=(f"every field: {reason}",))


def healthy_but(field: str, *notes: str) -> DeviceState:
    unknown: dict[str, Any] = {field: None}
    return replace(HEALTHY, **unknown, notes=notes)


@pytest.mark.parametrize("function", FIELD_OF)
def test_one_refused_query_costs_its_own_field_only(function: str) -> None:
    field = FIELD_OF[function]
    state = read(GPU, library=fake(**{function: refuse(Refused("Not Supported"))}))
    assert state == healthy_but(field, f"{field}: Not Supported")


@pytest.mark.parametrize("function", FIELD_OF)
def test_a_function_missing_in_an_old_binding_costs_its_own_field_only(function: str) -> None:
    state = read(GPU, library=fake(**{function: ABSENT}))
    assert replace(state, notes=()) == healthy_but(FIELD_OF[function])


def test_every_field_that_nothing_is_told_about_has_a_note_with_its_name() -> None:
    refused = refuse(Refused("Not Supported"))
    asked = [name for name in vars(Nvml) if name.startswith(("nvmlDeviceGet", "nvmlSystem"))]
    kept = {"nvmlDeviceGetHandleByUUID": handle_of}
    state = read(GPU, library=fake(**dict.fromkeys(asked, refused) | kept))
    names = {note.split(":")[0] for note in state.notes}
    assert names == {field.name for field in fields(DeviceState)} - {"notes"}


def test_a_number_that_stands_for_not_available_is_no_measurement() -> None:
    state = read(GPU, library=fake(nvmlDeviceGetPowerUsage=tell(2**32 - 1)))
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
    nvml = fake(nvmlDeviceGetCurrentClocksEventReasons=tell(mask))
    assert read(GPU, library=nvml).clocks_event_reasons == words


@pytest.mark.parametrize("change", [ABSENT, refuse(Refused("Function Not Found"))])
def test_clocks_event_reasons_are_found_under_their_old_name(change: object) -> None:
    nvml = fake(nvmlDeviceGetCurrentClocksEventReasons=change)
    assert read(GPU, library=nvml) == replace(HEALTHY, clocks_event_reasons=("hw_slowdown",))


def test_an_unknown_compute_mode_is_shown_by_its_number() -> None:
    assert read(GPU, library=fake(nvmlDeviceGetComputeMode=tell(9))).compute_mode == (
        "unknown mode 9"
    )


def test_memory_in_use_leaves_out_what_the_driver_reserves() -> None:
    used = {2: 4, None: 600}
    nvml = fake(
        nvmlDeviceGetMemoryInfo=lambda _, version=None: SimpleNamespace(used=used[version] * MIB)
    )
    assert read(GPU, library=nvml).used_memory_mib == 4


def test_memory_in_use_is_told_by_a_binding_without_the_second_version() -> None:
    assert read(GPU, library=fake(nvmlMemory_v2=ABSENT)).used_memory_mib == 4


def test_processes_that_compute_or_draw_are_others_and_our_own_are_not() -> None:
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=running(30, 10),
        nvmlDeviceGetGraphicsRunningProcesses=running(20, 10),
    )
    state = read(GPU, library=nvml, own_pids=frozenset({10}))
    assert state == replace(HEALTHY, other_processes=(20, 30))


def test_pids_without_our_own_are_noted_as_possibly_those_of_the_host() -> None:
    nvml = fake(nvmlDeviceGetComputeRunningProcesses=running(3_000_000))
    state = read(GPU, library=nvml, own_pids=frozenset({10}))
    note = (
        "other_processes: none of our own is listed; "
        "these may be pids of the host, with ours among them"
    )
    assert state == replace(HEALTHY, other_processes=(3_000_000,), notes=(note,))


@pytest.mark.parametrize(("used_mib", "notes"), [(IDLE_MEMORY_MIB, 0), (IDLE_MEMORY_MIB + 1, 1)])
def test_an_empty_list_is_doubted_when_more_memory_is_used_than_idle(
    used_mib: int, notes: int
) -> None:
    nvml = fake(nvmlDeviceGetMemoryInfo=tell(SimpleNamespace(used=used_mib * MIB)))
    assert len(read(GPU, library=nvml).notes) == notes


@pytest.mark.parametrize(
    ("pid", "others"), [(1, (1,)), (MAX_PID, (MAX_PID,)), (0, None), (MAX_PID + 1, None)]
)
def test_a_number_that_can_be_no_pid_discredits_the_list(
    pid: int, others: tuple[int, ...] | None
) -> None:
    nvml = fake(nvmlDeviceGetComputeRunningProcesses=running(pid))
    assert read(GPU, library=nvml).other_processes == others


def test_a_driver_older_than_the_binding_hides_the_processes_only() -> None:
    error = Mismatch("use a versioned function")
    state = read(GPU, library=fake(nvmlDeviceGetComputeRunningProcesses=refuse(error)))
    note = "other_processes: use a versioned function"
    assert state == replace(HEALTHY, other_processes=None, notes=(note,))


def test_processes_that_compute_are_kept_where_those_that_draw_are_not_told() -> None:
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=running(30),
        nvmlDeviceGetGraphicsRunningProcesses=refuse(Refused("Not Supported")),
    )
    note = "other_processes, drawing: Not Supported"
    assert read(GPU, library=nvml) == replace(HEALTHY, other_processes=(30,), notes=(note,))


def test_a_slice_has_its_own_memory_and_processes_and_the_clocks_of_its_board() -> None:
    part, board = f"handle of {MIG}", f"handle of {GPU}"
    nvml = fake(
        nvmlDeviceGetComputeRunningProcesses=lambda handle: {part: []}[handle],
        nvmlDeviceGetMemoryInfo=lambda handle, _: {part: SimpleNamespace(used=9 * MIB)}[handle],
        nvmlDeviceGetClockInfo=lambda handle, clock: {(board, 1): 1980, (board, 2): 2619}[
            handle, clock
        ],
    )
    assert read(MIG, library=nvml) == replace(HEALTHY, mig_enabled=True, used_memory_mib=9)


def test_a_slice_whose_board_is_hidden_keeps_what_is_its_own() -> None:
    nvml = fake(
        nvmlDeviceGetDeviceHandleFromMigDeviceHandle=refuse(Refused("Not Found")),
        nvmlDeviceGetTemperature=lambda handle, _: {f"handle of {MIG}": 31}[handle],
        nvmlDeviceGetPowerUsage=refuse(Refused("Invalid Argument")),
    )
    notes = (f"board of {MIG}: Not Found", "power_mw: Invalid Argument")
    assert read(MIG, library=nvml) == replace(HEALTHY, mig_enabled=True, power_mw=None, notes=notes)


@pytest.mark.parametrize(
    ("change", "calls"),
    [
        ({}, ["init", "shutdown"]),
        ({"nvmlDeviceGetHandleByUUID": refuse(Refused("GPU is lost"))}, ["init", "shutdown"]),
        ({"nvmlInit": refuse(Refused("Driver Not Loaded"))}, []),
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
    read(GPU, library=fake(**(journal | change)))
    assert made == calls


def test_nvml_is_shut_down_when_reading_breaks_in_a_way_of_its_own() -> None:
    made: list[str] = []
    nvml = fake(
        nvmlDeviceGetPowerUsage=refuse(KeyboardInterrupt()),
        nvmlShutdown=lambda: made.append("shutdown"),
    )
    with pytest.raises(KeyboardInterrupt):
        read(GPU, library=nvml)
    assert made == ["shutdown"]


def test_a_refused_shutdown_leaves_what_was_told() -> None:
    state = read(GPU, library=fake(nvmlShutdown=refuse(Refused("Unknown Error"))))
    assert state == replace(HEALTHY, notes=("shutdown: Unknown Error",))
