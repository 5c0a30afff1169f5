"""The other processes on a device, as NVML lists them: which, what they are, how busy they are.

The list is doubtful evidence. Where processes have pids of their own, as in containers, it may be
empty, or hold pids of the host; so whatever seems odd about it is noted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.device.nvml_binding import Process, ProcessShare, Query, text
from pytest_rmsperf.environment import Tenant

MAX_PID = 2**22  # Linux: the largest value of kernel.pid_max
# An idle device shows a few MiB in use; one CUDA context takes some hundred.
IDLE_MEMORY_MIB = 64
# How far back a process's share of the SMs' time is looked for; the driver samples it no more
# often than every sixth of a second, and no less than every second (nvml.h on utilization rates).
LATELY_US = 1_000_000
FIELD = "other_processes"


@dataclass(frozen=True, slots=True)
class Tenancy:
    """The processes other than ours; None where the driver does not list any.

    `ours_unlisted` says that ours should be in the list and is not.
    """

    others: tuple[Tenant, ...] | None
    ours_unlisted: bool = False


class TenantList:
    """Reads the other processes on one part of a device; `own_pids` are not among them."""

    def __init__(self, part: object, own_pids: frozenset[int]) -> None:
        self._part = part
        self._own_pids = own_pids
        self._names: dict[int, str | None] = {}

    def read(self, query: Query, *, used_mib: int | None = None) -> Tenancy:
        """Return the processes of this moment; the names of those seen before are not asked again.

        With `used_mib`, the memory in use, an empty list is doubted where that is too much.
        """
        pids = self._pids(query)
        if pids is None:
            return Tenancy(None)
        if not pids and (used_mib or 0) > IDLE_MEMORY_MIB:
            query.notes.append(
                f"{FIELD}: none is listed although {used_mib} MiB are in use; "
                "processes may be hidden from this one"
            )
        ours_unlisted = bool(pids and self._own_pids and not pids & self._own_pids)
        if ours_unlisted:
            query.notes.append(
                f"{FIELD}: none of our own is listed; "
                "these may be pids of the host, with ours among them"
            )
        others = sorted(pids - self._own_pids)
        shares = self._shares(query) if others else {}
        # A pid of the host is here the pid of some other process, or of none.
        self._names = {pid: None if ours_unlisted else self._name(query, pid) for pid in others}
        tenants = (Tenant(pid, self._names[pid], shares.get(pid)) for pid in others)
        return Tenancy(tuple(tenants), ours_unlisted)

    def _pids(self, query: Query) -> frozenset[int] | None:
        nvml, part = query.nvml, self._part
        computing = query.ask(FIELD, lambda: _pids(nvml.nvmlDeviceGetComputeRunningProcesses(part)))
        if computing is None:
            return None
        drawing = query.ask(
            f"{FIELD}, drawing", lambda: _pids(nvml.nvmlDeviceGetGraphicsRunningProcesses(part))
        )
        return computing | (drawing or frozenset())

    def _name(self, query: Query, pid: int) -> str | None:
        if pid in self._names:
            return self._names[pid]
        nvml = query.nvml
        readers = [
            lambda: _program(text(nvml.nvmlSystemGetProcessName(pid))),
            lambda: _program(Path(f"/proc/{pid}/comm").read_text(encoding="utf-8")),
        ]
        return query.ask(f"{FIELD}, name of {pid}", lambda: query.first_told(readers))

    def _shares(self, query: Query) -> dict[int, int]:
        """Return the largest share of the SMs' time that each process lately had, in percent."""
        nvml, part = query.nvml, self._part
        nothing_ran = getattr(nvml, "NVMLError_NotFound", ())
        since_us = time.time_ns() // 1000 - LATELY_US

        def ask() -> Sequence[ProcessShare]:
            try:
                return nvml.nvmlDeviceGetProcessUtilization(part, since_us)
            except nothing_ran:
                return ()

        found: dict[int, int] = {}
        for one in query.ask(f"{FIELD}, sm_percent", ask) or ():
            if 0 <= one.smUtil <= 100:  # some drivers fill in what they do not know
                found[one.pid] = max(one.smUtil, found.get(one.pid, 0))
        return found


def _pids(processes: Sequence[Process]) -> frozenset[int]:
    pids = frozenset(process.pid for process in processes)
    for pid in pids:
        # Bindings and drivers that disagree about the record's layout give memory sizes as pids.
        if not 0 < pid <= MAX_PID:
            raise ValueError(f"the list holds {pid}, which is no pid")
    return pids


def _program(command: str) -> str:
    """Return the file's name of a command; its arguments are nobody's business here."""
    words = command.split()
    if not words:
        raise ValueError("the name is empty")
    return words[0].rpartition("/")[2]
