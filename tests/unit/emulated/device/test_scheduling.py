"""Which threads and blocks run when, beside whom, and what memory they find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.emulated.library import BlockCapacity

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

KERNELS = "scheduling.cu"

ONE_FITS = BlockCapacity(blocks_per_sm=1, sms=1)
THREE_FIT = BlockCapacity(blocks_per_sm=1, sms=3)

some_seeds = pytest.mark.parametrize("seed", [0, 1, 2, 3])


# ---- order -----------------------------------------------------------------------------------


def order(program: Program, what: str, seed: int) -> tuple[int, ...]:
    """The order in which 16 blocks, or threads, have taken a ticket."""
    y, blocks, threads = program.output(16, "int32"), *((16, 1) if what == "blocks" else (1, 16))
    kernel = f"order_of_{what}"
    fault = program.launch(kernel, program.counters(), y, blocks=blocks, threads=threads, seed=seed)
    assert fault is None
    return tuple(y.array().tolist())


each_kind = pytest.mark.parametrize("what", ["blocks", "threads"])


@each_kind
def test_without_a_seed_everything_runs_in_order(program: Program, what: str) -> None:
    assert order(program, what, seed=0) == tuple(range(16))


@each_kind
def test_each_seed_gives_an_order_of_its_own(program: Program, what: str) -> None:
    assert len({order(program, what, seed) for seed in range(20)}) == 20


@each_kind
def test_same_seed_gives_the_same_order_again(program: Program, what: str) -> None:
    for seed in range(20):
        assert order(program, what, seed) == order(program, what, seed)


@each_kind
def test_every_one_has_its_turn_under_every_seed(program: Program, what: str) -> None:
    for seed in range(20):
        assert sorted(order(program, what, seed)) == list(range(16))


# ---- residence -------------------------------------------------------------------------------


@some_seeds
def test_grid_larger_than_the_device_ends(program: Program, seed: int) -> None:
    y = program.output(320, "int32")

    fault = program.launch(
        "count_residents", program.counters(2), y, blocks=10, capacity=THREE_FIT, seed=seed
    )

    assert fault is None
    assert y.array().tolist() == [block for block in range(10) for _ in range(32)]


def most_residents(program: Program, blocks: int, capacity: BlockCapacity) -> int:
    """The most blocks that were under way together under any of 20 seeds."""
    found = []
    for seed in range(20):
        counters, y = program.counters(2), program.output(320, "int32")
        program.launch("count_residents", counters, y, blocks=blocks, capacity=capacity, seed=seed)
        found.append(int(counters.array()[1]))
    return max(found)


def test_as_many_blocks_run_together_as_fit_and_no_more(program: Program) -> None:
    assert most_residents(program, 10, THREE_FIT) == 3


def test_all_blocks_run_together_where_they_fit(program: Program) -> None:
    assert most_residents(program, 3, THREE_FIT) == 3


@some_seeds
def test_block_may_wait_for_an_earlier_one_whatever_fits(program: Program, seed: int) -> None:
    fault = program.launch(
        "wait_for_neighbour", program.counters(6), -1, blocks=6, capacity=ONE_FITS, seed=seed
    )

    assert fault is None


@some_seeds
def test_block_that_waits_for_a_later_one_which_does_not_fit_is_a_deadlock(
    program: Program, seed: int
) -> None:
    fault = program.launch(
        "wait_for_neighbour", program.counters(6), 1, blocks=6, capacity=THREE_FIT, seed=seed
    )

    assert fault is not None
    assert fault.kind == "deadlock"


@some_seeds
def test_block_may_wait_for_a_later_one_where_all_fit(program: Program, seed: int) -> None:
    fault = program.launch("wait_for_neighbour", program.counters(6), 1, blocks=6, seed=seed)

    assert fault is None


@some_seeds
@pytest.mark.parametrize("fit", [4, 7, 8])
def test_clusters_start_as_a_whole(program: Program, fit: int, seed: int) -> None:
    y = program.output(12, "int32")

    fault = program.launch(
        "meet_cluster",
        y,
        threads=1,
        blocks=12,
        blocks_per_cluster=4,
        capacity=BlockCapacity(1, fit),
        seed=seed,
    )

    assert fault is None
    assert y.array().tolist() == [0, 1, 2, 3] * 3


def test_cluster_larger_than_the_device_never_starts(program: Program) -> None:
    y = program.output(12, "int32")

    fault = program.launch("meet_cluster", y, blocks=12, blocks_per_cluster=4, capacity=THREE_FIT)

    assert fault is not None
    assert str(fault.residence).startswith("0 of 12 blocks are resident, 0 have ended, 12 wait")


def test_selection_runs_its_blocks_alone_and_tells_them_the_whole_grid(program: Program) -> None:
    y = program.output(8, "int32")

    fault = program.launch("tell_grid", y, blocks=2**31 - 1, selection=(0, 7))

    assert fault is None
    assert y.array()[[0, 7]].tolist() == [2**31 - 1] * 2
    assert y.never_written() == ((1,), 6)


# ---- threads ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threads", "lanes"), [(1, [1]), (31, [31] * 31), (32, [32] * 32), (33, [32] * 32 + [1])]
)
@some_seeds
def test_warp_has_only_the_lanes_that_exist(
    program: Program, threads: int, lanes: list[int], seed: int
) -> None:
    y = program.output(threads, "int32")

    assert program.launch("count_lanes", y, threads=threads, seed=seed) is None

    assert y.array().tolist() == lanes


@some_seeds
def test_block_of_1024_threads_adds_itself_up(program: Program, seed: int) -> None:
    y = program.output(1024, "int32")

    assert program.launch("sum_threads", y, threads=1024, seed=seed) is None

    assert set(y.array().tolist()) == {1023 * 512}


# ---- shared memory ---------------------------------------------------------------------------


@some_seeds
def test_shared_memory_stays_its_block_s_own_while_blocks_alternate(
    program: Program, seed: int
) -> None:
    y = program.output(160, "int32")

    fault = program.launch(
        "keep_shared", y, blocks=5, dynamic_smem_bytes=128, cooperative=True, seed=seed
    )

    own = [1000 * block + 31 - thread for block in range(5) for thread in range(32)]
    assert fault is None
    assert y.array().tolist() == [3 * number + 3 for number in own]


@pytest.mark.parametrize("seed", range(4))
def test_block_does_not_find_what_an_earlier_one_left_in_shared_memory(
    program: Program, seed: int
) -> None:
    y = program.output(128, "int32")

    fault = program.launch("leave_shared_unset", y, 3, blocks=4, capacity=ONE_FITS, seed=seed)

    assert fault is not None
    assert (fault.kind, fault.block) == ("uninitialized read", 3)


def test_blocks_that_write_their_shared_memory_find_it(program: Program) -> None:
    y = program.output(128, "int32")

    assert program.launch("leave_shared_unset", y, 4, blocks=4, capacity=ONE_FITS) is None


def test_dynamic_shared_memory_is_one_under_all_its_names(program: Program) -> None:
    y = program.output(32, "int32")

    assert program.launch("share_by_two_names", y, dynamic_smem_bytes=128) is None

    assert set(y.array().tolist()) == {0x3F800000}


def test_dynamic_shared_memory_is_aligned_for_vectors(program: Program) -> None:
    y = program.output(32, "int32")

    assert program.launch("share_vectors", y, dynamic_smem_bytes=512) is None

    assert y.array().tolist() == list(range(32))


def test_each_instantiation_of_a_template_has_shared_memory_of_its_own(program: Program) -> None:
    y = program.output(32, "int32")

    assert program.launch("share_in_templates", y) is None

    assert set(y.array().tolist()) == {21}


# ---- the module's own memory -----------------------------------------------------------------


def test_device_variable_keeps_its_value_from_launch_to_launch(program: Program) -> None:
    y = program.output(1, "int32")

    counts = []
    for _ in range(3):
        assert program.launch("count_launches", y) is None
        counts.append(int(y.array()[0]))

    assert counts == [0, 1, 2]


def test_constant_table_has_its_values(program: Program) -> None:
    y = program.output(8, "int32")

    assert program.launch("read_table", y, threads=8) is None

    assert y.array().tolist() == [2, 3, 5, 7] * 2


def test_place_written_by_two_types_holds_what_was_written_last(program: Program) -> None:
    y = program.output(2)

    assert program.launch("write_one_place_by_two_types", y, threads=1) is None
    assert y.array().tolist() == [5.0, 5.0]
