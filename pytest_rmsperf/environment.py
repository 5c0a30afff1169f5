"""Where something was measured: the device, its state, the software and the commit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class DeviceChoice(str, Enum):
    """Which device a run may use."""

    AUTO = "auto"  # a CUDA device if there is one, else the emulated one if that is possible
    CUDA = "cuda"  # nothing stands in for a CUDA device that is missing
    EMULATED = "emulated"  # a CUDA device is not even looked for
    NONE = "none"  # nothing is launched, here or anywhere


def device_key(name: str) -> str:
    """Return the folder name for a device: its full CUDA name, lower case, words joined by -.

    The full name is used because short forms collide: H200 and H200 NVL are different parts.
    """
    key = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return key or "unnamed-device"


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """The stable facts of a device: two measurements are comparable only when these agree.

    The SM count is part of it: a slice or a partitioned GPU keeps the name of the whole.
    """

    name: str
    sms: int
    compute_capability: str
    memory_mib: int

    @property
    def key(self) -> str:
        return device_key(self.name)

    @property
    def arch(self) -> str:
        return "sm_" + self.compute_capability.replace(".", "")


def capability_number(compute_capability: str) -> tuple[int, ...]:
    """Return a compute capability such as "9.0" as numbers, whose order is that of capabilities."""
    return tuple(map(int, compute_capability.split(".")))


@dataclass(frozen=True, slots=True)
class Tenant:
    """A process on the device that is none of ours; what the driver does not tell is None."""

    pid: int
    name: str | None = None
    sm_percent: int | None = None  # of the device's time, lately

    def __str__(self) -> str:
        name = self.name or "a process whose name is hidden"
        share = "" if self.sm_percent is None else f", {self.sm_percent} % of the SMs' time"
        return f"{name} (pid {self.pid}{share})"


@dataclass(frozen=True, slots=True)
class DeviceState:
    """What NVML says at one moment; a field is None where the machine does not tell.

    `notes` says for each missing field why it is missing, so that absence is visible.
    `ours_unlisted` says that processes are listed and none of them is ours: these may be pids of
    the host, with ours among `other_processes`.
    """

    driver: str | None = None
    power_limit_mw: int | None = None
    default_power_limit_mw: int | None = None
    power_mw: int | None = None
    sm_mhz: int | None = None
    max_sm_mhz: int | None = None
    memory_mhz: int | None = None
    max_memory_mhz: int | None = None
    temperature_c: int | None = None
    utilization_percent: int | None = None
    clocks_event_reasons: tuple[str, ...] | None = None
    ecc_enabled: bool | None = None
    mig_enabled: bool | None = None
    persistence_enabled: bool | None = None
    compute_mode: str | None = None
    used_memory_mib: int | None = None
    other_processes: tuple[Tenant, ...] | None = None
    ours_unlisted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def has_strangers(self) -> bool:
        """Whether a process that cannot be ours is on the device."""
        return len(self.other_processes or ()) > self.ours_unlisted


@dataclass(frozen=True, slots=True)
class DeviceRecord:
    """One CUDA device as seen by CUDA (identity, uuid) and by NVML (state)."""

    identity: DeviceIdentity
    uuid: str
    cuda: str
    state: DeviceState

    def describe(self) -> str:
        """One line for the report header."""
        one = self.identity
        driver = self.state.driver or "unknown"
        return (
            f"{one.name} ({one.sms} SMs, {one.memory_mib} MiB, compute capability "
            f"{one.compute_capability}), driver {driver}, CUDA {self.cuda}"
        )


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which code was measured when, and by which software."""

    date: str  # ISO 8601, UTC, to the second
    commit: str | None  # short hash; None outside a git repository
    dirty: bool | None
    python: str
    rmsperf: str
    packages: tuple[tuple[str, str], ...]
