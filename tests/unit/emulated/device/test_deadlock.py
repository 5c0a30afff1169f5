"""Threads that wait for what never comes end the launch, which says where; all others go on."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.faults import Fault
from pytest_rmsperf.emulated.library import BlockCapacity

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "deadlocks.cu"

FOUR_FIT = BlockCapacity(blocks_per_sm=2, sms=2)
THREE_FIT = BlockCapacity(blocks_per_sm=1, sms=3)

LOOKS = (
    "look_by_volatile",
    "look_asleep",
    "look_by_adding_zero",
    "look_by_reference",
    "look_by_exchange",
    "look_at_three",
)
BARRIERS = ("meet_at_least", "meet_exactly", "meet_in_rounds")

every_look = pytest.mark.parametrize("kernel", LOOKS)
every_barrier = pytest.mark.parametrize("kernel", BARRIERS)
some_seeds = pytest.mark.parametrize("seed", [0, 1, 2, 3])


def waits(fault: Fault | None) -> list[tuple[int, int, str, str]]:
    """Threads, blocks, line and what they wait for, of each place of a deadlock."""
    assert fault is not None
    assert fault.kind == "deadlock"
    return [(one.threads, one.blocks, one.frames[0].line, one.what) for one in fault.waiting]


# ---- blocks that wait for blocks -------------------------------------------------------------


@every_barrier
@some_seeds
def test_blocks_that_all_fit_meet(program: Program, kernel: str, seed: int) -> None:
    counters, tokens, y = program.counters(), program.output(4), program.output(4)

    fault = program.launch(kernel, counters, tokens, y, blocks=4, capacity=FOUR_FIT, seed=seed)

    assert fault is None
    assert y.array().tolist() == [1, 2, 3, 0]


@every_barrier
def test_blocks_of_which_one_does_not_fit_are_a_deadlock_within_seconds(
    program: Program, kernel: str
) -> None:
    counters, tokens, y = program.counters(), program.output(4), program.output(4)
    begin_s = monotonic()

    fault = program.launch(kernel, counters, tokens, y, blocks=4, capacity=THREE_FIT)

    assert fault is not None
    assert fault.kind == "deadlock"
    assert monotonic() - begin_s < 5


def test_deadlock_is_told_with_its_places_values_and_the_arithmetic_of_what_fits(
    program: Program,
) -> None:
    counters, tokens, y = program.counters(), program.output(4), program.output(4)

    fault = program.launch("meet_at_least", counters, tokens, y, blocks=4, capacity=THREE_FIT)

    file = "tests/unit/emulated/device/data/deadlocks.cu"
    loads, spins = program.line("the load"), program.line("wait: meet_at_least")
    syncs, calls = program.line("wait: for thread 0"), program.line("then: meet_at_least")
    assert str(fault).splitlines()[:-2] == [
        "deadlock in meet_at_least: no thread can go on",
        "  waiting    3 threads of 3 blocks for a change of memory: element 0 of counters is 3",
        f"             first thread 0 of block 0, at {file}:{loads} in load",
        f"             called at {file}:{spins} in meet_at_least",
        "  waiting    93 threads of 3 blocks for the threads of their block",
        f"             first thread 1 of block 0, at {file}:{syncs} in take_token",
        f"             called at {file}:{calls} in meet_at_least",
        (
            "  resident   3 of 4 blocks are resident, 0 have ended, 1 waits for a place; "
            "1 block per SM x 3 SMs = 3 fit"
        ),
    ]


# ---- counters that launches share ------------------------------------------------------------


def test_counter_that_is_not_reset_lets_the_next_launch_pass_its_barrier_at_once(
    program: Program,
) -> None:
    counters, y = program.counters(), program.output(4)
    assert program.launch("meet_at_least", counters, program.output(4), y, blocks=4) is None

    fault = program.launch("meet_at_least", counters, program.output(4), y, blocks=4)

    assert fault is not None
    assert fault.kind == "uninitialized read"


def test_counter_that_is_reset_makes_the_next_launch_wait(program: Program) -> None:
    counters, y = program.counters(), program.output(4)
    assert program.launch("meet_at_least", counters, program.output(4), y, blocks=4) is None
    counters.fill()

    assert program.launch("meet_at_least", counters, program.output(4), y, blocks=4) is None


def test_barrier_for_an_exact_count_never_opens_on_a_counter_that_is_not_reset(
    program: Program,
) -> None:
    counters, tokens, y = program.counters(), program.output(4), program.output(4)
    assert program.launch("meet_exactly", counters, tokens, y, blocks=4) is None

    fault = program.launch("meet_exactly", counters, tokens, y, blocks=4)

    assert fault is not None
    assert fault.kind == "deadlock"


def meet_with_8_blocks_and_then(program: Program, blocks: int) -> Fault | None:
    """Two launches on a counter that needs no reset between launches of one size."""
    counters = program.counters()
    assert program.launch("meet_in_rounds_alone", counters, blocks=8, threads=1) is None
    return program.launch("meet_in_rounds_alone", counters, blocks=blocks, threads=1)


def test_launches_of_one_size_may_share_a_counter(program: Program) -> None:
    assert meet_with_8_blocks_and_then(program, 8) is None


def test_launches_of_other_sizes_on_one_counter_are_a_deadlock(program: Program) -> None:
    fault = meet_with_8_blocks_and_then(program, 6)

    # The first four make 12 of 8, and go on; two wait for 18.
    assert fault is not None
    assert [one.threads for one in fault.waiting] == [2]


# ---- looking at memory -----------------------------------------------------------------------


@every_look
@some_seeds
def test_thread_that_looks_at_a_flag_goes_on_when_it_is_set(
    program: Program, kernel: str, seed: int
) -> None:
    fault = program.launch(kernel, program.counters(3), 1, blocks=4, seed=seed)

    assert fault is None


@every_look
def test_thread_that_looks_at_a_flag_nobody_sets_is_a_deadlock_at_its_line(
    program: Program, kernel: str
) -> None:
    fault = program.launch(kernel, program.counters(3), 0, blocks=4)

    assert fault is not None
    assert [one.frames[-1].line for one in fault.waiting] == [program.line(f"wait: {kernel}")]


@some_seeds
def test_loop_that_gives_up_looking_is_no_deadlock(program: Program, seed: int) -> None:
    y = program.output(128, "int32")

    fault = program.launch("look_a_thousand_times", program.counters(), y, blocks=4, seed=seed)

    assert fault is None
    assert set(y.array().tolist()) == {1000}


@some_seeds
def test_lock_lets_every_thread_in_once(program: Program, seed: int) -> None:
    counters = program.counters(2)

    fault = program.launch("lock", counters, 1, blocks=3, threads=64, seed=seed)

    assert fault is None
    assert counters.array().tolist() == [0, 192]


def test_lock_that_is_never_opened_is_a_deadlock_of_all_but_one(program: Program) -> None:
    fault = program.launch("lock", program.counters(2), 0, blocks=3, threads=64)

    assert waits(fault) == [(191, 3, program.line("wait: lock"), "a change of memory")]


# ---- barriers of a block ---------------------------------------------------------------------


def test_thread_that_looks_for_what_comes_behind_the_barrier_holds_up_its_block(
    program: Program,
) -> None:
    fault = program.launch("set_behind_barrier", program.counters(), 0)

    assert fault is not None
    assert [(one.threads, one.frames[-1].line) for one in fault.waiting] == [
        (1, program.line("wait: set_behind_barrier")),
        (31, program.line("wait: at the barrier")),
    ]


def test_thread_that_looks_for_what_comes_before_the_barrier_goes_on(program: Program) -> None:
    assert program.launch("set_behind_barrier", program.counters(), 1) is None


def test_warp_that_waits_for_a_lane_at_a_block_barrier_is_a_deadlock(program: Program) -> None:
    fault = program.launch("lane_elsewhere", program.counters(), 0)

    assert waits(fault) == [
        (1, 1, program.line("wait: lane 0"), "the threads of their block"),
        (31, 1, program.line("wait: its warp"), "the lanes of their warp"),
    ]


def test_warp_whose_lanes_all_come_goes_on(program: Program) -> None:
    assert program.launch("lane_elsewhere", program.counters(), 1) is None


@pytest.mark.parametrize("number", [0, 15])
@some_seeds
def test_named_barrier_opens_when_its_threads_have_come(
    program: Program, number: int, seed: int
) -> None:
    y = program.output(128, "uint32")

    fault = program.launch("named", y, number, 64, 64, threads=128, seed=seed)

    assert fault is None
    assert y.array().tolist() == list(range(1, 129))


def test_named_barrier_for_more_threads_than_come_is_a_deadlock(program: Program) -> None:
    y = program.output(128, "uint32")

    fault = program.launch("named", y, 1, 256, 256, threads=128)

    assert waits(fault) == [(128, 1, program.line("wait: named"), "the threads of a named barrier")]


@pytest.mark.parametrize(
    ("number", "own", "other", "text"),
    [
        (1, 96, 128, "expects 128 threads at barrier 1, at which others expect 96"),
        (16, 64, 64, "names barrier 16; a block has 0 to 15"),
        (1, 65, 65, "waits for 65 threads; they must be whole warps"),
        (1, 0, 0, "waits for 0 threads; they must be whole warps"),
    ],
)
def test_named_barrier_that_the_device_does_not_have_is_a_fault(
    program: Program, number: int, own: int, other: int, text: str
) -> None:
    y = program.output(128, "uint32")

    fault = program.launch("named", y, number, own, other, threads=128)

    assert fault is not None
    assert fault.text == text


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_second_wait_in_vain_is_a_deadlock(program: Program, seed: int) -> None:
    flags = program.counters(2)

    fault = program.launch("wait_twice", flags, 1, blocks=2, threads=1, seed=seed)

    assert fault is not None
    assert [fault.kind, fault.waiting[0].frames[0].line] == [
        "deadlock",
        program.line("wait: second flag"),
    ]


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_second_wait_that_is_answered_ends(program: Program, seed: int) -> None:
    flags = program.counters(2)

    assert program.launch("wait_twice", flags, 2, blocks=2, threads=1, seed=seed) is None
