"""A kernel that holds the stream, so that launches queue up behind it and run without the host."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.device.context import checked
from pytest_rmsperf.device.launcher import Invocation, LoadedModule
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.probes import BLOCK
from pytest_rmsperf.problem import Problem

# Queueing 511 launches of 3 us each takes 1.5 ms of a host that is not interrupted.
LIMIT_MS = 1000


class HostWords:
    """Two words of host memory that the device reads and writes while a kernel runs."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        nbytes = ctypes.sizeof(ctypes.c_uint32 * 2)
        answer = driver.cuMemHostAlloc(nbytes, driver.CU_MEMHOSTALLOC_DEVICEMAP)
        # Lives as long as the process: a kernel that hangs may still look at it.
        self._host_address = int(checked(answer, f"{nbytes} bytes of host memory"))
        self._words = (ctypes.c_uint32 * 2).from_address(self._host_address)

    @property
    def device_address(self) -> int:
        from cuda.bindings import driver

        answer = driver.cuMemHostGetDevicePointer(self._host_address, 0)
        return int(checked(answer, "the address of host memory on the device"))

    def __getitem__(self, place: int) -> int:
        return self._words[place]

    def __setitem__(self, place: int, value: int) -> None:
        self._words[place] = value


class Blocker:
    """Holds a stream for as long as the host needs to queue launches on it, LIMIT_MS at most."""

    def __init__(self, module: LoadedModule) -> None:
        """Load the kernel of `probes.BLOCK` and run it once: the first launch of one may wait."""
        self._words = HostWords()
        wait = Problem.of(words=self._words.device_address, limit_ns=LIMIT_MS * 1_000_000)
        plan = BLOCK.plan(wait, module)
        self._invocation = Invocation(plan, Submission.DIRECT, module, DeviceMemory([]))
        self._words[0] = 1
        self._invocation.run()

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold the context's stream inside of the block, and let go at its end."""
        self._words[0] = self._words[1] = 0
        self._invocation.submit(1)
        try:
            yield
        finally:
            self._words[0] = 1

    @property
    def gave_up(self) -> bool:
        """Whether, once the stream was waited for, the kernel had let go before the host did."""
        return self._words[1] != 0
