"""What is used of the binding to NVML, and how it is asked: one thing at a time, never in earnest.

The binding is the module `pynvml` of the package nvidia-ml-py, of any age and over any driver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, TypeVar

NOT_AVAILABLE = (2**32 - 1, 2**64 - 1)  # NVML_VALUE_NOT_AVAILABLE as uint and as ulonglong

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


class ProcessShare(Protocol):
    @property
    def pid(self) -> int: ...
    @property
    def smUtil(self) -> int: ...


class Nvml(Protocol):
    """The part of the module `pynvml` (package nvidia-ml-py) that is used here.

    A handle is whatever `nvmlDeviceGetHandleByUUID` returned. Any of these may be missing from an
    old binding.
    """

    NVMLError: type[Exception]
    NVMLError_NotFound: type[Exception]
    nvmlMemory_v2: int

    def nvmlInit(self) -> None: ...
    def nvmlShutdown(self) -> None: ...
    def nvmlSystemGetDriverVersion(self) -> str | bytes: ...
    def nvmlSystemGetProcessName(self, pid: int) -> str | bytes: ...
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
    def nvmlDeviceGetProcessUtilization(
        self, handle: object, since_us: int
    ) -> Sequence[ProcessShare]: ...


def installed_binding() -> Nvml | None:
    """Return the module `pynvml`, or None where it is not installed."""
    try:
        import pynvml
    except ImportError:
        return None
    binding: Nvml = pynvml
    return binding


class Query:
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


def text(told: str | bytes) -> str:
    """Return text of the binding as str: which of the two it gives depends on its age."""
    return told.decode() if isinstance(told, bytes) else told
