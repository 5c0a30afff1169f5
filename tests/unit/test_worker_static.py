"""A worker for static costs: no device of either kind is looked for, and little is imported."""

from __future__ import annotations

from multiprocessing import Pipe
from pathlib import Path
from threading import Thread

import pytest

from pytest_rmsperf import worker as worker_module
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import CheckedCase, Machine
from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.device.toolchain import find_toolchain
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.messages import (
    Answer,
    Check,
    Compile,
    Describe,
    Disassemble,
    Outstanding,
    Progress,
    Request,
    WorkerSettings,
)
from pytest_rmsperf.supervisor import Deadlines, WorkerProcess
from pytest_rmsperf.worker import Worker

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
DEVICES = profiles_named("l4, h100-sxm")
STATIC = WorkerSettings("sm_90", DeviceChoice.NONE, devices=DEVICES)
SOUND = FAULTY.cases()[0].reference
WAIT_S = 60


@pytest.fixture(autouse=True)
def _cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))


def answers(settings: WorkerSettings, *requests: Request) -> list[object]:
    """Return the answers of a worker within this process, or its refusals."""
    mine, its = Pipe()
    thread = Thread(target=Worker(its, settings).serve, daemon=True)
    thread.start()
    found: list[object] = []
    for request in requests:
        mine.send(request)
        reply: object = Progress("", "")
        while isinstance(reply, Progress):
            assert mine.poll(WAIT_S)
            reply = mine.recv()
        found.append(reply.value if isinstance(reply, Answer) else reply)
    mine.close()
    thread.join(WAIT_S)
    return found


def test_no_device_is_looked_for_and_the_machine_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked() -> str:
        raise AssertionError("somebody looked for a device")

    monkeypatch.setattr(worker_module, "why_no_device", looked)
    monkeypatch.setattr(worker_module, "why_no_emulation", looked)

    (machine,) = answers(STATIC, Describe())

    assert isinstance(machine, Machine)
    assert (machine.device, machine.why_no_device) == (None, "none is used with --rmsperf-static")
    assert (machine.emulated, machine.why_no_emulation) == (None, None)
    assert machine.compiler == find_toolchain().identity


def test_a_case_is_checked_on_the_devices_of_interest_and_never_launched() -> None:
    (checked,) = answers(STATIC, Check(SOUND, numerics=True))

    assert isinstance(checked, CheckedCase)
    assert (checked.failure, checked.numerics) == (None, None)
    assert [one.arch for one in checked.static] == ["sm_89", "sm_90"]


def test_costs_and_the_machine_name_the_same_compiler() -> None:
    machine, checked = answers(STATIC, Describe(), Check(SOUND, numerics=False))

    assert isinstance(machine, Machine)
    assert isinstance(checked, CheckedCase)
    compilers = {one.cost.compiler for one in checked.static if one.cost is not None}
    assert compilers == {machine.compiler}


def test_chores_are_found_and_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiles = [Compile(SOUND, arch) for arch in ("sm_90", "sm_89")]
    rest = [Disassemble((SOUND,), arch) for arch in ("sm_90", "sm_89")]

    before, *_, after = answers(
        STATIC, Outstanding((SOUND,)), *compiles, *rest, Outstanding((SOUND,))
    )

    assert isinstance(before, tuple)
    assert before[:2] == tuple(compiles)
    assert after == ()


# ---- what is imported ------------------------------------------------------------------------


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> set[str]:
    """The modules that a worker process imports for a bundled case that was never compiled."""
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")  # tells each import on stderr
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with WorkerProcess(STATIC, Deadlines(step_s=WAIT_S)) as process:
        process.ask(Describe())
        checked = process.ask(Check(OPERATOR.cases()[0].reference, numerics=True))
        process._stderr.seek(0)
        lines = process._stderr.read().decode().splitlines()
    assert isinstance(checked, CheckedCase)
    assert len(checked.static) == 2
    return {line.rpartition("|")[2].strip() for line in lines}


def test_a_static_worker_imports_a_compiler_and_nothing_that_computes_or_measures(
    imported: set[str],
) -> None:
    heavy = {"torch", "cupy", "pynvml", "scipy"}

    assert "cuda.bindings.nvrtc" in imported
    assert heavy & imported == set()
