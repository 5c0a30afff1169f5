"""Print what NVML tells of this device and what asking costs: alone, or `beside` a busy process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

from pytest_rmsperf.checks import SessionResult, TimedSession
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.environment import DeviceState
from pytest_rmsperf.judge.health import why_unfit

SAMPLES = 50
WARM_S = 3.0  # longer than the driver averages utilization over
NEIGHBOUR = """
import cupy

a = cupy.ones((4096, 4096), dtype=cupy.float32)
print("running", flush=True)
while True:
    for _ in range(10):
        a @ a
    cupy.cuda.Device().synchronize()
"""


def milliseconds(read: Callable[[], DeviceState]) -> float:
    began = time.perf_counter()
    read()
    return 1000 * (time.perf_counter() - began)


def alone() -> dict[str, object]:
    context = CudaContext.open()
    state, sample = context.state(), context.sample()
    return {
        "read_ms": milliseconds(context.state),
        "sample_ms": median(milliseconds(context.sample) for _ in range(SAMPLES)),
        "sm_mhz": sample.sm_mhz,
        "others": [str(one) for one in state.other_processes or ()],
        "ours_unlisted": state.ours_unlisted,
        "notes": [*state.notes, *sample.notes],
    }


def beside() -> dict[str, object]:
    with subprocess.Popen(
        [sys.executable, "-c", NEIGHBOUR], stdout=subprocess.PIPE, text=True
    ) as neighbour:
        try:
            assert neighbour.stdout is not None
            neighbour.stdout.readline()
            time.sleep(WARM_S)
            context = CudaContext.open()
            before, sample = context.state(), context.sample()
            sample_ms = median(milliseconds(context.sample) for _ in range(SAMPLES))
        finally:
            neighbour.kill()
    session = SessionResult(TimedSession({}), before=before)
    return {
        "pid": neighbour.pid,
        "unfit": why_unfit(session),
        "during": [str(one) for one in sample.other_processes or ()],
        "sample_ms": sample_ms,
        "ours_unlisted": before.ours_unlisted,
        "notes": [*before.notes, *sample.notes],
    }


if __name__ == "__main__":
    print(json.dumps(beside() if sys.argv[1:] == ["beside"] else alone()))
