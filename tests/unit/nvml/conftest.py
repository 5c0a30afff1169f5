"""A healthy device, told by a stand-in for pynvml."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_rmsperf.device.nvml import Nvml
from pytest_rmsperf.environment import DeviceState


class Refused(Exception):
    """Stands for NVMLError."""


class Mismatch(Exception):
    """Stands for NVMLLibraryMismatchError, which is no NVMLError."""


DEVICES = (  # the one that tests ask for is last in NVML's order, before a slice of it
    "GPU-0b0b2222-0000-0000-0000-000000000000",
    "GPU-af7b1111-0000-0000-0000-000000000000",
    "MIG-c0c03333-0000-0000-0000-000000000000",
)


def handle_of(uuid: str) -> str:
    if uuid not in DEVICES:
        raise Refused("Not Found")
    return f"handle of {uuid}"


ANSWERS: dict[str, object] = {
    "nvmlInit": None,
    "nvmlShutdown": None,
    "nvmlSystemGetDriverVersion": "580.159",
    "nvmlDeviceGetHandleByUUID": handle_of,
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": f"handle of {DEVICES[1]}",
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 700_001,
    "nvmlDeviceGetPowerUsage": 90_000,
    "nvmlDeviceGetClockInfo": lambda _, clock: {1: 1980, 2: 2619}[clock],
    "nvmlDeviceGetMaxClockInfo": lambda _, clock: {1: 1981}[clock],
    "nvmlDeviceGetTemperature": 31,
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=7),
    "nvmlDeviceGetCurrentClocksEventReasons": 0x4,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 0x8,
    "nvmlDeviceGetEccMode": [1, 0],
    "nvmlDeviceGetMigMode": [0, 1],
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetComputeMode": 0,
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=4 * 2**20),
    "nvmlDeviceGetComputeRunningProcesses": [],
    "nvmlDeviceGetGraphicsRunningProcesses": [],
}


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
    """A healthy device, but for `changes`; NotImplemented is what this binding does not have."""
    constants = {
        "NVMLError": Refused,
        "NVMLLibraryMismatchError": Mismatch,
        "nvmlMemory_v2": 2,
    }
    present = {
        name: answer if name in constants else function_of(answer)
        for name, answer in (constants | ANSWERS | changes).items()
        if answer is not NotImplemented
    }
    return cast("Nvml", SimpleNamespace(**present))


@pytest.fixture
def fake_nvml() -> Callable[..., Nvml]:
    """Builds a stand-in for pynvml: `fake_nvml(nvmlDeviceGetTemperature=Exception("No"))`."""
    return fake


@pytest.fixture
def healthy() -> DeviceState:
    """What `fake_nvml()` tells."""
    return DeviceState(
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


@pytest.fixture
def mismatch() -> type[Exception]:
    """What `fake_nvml()` has for NVMLLibraryMismatchError."""
    return Mismatch
