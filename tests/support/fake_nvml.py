"""A healthy device, told by a stand-in for pynvml."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

from pytest_rmsperf.device.nvml import NvmlReader
from pytest_rmsperf.device.nvml_binding import Nvml
from pytest_rmsperf.environment import DeviceState

GPU = "GPU-af7b1111-0000-0000-0000-000000000000"
OTHER_GPU = "GPU-0b0b2222-0000-0000-0000-000000000000"
MIG = "MIG-c0c03333-0000-0000-0000-000000000000"
DEVICES = (OTHER_GPU, GPU, MIG)  # in NVML's order: the one that tests ask for is not the first
MIB = 2**20


class Refused(Exception):
    """Stands for NVMLError."""


class NotFound(Refused):
    """Stands for NVMLError_NotFound."""


class Mismatch(Exception):
    """Stands for NVMLLibraryMismatchError, which is no NVMLError."""


def handle_of(uuid: str) -> str:
    if uuid not in DEVICES:
        raise Refused("Not Found")
    return f"handle of {uuid}"


CONSTANTS: dict[str, object] = {
    "NVMLError": Refused,
    "NVMLError_NotFound": NotFound,
    "NVMLLibraryMismatchError": Mismatch,
    "nvmlMemory_v2": 2,
}
ANSWERS: dict[str, object] = {
    "nvmlInit": None,
    "nvmlShutdown": None,
    "nvmlSystemGetDriverVersion": "580.159",
    "nvmlSystemGetProcessName": lambda pid: f"/usr/bin/job-{pid}",
    "nvmlDeviceGetHandleByUUID": handle_of,
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": f"handle of {GPU}",
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 700_001,
    "nvmlDeviceGetPowerUsage": 90_000,
    "nvmlDeviceGetClockInfo": lambda _, clock: {1: 1980, 2: 2619}[clock],
    "nvmlDeviceGetMaxClockInfo": lambda _, clock: {1: 1981, 2: 3201}[clock],
    "nvmlDeviceGetTemperature": 31,
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=7),
    "nvmlDeviceGetCurrentClocksEventReasons": 0x4,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 0x8,
    "nvmlDeviceGetEccMode": [1, 0],
    "nvmlDeviceGetMigMode": [0, 1],
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetComputeMode": 0,
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=4 * MIB),
    "nvmlDeviceGetComputeRunningProcesses": [],
    "nvmlDeviceGetGraphicsRunningProcesses": [],
    "nvmlDeviceGetProcessUtilization": NotFound("Not Found"),
}
# What `fake()` tells.
HEALTHY = DeviceState(
    driver="580.159",
    power_limit_mw=700_000,
    default_power_limit_mw=700_001,
    power_mw=90_000,
    sm_mhz=1980,
    max_sm_mhz=1981,
    memory_mhz=2619,
    max_memory_mhz=3201,
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


def function_of(answer: object) -> Callable[..., object]:
    """A function of NVML that gives this answer, or raises it; a plain Exception as NVMLError."""

    def function(*_: object) -> object:
        if type(answer) is Exception:
            raise Refused(*answer.args)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return answer if callable(answer) else function


def fake(**changes: object) -> Nvml:
    """A healthy device, but for `changes`; NotImplemented is what this binding does not have.

    Such as `fake(nvmlDeviceGetTemperature=Exception("Not Supported"))`.
    """
    present = {
        name: answer if name in CONSTANTS else function_of(answer)
        for name, answer in (CONSTANTS | ANSWERS | changes).items()
        if answer is not NotImplemented
    }
    return cast("Nvml", SimpleNamespace(**present))


def noting(asked: list[object], answer: object = None) -> Callable[..., object]:
    """A function of NVML that gives this answer and notes its last argument."""

    def function(*arguments: object) -> object:
        asked.append(arguments[-1])
        return answer

    return function


def running(*pids: int) -> list[SimpleNamespace]:
    """A list of processes."""
    return [SimpleNamespace(pid=pid) for pid in pids]


def read(
    uuid: str = GPU, *, own_pids: frozenset[int] = frozenset(), binding: Nvml | None = None
) -> DeviceState:
    """Open NVML, read everything once, and close it."""
    with NvmlReader(uuid, own_pids=own_pids, binding=binding) as reader:
        return reader.read()
