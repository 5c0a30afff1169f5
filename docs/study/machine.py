"""What the recording programs share: the instrument, a budget, and the files they write."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from time import monotonic

from pytest_rmsperf.checks import Machine
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.provenance import current_provenance
from pytest_rmsperf.supervisor import Deadlines

ARCH = "sm_90"
DEADLINE_S = 30.0
PACKAGES = ("triton", "pytest", "pytest-benchmark", "cuda-bench")


class Budget:
    """Seconds to spend on runs of about the same length, and how many of them at most."""

    def __init__(self, seconds: float, runs: int) -> None:
        self._seconds = seconds
        self._runs = runs
        self._done = 0
        self._spent_s = 0.0
        self._last_s = 0.0  # not the longest: the first run also warms the machine's disk
        self._started: float | None = None

    def start(self) -> bool:
        """Begin a run, unless one as long as the last would not fit any more."""
        if self._done >= self._runs or self._spent_s + self._last_s > self._seconds:
            return False
        self._started = monotonic()
        return True

    def end(self) -> float:
        """End the run and return its seconds."""
        assert self._started is not None
        self._last_s = monotonic() - self._started
        self._done += 1
        self._spent_s += self._last_s
        return self._last_s


def say(text: str) -> None:
    """Print one line at once: what is stopped from outside must have said how far it came."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def open_instrument() -> WorkerInstrument:
    """Return the instrument of the gate, which takes no device but a CUDA device."""
    return WorkerInstrument(
        WorkerSettings(ARCH, DeviceChoice.CUDA), Deadlines(step_s=DEADLINE_S), say
    )


def head_of(machine: Machine) -> dict[str, object]:
    """Return where and of what something is recorded; SystemExit where there is no device."""
    if machine.device is None:
        raise SystemExit(f"nothing can be recorded here: {machine.why_no_device}")
    provenance = current_provenance(Path(__file__).parent, machine.packages)
    versions = {name: version for name in PACKAGES if (version := _version(name)) is not None}
    return {
        "device": asdict(machine.device.identity),
        "driver": machine.device.state.driver,
        "cuda": machine.device.cuda,
        "compiler": dict(machine.compiler),
        "date": provenance.date,
        "commit": provenance.commit,
        "dirty": provenance.dirty,
        "python": provenance.python,
        "packages": dict(machine.packages) | versions,
    }


def write(path: Path, content: Mapping[str, object]) -> None:
    """Replace the file by `content` in one step, so that it is whole whenever this is stopped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    beside.replace(path)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
