"""Threads that take long, or wait in ways that do not look like it, are not taken for dead."""

from __future__ import annotations

import os
import signal
from threading import Timer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "patience.cu"

some_seeds = pytest.mark.parametrize("seed", [0, 1, 2, 3])


@pytest.mark.parametrize("kernel", ["take_maximum", "set_no_bit", "give_up"])
@some_seeds
def test_many_threads_may_each_change_nothing_hundreds_of_times(
    program: Program, kernel: str, seed: int
) -> None:
    fault = program.launch(kernel, program.counters(), 200, blocks=32, threads=1024, seed=seed)

    assert fault is None


@pytest.mark.parametrize(
    "kernel",
    [
        "count_meanwhile",
        "look_plainly",
        "look_at_the_clock",
        "count_until_seen",
        "count_asleep_until_seen",
    ],
)
@some_seeds
def test_block_that_is_busy_while_it_waits_lets_others_run(
    program: Program, kernel: str, seed: int
) -> None:
    fault = program.launch(kernel, program.counters(2), blocks=2, threads=1, seed=seed)

    assert fault is None


@pytest.mark.parametrize("kernel", ["time_out", "time_out_shortly"])
@some_seeds
def test_time_passes_for_threads_that_wait_for_nothing_else(
    program: Program, kernel: str, seed: int
) -> None:
    fault = program.launch(
        kernel, program.counters(), 1_000_000_000, blocks=8, threads=64, seed=seed
    )

    assert fault is None


def test_looking_at_the_clock_does_not_hide_a_deadlock(program: Program) -> None:
    fault = program.launch("look_at_the_clock_for_ever", program.counters(2), 0)

    assert fault is not None
    assert fault.kind == "deadlock"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_launch_that_never_ends_is_interrupted(program: Program) -> None:
    counters = program.counters(2)
    Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        program.launch("count_for_ever", counters, threads=1)

    assert counters.array()[1] > 0
