"""One run has the device: the lock between processes, over a worker that only says it has one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_rmsperf.checks import Machine
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.supervisor import Deadlines

UUID = "GPU-1"
DEVICE = DeviceRecord(
    DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771), UUID, "13.0", DeviceState()
)

# Holds the device until its standard input ends.
HOLDER = f"""
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.supervisor import Deadlines

instrument = WorkerInstrument(WorkerSettings("sm_90"), Deadlines(step_s=1), print)
instrument._lock = instrument._locked("{UUID}")
print("held", flush=True)
input()
"""


class FakeWorker:
    """Stands for a worker process that has found the device."""

    alive = True

    def ask(self, request: object) -> Machine:  # noqa: ARG002
        return Machine(DEVICE, None)

    def close(self) -> None:
        return None


@pytest.fixture(autouse=True)
def _faked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("pytest_rmsperf.instrument.WorkerProcess", lambda *_: FakeWorker())


@contextmanager
def opened(say: Callable[[str], None] = lambda _: None) -> Iterator[WorkerInstrument]:
    instrument = WorkerInstrument(WorkerSettings("sm_90"), Deadlines(step_s=1), say)
    yield instrument
    instrument.close()


@contextmanager
def device_held() -> Iterator[subprocess.Popen[str]]:
    """Another process that has the device."""
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_device_that_another_run_holds_for_too_long_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_rmsperf.instrument.LOCK_SECONDS", 0.1)

    with (
        device_held(),
        opened() as instrument,
        pytest.raises(RmsperfError, match=rf"the device is taken: .*{UUID}\.lock for 0\.1 s; end"),
    ):
        instrument.machine()


def test_second_run_says_that_it_waits_and_goes_on_when_the_first_ends() -> None:
    said: list[str] = []
    with device_held() as holder:

        def end_holder(text: str) -> None:
            said.append(text)
            assert holder.stdin is not None
            holder.stdin.close()

        with opened(end_holder) as instrument:
            instrument.machine()

    assert [one.partition(":")[0] for one in said] == ["waiting for the device"]


def test_killed_run_does_not_hold_the_device() -> None:
    with device_held() as holder, opened() as instrument:
        holder.kill()
        holder.wait()

        assert instrument.machine().device == DEVICE


def test_closed_instrument_gives_the_device_free() -> None:
    with opened() as first:
        first.machine()

    with opened() as second:
        assert second.machine().device == DEVICE


def test_open_instrument_holds_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_rmsperf.instrument.LOCK_SECONDS", 0.1)

    with opened() as first, opened() as second:
        first.machine()

        with pytest.raises(RmsperfError, match="the device is taken"):
            second.machine()


def test_lock_folder_that_cannot_be_made_is_an_error_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with (
        opened() as instrument,
        pytest.raises(RmsperfError, match=r"^the device cannot be locked: .*XDG_CACHE_HOME=DIR$"),
    ):
        instrument.machine()
