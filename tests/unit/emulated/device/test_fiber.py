"""What a thread holds survives that others run, by each way to switch that this CPU has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_rmsperf.emulated.build import RUNTIME
from pytest_rmsperf.emulated.device import EmulatedDevice

PROGRAM = Path(__file__).parent / "data" / "fibers.cpp"


@pytest.mark.parametrize("flags", [(), ("-DRMSPERF_UCONTEXT",)], ids=["own", "ucontext"])
def test_registers_and_stacks_survive_switches(
    device: EmulatedDevice, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    binary = tmp_path / "fibers"
    sources = [str(PROGRAM), str(RUNTIME / "fiber.cpp")]
    command = [device.host.path, "-std=c++17", "-O2", "-Wall", "-Werror", *flags, f"-I{RUNTIME}"]
    subprocess.run([*command, *sources, "-o", str(binary)], check=True, timeout=60)

    done = subprocess.run([binary], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == ""
