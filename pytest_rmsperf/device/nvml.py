"""The state of one device as NVML tells it: a courtesy, never a condition.

CUDA is the authority on which device runs; NVML adds clocks, power, temperature and neighbours.
Containers, WSL, slices of a device and old drivers leave out some or all of it, so every field is
asked for by itself, and what is not told is None with a note that says why.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from pytest_rmsperf.device.nvml_binding import Nvml, Query, installed_binding, text
from pytest_rmsperf.device.tenants import TenantList
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
MIB = 2**20


class NvmlReader:
    """NVML, held open for one device, so that readings between timed work cost little.

    `uuid` is CUDA's: "GPU-...", "MIG-...", or the same without the prefix. `own_pids` are left out
    of the other processes. `binding` stands in for the module `pynvml`. Nothing raises: where NVML
    or the device cannot be found, each reading says why. Use as a context manager, or close it.
    """

    def __init__(
        self,
        uuid: str,
        *,
        own_pids: frozenset[int] = frozenset(),
        binding: Nvml | None = None,
    ) -> None:
        self._nvml = binding or installed_binding()
        self._opening: list[str] = []
        self._device: _Device | None = None
        self._is_open = False
        if self._nvml is None:
            self._opening.append("every field: install nvidia-ml-py, so that NVML can be asked")
            return
        query = Query(self._nvml)
        self._opening = query.notes
        self._is_open = bool(query.ask("every field", partial(_start, self._nvml)))
        if self._is_open:
            self._device = _find(query, uuid, own_pids)

    def __enter__(self) -> NvmlReader:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def read(self) -> DeviceState:
        """Return everything NVML tells of the device now."""
        if self._nvml is None or not self._is_open:
            return DeviceState(notes=tuple(self._opening))
        query = Query(self._nvml)
        driver = query.ask("driver", lambda: text(query.nvml.nvmlSystemGetDriverVersion()))
        state = DeviceState()
        if self._device is not None:
            used_bytes = query.ask("used_memory_mib", partial(_used_bytes, query, self._device))
            used_mib = None if used_bytes is None else used_bytes // MIB
            changing = _changing(query, self._device, used_mib=used_mib)
            state = replace(_standing(query, self._device, changing), used_memory_mib=used_mib)
        return replace(state, driver=driver, notes=(*self._opening, *query.notes))

    def sample(self) -> DeviceState:
        """Return only what changes while cases are timed: clocks, heat, power and processes."""
        if self._nvml is None or self._device is None:
            return DeviceState(notes=tuple(self._opening))
        query = Query(self._nvml)
        state = _changing(query, self._device)
        return replace(state, notes=(*self._opening, *query.notes))

    def close(self) -> None:
        """Shut NVML down; a second time, or where it refuses, nothing happens."""
        if self._nvml is None or not self._is_open:
            return
        self._is_open = False
        self._device = None
        with suppress(*Query(self._nvml).refusals):
            self._nvml.nvmlShutdown()


@dataclass(frozen=True, slots=True)
class _Device:
    """The handle of what CUDA runs on, and that of its board: two things for a MIG device.

    NVML refuses for a MIG device whatever belongs to the board as a whole.
    """

    part: object
    board: object
    tenants: TenantList
    is_mig: bool


def _start(nvml: Nvml) -> bool:
    nvml.nvmlInit()
    return True


def _changing(query: Query, device: _Device, *, used_mib: int | None = None) -> DeviceState:
    nvml, ask, board = query.nvml, query.ask, device.board
    tenancy = device.tenants.read(query, used_mib=used_mib)
    return DeviceState(
        sm_mhz=ask("sm_mhz", lambda: nvml.nvmlDeviceGetClockInfo(board, CLOCK_SM)),
        max_sm_mhz=ask("max_sm_mhz", lambda: nvml.nvmlDeviceGetMaxClockInfo(board, CLOCK_SM)),
        memory_mhz=ask("memory_mhz", lambda: nvml.nvmlDeviceGetClockInfo(board, CLOCK_MEMORY)),
        power_mw=ask("power_mw", lambda: nvml.nvmlDeviceGetPowerUsage(board)),
        temperature_c=ask(
            "temperature_c",
            lambda: nvml.nvmlDeviceGetTemperature(board, TEMPERATURE_SENSOR_GPU),
        ),
        clocks_event_reasons=ask("clocks_event_reasons", lambda: _reasons(query, board)),
        other_processes=tenancy.others,
        ours_unlisted=tenancy.ours_unlisted,
    )


def _standing(query: Query, device: _Device, state: DeviceState) -> DeviceState:
    """Add to a state what does not change while cases are timed, or says nothing then."""
    nvml, ask, board = query.nvml, query.ask, device.board
    return replace(
        state,
        power_limit_mw=ask("power_limit_mw", lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(board)),
        default_power_limit_mw=ask(
            "default_power_limit_mw", lambda: nvml.nvmlDeviceGetPowerManagementDefaultLimit(board)
        ),
        max_memory_mhz=ask(
            "max_memory_mhz", lambda: nvml.nvmlDeviceGetMaxClockInfo(board, CLOCK_MEMORY)
        ),
        utilization_percent=ask(
            "utilization_percent", lambda: nvml.nvmlDeviceGetUtilizationRates(board).gpu
        ),
        ecc_enabled=ask("ecc_enabled", lambda: bool(nvml.nvmlDeviceGetEccMode(board)[0])),
        mig_enabled=ask(
            "mig_enabled", lambda: device.is_mig or bool(nvml.nvmlDeviceGetMigMode(board)[0])
        ),
        persistence_enabled=ask(
            "persistence_enabled", lambda: bool(nvml.nvmlDeviceGetPersistenceMode(board))
        ),
        compute_mode=ask("compute_mode", lambda: _mode(nvml.nvmlDeviceGetComputeMode(board))),
    )


def _find(query: Query, uuid: str, own_pids: frozenset[int]) -> _Device | None:
    """Match by UUID: NVML's indices ignore CUDA_VISIBLE_DEVICES and CUDA's order."""
    prefixes = ("",) if uuid.startswith(("GPU-", "MIG-")) else ("GPU-", "MIG-")
    readers = [partial(_handles, query, prefix + uuid, own_pids) for prefix in prefixes]
    return query.ask(f"every field of device {uuid}", lambda: query.first_told(readers))


def _handles(query: Query, uuid: str, own_pids: frozenset[int]) -> _Device:
    part = query.nvml.nvmlDeviceGetHandleByUUID(uuid)
    tenants = TenantList(part, own_pids)
    if not uuid.startswith("MIG-"):
        return _Device(part, part, tenants, is_mig=False)
    board = query.ask(
        f"board of {uuid}", lambda: query.nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(part)
    )
    return _Device(part, part if board is None else board, tenants, is_mig=True)


def _mode(told: int) -> str:
    return COMPUTE_MODES.get(told, f"unknown mode {told}")


def _reasons(query: Query, board: object) -> tuple[str, ...]:
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


def _used_bytes(query: Query, device: _Device) -> int:
    """Memory in use; the older query counts what the driver reserves for itself as used too."""
    nvml, part = query.nvml, device.part
    memory = query.first_told(
        [
            lambda: nvml.nvmlDeviceGetMemoryInfo(part, nvml.nvmlMemory_v2),
            lambda: nvml.nvmlDeviceGetMemoryInfo(part),
        ]
    )
    return memory.used
