"""The state of one device as NVML tells it: a courtesy, never a condition.

CUDA is the authority on which device runs; NVML adds clocks, power, temperature and neighbours.
Containers, WSL, slices of a device and old drivers leave out some or all of it, so every field is
asked for by itself, and what is not told is None with a note that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from pytest_rmsperf.environment import DeviceState

# Values of nvml.h, part of the ABI of the driver's library.
CLOCK_SM = 1
CLOCK_MEMORY = 2
TEMPERATURE_SENSOR_GPU = 0
COMPUTE_MODES = {0: "default", 1: "exclusive_thread", 2: "prohibited", 3: "exclusive_process"}
CLOCKS_EVENT_REASONS = {
    0x001: "gpu_idle",
    0x002: "applications_clocks_setting",
    0x004: "sw_power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal_slowdown",
    0x040: "hw_thermal_slowdown",
    0x080: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
NOT_AVAILABLE = (2**32 - 1, 2**64 - 1)  # NVML_VALUE_NOT_AVAILABLE as uint and as ulonglong

MAX_PID = 2**22  # Linux: the largest value of kernel.pid_max
# An idle device shows a few MiB in use; one CUDA context takes some hundred.
IDLE_MEMORY_MIB = 64
MIB = 2**20

Told = TypeVar("Told")


class Memory(Protocol):
    @property
    def used(self) -> int: ...


class Utilization(Protocol):
    @property
    def gpu(self) -> int: ...


class Process(Protocol):
    @property
    def pid(self) -> int: ...


class Nvml(Protocol):
    """The part of the module `pynvml` (package nvidia-ml-py) that is used here.

    A handle is whatever `nvmlDeviceGetHandleByUUID` returned. Any of these may be missing from an
    old binding.
    """

    NVMLError: type[Exception]
    nvmlMemory_v2: int

    def nvmlInit(self) -> None: ...
    def nvmlShutdown(self) -> None: ...
    def nvmlSystemGetDriverVersion(self) -> str | bytes: ...
    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> object: ...
    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: object) -> object: ...
    def nvmlDeviceGetEnforcedPowerLimit(self, handle: object) -> int: ...
    def nvmlDeviceGetPowerManagementDefaultLimit(self, handle: object) -> int: ...
    def nvmlDeviceGetPowerUsage(self, handle: object) -> int: ...
    def nvmlDeviceGetClockInfo(self, handle: object, clock: int) -> int: ...
    def nvmlDeviceGetMaxClockInfo(self, handle: object, clock: int) -> int: ...
    def nvmlDeviceGetTemperature(self, handle: object, sensor: int) -> int: ...
    def nvmlDeviceGetUtilizationRates(self, handle: object) -> Utilization: ...
    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: object) -> int: ...
    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: object) -> int: ...
    def nvmlDeviceGetEccMode(self, handle: object) -> Sequence[int]: ...
    def nvmlDeviceGetMigMode(self, handle: object) -> Sequence[int]: ...
    def nvmlDeviceGetPersistenceMode(self, handle: object) -> int: ...
    def nvmlDeviceGetComputeMode(self, handle: object) -> int: ...
    def nvmlDeviceGetMemoryInfo(self, handle: object, version: int | None = None) -> Memory: ...
    def nvmlDeviceGetComputeRunningProcesses(self, handle: object) -> Sequence[Process]: ...
    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: object) -> Sequence[Process]: ...


def read_state(
    uuid: str, *, own_pids: frozenset[int] = frozenset(), library: Nvml | None = None
) -> DeviceState:
    """Return what NVML tells about the device with this UUID; nothing it lacks is an error.

    `uuid` is CUDA's: "GPU-...", "MIG-...", or the same without the prefix. `own_pids` are left out
    of `other_processes`. `library` stands in for the module `pynvml`.
    """
    nvml = library or _installed_library()
    if nvml is None:
        return DeviceState(notes=("every field: install nvidia-ml-py, so that NVML can be asked",))
    query = _Query(nvml)
    state = DeviceState()
    if query.ask("every field", lambda: _start(nvml)):
        try:
            state = _read(query, uuid, own_pids)
        finally:
            query.ask("shutdown", nvml.nvmlShutdown)
    return replace(state, notes=tuple(query.notes))


class _Query:
    """Asks one thing at a time, and notes what was not told and why."""

    def __init__(self, nvml: Nvml) -> None:
        self.nvml = nvml
        self.notes: list[str] = []
        # The mismatch error is no NVMLError: bindings raise it for a driver older than they are.
        mismatch = getattr(nvml, "NVMLLibraryMismatchError", nvml.NVMLError)
        # AttributeError: not in this binding. TypeError: other parameters in this binding.
        # ValueError: bytes that are not UTF-8, or a value that cannot be true.
        ours = (AttributeError, TypeError, ValueError, LookupError, OSError)
        self.refusals: tuple[type[Exception], ...] = (nvml.NVMLError, mismatch, *ours)

    def ask(self, name: str, reader: Callable[[], Told]) -> Told | None:
        """Return what `reader` tells; None and a note under `name` when it is refused."""
        try:
            told = reader()
            if told in NOT_AVAILABLE:
                raise ValueError("the driver answered with the value for 'not available'")
            return told
        except self.refusals as refusal:
            self.notes.append(f"{name}: {str(refusal) or type(refusal).__name__}")
            return None

    def first_told(self, readers: Sequence[Callable[[], Told]]) -> Told:
        """Return what the first willing reader tells; the refusal of the last one is raised."""
        for reader in readers[:-1]:
            with suppress(*self.refusals):
                return reader()
        return readers[-1]()


@dataclass(frozen=True, slots=True)
class _Device:
    """The handle of what CUDA runs on, and that of its board: two things for a MIG device."""

    part: object
    board: object
    is_mig: bool


def _installed_library() -> Nvml | None:
    try:
        import pynvml
    except ImportError:
        return None
    library: Nvml = pynvml
    return library


def _start(nvml: Nvml) -> bool:
    nvml.nvmlInit()
    return True


def _read(query: _Query, uuid: str, own_pids: frozenset[int]) -> DeviceState:
    driver = query.ask("driver", lambda: _text(query.nvml.nvmlSystemGetDriverVersion()))
    device = _find(query, uuid)
    if device is None:
        return DeviceState(driver=driver)
    used_bytes = query.ask("used_memory_mib", lambda: _used_bytes(query, device.part))
    used_mib = None if used_bytes is None else used_bytes // MIB
    return replace(
        _read_board(query, device),
        driver=driver,
        used_memory_mib=used_mib,
        other_processes=_other_processes(query, device.part, own_pids, used_mib),
    )


def _read_board(query: _Query, device: _Device) -> DeviceState:
    """The fields that belong to the board as a whole: NVML refuses them for a MIG device."""
    nvml, ask, board = query.nvml, query.ask, device.board
    return DeviceState(
        power_limit_mw=ask("power_limit_mw", lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(board)),
        default_power_limit_mw=ask(
            "default_power_limit_mw", lambda: nvml.nvmlDeviceGetPowerManagementDefaultLimit(board)
        ),
        power_mw=ask("power_mw", lambda: nvml.nvmlDeviceGetPowerUsage(board)),
        sm_mhz=ask("sm_mhz", lambda: nvml.nvmlDeviceGetClockInfo(board, CLOCK_SM)),
        max_sm_mhz=ask("max_sm_mhz", lambda: nvml.nvmlDeviceGetMaxClockInfo(board, CLOCK_SM)),
        memory_mhz=ask("memory_mhz", lambda: nvml.nvmlDeviceGetClockInfo(board, CLOCK_MEMORY)),
        temperature_c=ask(
            "temperature_c", lambda: nvml.nvmlDeviceGetTemperature(board, TEMPERATURE_SENSOR_GPU)
        ),
        utilization_percent=ask(
            "utilization_percent", lambda: nvml.nvmlDeviceGetUtilizationRates(board).gpu
        ),
        clocks_event_reasons=ask("clocks_event_reasons", lambda: _reasons(query, board)),
        ecc_enabled=ask("ecc_enabled", lambda: bool(nvml.nvmlDeviceGetEccMode(board)[0])),
        mig_enabled=ask(
            "mig_enabled", lambda: device.is_mig or bool(nvml.nvmlDeviceGetMigMode(board)[0])
        ),
        persistence_enabled=ask(
            "persistence_enabled", lambda: bool(nvml.nvmlDeviceGetPersistenceMode(board))
        ),
        compute_mode=ask("compute_mode", lambda: _mode(nvml.nvmlDeviceGetComputeMode(board))),
    )


def _find(query: _Query, uuid: str) -> _Device | None:
    """Match by UUID: NVML's indices ignore CUDA_VISIBLE_DEVICES and CUDA's order."""
    prefixes = ("",) if uuid.startswith(("GPU-", "MIG-")) else ("GPU-", "MIG-")
    readers = [partial(_handles, query, prefix + uuid) for prefix in prefixes]
    return query.ask(f"every field of device {uuid}", lambda: query.first_told(readers))


def _handles(query: _Query, uuid: str) -> _Device:
    part = query.nvml.nvmlDeviceGetHandleByUUID(uuid)
    if not uuid.startswith("MIG-"):
        return _Device(part, board=part, is_mig=False)
    board = query.ask(
        f"board of {uuid}", lambda: query.nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(part)
    )
    return _Device(part, board=part if board is None else board, is_mig=True)


def _text(told: str | bytes) -> str:
    return told.decode() if isinstance(told, bytes) else told


def _mode(told: int) -> str:
    return COMPUTE_MODES.get(told, f"unknown mode {told}")


def _reasons(query: _Query, board: object) -> tuple[str, ...]:
    """Words for the bits that are set; a bit without a word is shown as it is, in hexadecimal."""
    nvml = query.nvml
    mask = query.first_told(
        [
            lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(board),
            lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(board),
        ]
    )
    bits = [1 << index for index in range(mask.bit_length()) if mask >> index & 1]
    return tuple(CLOCKS_EVENT_REASONS.get(bit, hex(bit)) for bit in bits)


def _used_bytes(query: _Query, part: object) -> int:
    """Memory in use; the older query counts what the driver reserves for itself as used too."""
    nvml = query.nvml
    memory = query.first_told(
        [
            lambda: nvml.nvmlDeviceGetMemoryInfo(part, nvml.nvmlMemory_v2),
            lambda: nvml.nvmlDeviceGetMemoryInfo(part),
        ]
    )
    return memory.used


def _other_processes(
    query: _Query, part: object, own_pids: frozenset[int], used_mib: int | None
) -> tuple[int, ...] | None:
    nvml = query.nvml
    computing = query.ask(
        "other_processes", lambda: _pids(nvml.nvmlDeviceGetComputeRunningProcesses(part))
    )
    if computing is None:
        return None
    drawing = query.ask(
        "other_processes, drawing", lambda: _pids(nvml.nvmlDeviceGetGraphicsRunningProcesses(part))
    )
    pids = computing | (drawing or frozenset())
    if not pids and (used_mib or 0) > IDLE_MEMORY_MIB:
        query.notes.append(
            f"other_processes: none is listed although {used_mib} MiB are in use; "
            "processes may be hidden from this one"
        )
    if pids and own_pids and not pids & own_pids:
        query.notes.append(
            "other_processes: none of our own is listed; "
            "these may be pids of the host, with ours among them"
        )
    return tuple(sorted(pids - own_pids))


def _pids(processes: Sequence[Process]) -> frozenset[int]:
    pids = frozenset(process.pid for process in processes)
    for pid in pids:
        # Bindings and drivers that disagree about the record's layout give memory sizes as pids.
        if not 0 < pid <= MAX_PID:
            raise ValueError(f"the list holds {pid}, which is no pid")
    return pids
