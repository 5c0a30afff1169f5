"""Barriers of a grid and of a cluster open when all have come, and else are a deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.library import BlockCapacity

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "deadlocks.cu"

some_seeds = pytest.mark.parametrize("seed", [0, 1, 2, 3])


# ---- the grid --------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2, 100])
@some_seeds
def test_grid_may_meet_any_number_of_times(program: Program, times: int, seed: int) -> None:
    y = program.output(5 * 64)

    fault = program.launch("sync_grid", y, times, blocks=5, threads=64, cooperative=True, seed=seed)

    assert fault is None
    assert set(y.array().tolist()) == {times - 1}


@some_seeds
def test_block_that_left_before_the_grid_met_is_a_deadlock_of_all_others(
    program: Program, seed: int
) -> None:
    fault = program.launch("leave_before_grid", 2, blocks=4, cooperative=True, seed=seed)

    assert fault is not None
    assert [(one.threads, one.blocks, one.what) for one in fault.waiting] == [
        (96, 3, "the blocks of the grid")
    ]


def test_grid_of_which_no_block_left_meets(program: Program) -> None:
    assert program.launch("leave_before_grid", 4, blocks=4, cooperative=True) is None


def test_block_that_meets_the_grid_once_more_than_the_others_is_a_deadlock_at_its_line(
    program: Program,
) -> None:
    fault = program.launch("sync_grid_once_more", 2, blocks=4, cooperative=True)

    assert fault is not None
    line = program.line("wait: sync_grid_once_more")
    assert [(one.threads, one.block, one.frames[0].line) for one in fault.waiting] == [
        (32, 2, line)
    ]


def test_deadlock_of_a_grid_says_how_many_of_its_blocks_have_ended(program: Program) -> None:
    fault = program.launch("sync_grid_once_more", 2, blocks=4, cooperative=True)

    assert fault is not None
    assert str(fault.residence).startswith("1 of 4 blocks are resident, 3 have ended;")


# ---- the cluster -----------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2, 100])
@some_seeds
def test_blocks_of_a_cluster_see_what_the_others_wrote_before_they_met(
    program: Program, times: int, seed: int
) -> None:
    y = program.output(4)

    fault = program.launch(
        "sync_cluster", y, times, blocks=4, blocks_per_cluster=2, threads=1, seed=seed
    )

    last = times - 1
    assert fault is None
    assert y.array().tolist() == [100 + last, last, 100 + last, last]


@some_seeds
def test_block_that_left_is_not_waited_for_by_its_cluster(program: Program, seed: int) -> None:
    fault = program.launch("sync_cluster_once_more", 1, blocks=4, blocks_per_cluster=2, seed=seed)

    assert fault is None


@some_seeds
def test_thread_that_arrives_and_leaves_counts_for_no_other_of_its_cluster(
    program: Program, seed: int
) -> None:
    y = program.output(2, "int32")

    fault = program.launch(
        "arrive_and_leave", y, threads=64, blocks=2, blocks_per_cluster=2, seed=seed
    )

    assert fault is None
    assert y.array().tolist() == [5, 5]


@pytest.mark.parametrize(
    ("arrivals", "text"),
    [
        (0, "waits for its cluster without having arrived"),
        (2, "arrives at the barrier of its cluster twice, without a wait in between"),
    ],
)
def test_wait_for_a_cluster_needs_one_arrival(program: Program, arrivals: int, text: str) -> None:
    fault = program.launch("miscount_cluster", arrivals, blocks=2, blocks_per_cluster=2)

    assert fault is not None
    assert (fault.kind, fault.text) == ("invalid barrier", text)


def test_block_that_looks_for_what_its_cluster_does_afterwards_is_a_deadlock(
    program: Program,
) -> None:
    fault = program.launch(
        "wait_for_cluster", program.counters(), 0, blocks=2, blocks_per_cluster=2
    )

    assert fault is not None
    assert ["the blocks of their cluster", program.line("wait: wait_for_cluster")] in [
        [one.what, one.frames[0].line] for one in fault.waiting
    ]


def test_block_that_looks_for_what_its_cluster_did_before_goes_on(program: Program) -> None:
    fault = program.launch(
        "wait_for_cluster", program.counters(), 1, blocks=2, blocks_per_cluster=2
    )

    assert fault is None


def test_second_cluster_waits_for_the_place_of_a_whole_one(program: Program) -> None:
    y, three_fit = program.output(4), BlockCapacity(blocks_per_sm=1, sms=3)

    fault = program.launch(
        "sync_cluster", y, 2, blocks=4, blocks_per_cluster=2, threads=1, capacity=three_fit
    )

    assert fault is None
    assert y.array().tolist() == [101, 1, 101, 1]
