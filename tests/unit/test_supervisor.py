"""The supervisor against real workers that hang, crash and ignore it; no device is needed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_rmsperf import supervisor
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import CheckedCase, Machine
from pytest_rmsperf.messages import Check, Describe, Progress, WorkerSettings
from pytest_rmsperf.supervisor import Deadlines, Loss, LostCase, WorkerProcess

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
GENEROUS = Deadlines(step_s=120)
SHORT = Deadlines(step_s=0.5)
SETTINGS = WorkerSettings("sm_90")

# Starts a worker, says its pid when the worker is about to sleep, and waits to be killed.
PARENT = """
import sys
from pathlib import Path
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.messages import Check, WorkerSettings
from pytest_rmsperf.supervisor import Deadlines, WorkerProcess

def say_pid(progress):
    if progress.step == "plan":
        print(worker._process.pid, flush=True)

cases = load_operator(Path(sys.argv[1])).cases()
sleeps = next(case for case in cases if case.variant.name == "sleeps")
worker = WorkerProcess(WorkerSettings("sm_90"), Deadlines(step_s=120))
worker.ask(Check(sleeps.reference, numerics=False), say_pid)
"""


@pytest.fixture(autouse=True)
def _no_device(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    with WorkerProcess(SETTINGS, GENEROUS) as worker:
        yield worker


def check(variant: str) -> Check:
    """Ask for the check of the one case that a variant has by direct launches."""
    case = next(one for one in FAULTY.cases() if one.variant.name == variant)
    return Check(case.reference, numerics=False)


def lose(worker: WorkerProcess, variant: str, deadlines: Deadlines = GENEROUS) -> LostCase:
    """Ask for a check that is lost; the deadline counts once everything is imported and built."""
    worker.ask(check("sound"))
    worker._deadlines = deadlines
    with pytest.raises(LostCase) as caught:
        worker.ask(check(variant))
    return caught.value


def is_alive(pid: int) -> bool:
    """Say whether a process runs; one that only waits for its parent to notice does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2][1] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends_within(seconds: float, pid: int) -> bool:
    """Wait for a process to end."""
    last = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < last:
        time.sleep(0.02)
    return not is_alive(pid)


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python beside the test."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_answer_comes_back_as_it_was_given(worker: WorkerProcess) -> None:
    machine = worker.ask(Describe())

    assert isinstance(machine, Machine)
    assert machine.device is None


def test_each_step_is_announced_before_the_answer(worker: WorkerProcess) -> None:
    steps: list[Progress] = []

    checked = worker.ask(check("sound"), steps.append)

    assert isinstance(checked, CheckedCase)
    assert [one.step for one in steps] == ["compile", "plan", "residency"]


@pytest.mark.parametrize(
    ("variant", "obituary"),
    [
        ("raises", "the worker died in step 'plan' with exit code 1"),
        ("exits", "the worker died in step 'plan' with exit code 3"),
        ("crashes", "the worker died in step 'plan' with signal SIGSEGV"),
    ],
)
def test_dead_worker_is_told_with_case_step_and_cause(
    worker: WorkerProcess, variant: str, obituary: str
) -> None:
    lost = lose(worker, variant)

    loss = Loss.CRASH if variant == "crashes" else Loss.EXIT
    assert (lost.case_id, lost.step, lost.loss) == (f"faulty/{variant}-direct/3", "plan", loss)
    assert str(lost).splitlines()[0] == obituary


@pytest.mark.parametrize(
    ("variant", "line"),
    [
        ("raises", "  worker     LookupError: nobody expected this"),
        ("crashes", "  worker     Fatal Python error: Segmentation fault"),
    ],
)
def test_last_words_of_a_dead_worker_are_kept(
    worker: WorkerProcess, variant: str, line: str
) -> None:
    lost = lose(worker, variant)

    assert line in str(lost).splitlines()


def test_only_the_last_lines_of_a_talkative_worker_are_kept(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "STDERR_LINES", 1)

    lost = lose(worker, "raises")

    assert str(lost).splitlines()[1:] == ["  worker     LookupError: nobody expected this"]


def test_silent_worker_is_killed_at_the_deadline_of_the_step(worker: WorkerProcess) -> None:
    lost = lose(worker, "sleeps", SHORT)

    assert str(lost).startswith("no sign of life for 0.5 s in step 'plan': killed (")
    assert not worker.alive


def test_stack_of_a_silent_worker_is_kept(worker: WorkerProcess) -> None:
    lost = lose(worker, "sleeps", SHORT)

    assert re.search(r"worker +File .*faulty/__init__\.py.* in sleeps", str(lost))


def test_worker_that_ignores_every_polite_signal_is_killed(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "ABORT_SECONDS", 0.3)

    lose(worker, "deaf", SHORT)

    assert not worker.alive


def test_child_of_a_killed_worker_is_killed_with_it(worker: WorkerProcess) -> None:
    lost = lose(worker, "leaves_a_child", SHORT)

    child = re.search(r"child (\d+)", str(lost))
    assert child is not None
    assert ends_within(10, int(child[1]))


def test_unrelated_child_survives_a_killed_worker(worker: WorkerProcess) -> None:
    with started("-c", "input()") as sentinel:
        lose(worker, "sleeps", SHORT)

        assert sentinel.poll() is None


def test_worker_that_does_not_start_is_killed_at_its_own_deadline() -> None:
    deadlines = Deadlines(step_s=120, start_s=0.0)

    with (
        WorkerProcess(SETTINGS, deadlines) as worker,
        pytest.raises(LostCase, match="no sign of life for 0 s in step 'start'") as caught,
    ):
        worker.ask(Describe())

    assert caught.value.case_id == ""


def test_refusal_is_raised_with_its_case_and_step_and_the_worker_lives_on(
    worker: WorkerProcess, tmp_path: Path
) -> None:
    reference = check("sound").case
    nowhere = type(reference)(tmp_path, "v", reference.submission, reference.problem)

    with pytest.raises(LostCase, match="an operator is a folder with that file") as caught:
        worker.ask(Check(nowhere, numerics=False))

    assert (caught.value.case_id, caught.value.loss) == ("", Loss.REFUSAL)
    assert worker.ask(check("sound"))


def test_refusal_does_not_name_the_case_before_it(worker: WorkerProcess, tmp_path: Path) -> None:
    reference = check("sound").case
    nowhere = type(reference)(tmp_path, "v", reference.submission, reference.problem)
    worker.ask(check("sound"))

    with pytest.raises(LostCase) as caught:
        worker.ask(Check(nowhere, numerics=False))

    assert (caught.value.case_id, caught.value.step) == ("", "start")


def test_idle_worker_ends_when_it_is_closed(worker: WorkerProcess) -> None:
    worker.ask(Describe())
    pid = worker._process.pid

    worker.close()

    assert not is_alive(pid)


def test_busy_worker_ends_when_it_is_closed(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "ABORT_SECONDS", 0.3)
    worker._connection.send(check("deaf"))
    pid = worker._process.pid

    worker.close()

    assert not is_alive(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_busy_worker_dies_with_a_parent_that_was_killed() -> None:
    with started("-c", PARENT, str(FAULTY.folder)) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)

        assert ends_within(10, pid)
