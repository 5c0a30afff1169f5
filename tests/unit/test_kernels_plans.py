"""The plans of the bundled operator: what fits is grouped evenly, what does not is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR, common
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan, ScalarArgument
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

Devices = Callable[..., Capacity]

VARIANTS = {variant.name: variant for variant in OPERATOR.variants}
MEGAKERNELS = sorted(name for name in VARIANTS if name.startswith("megakernel"))
SPLIT = sorted(VARIANTS.keys() - MEGAKERNELS)
COLUMNS = 131_072  # 32 tiles: 132 SMs with 8 blocks each hold 33 rows

each_variant = pytest.mark.parametrize("name", sorted(VARIANTS))
each_megakernel = pytest.mark.parametrize("name", MEGAKERNELS)
each_split = pytest.mark.parametrize("name", SPLIT)


def plan_of(name: str, capacity: Capacity, *, rows: int, columns: int = COLUMNS) -> LaunchPlan:
    variant: Variant = VARIANTS[name]
    return variant.plan(Problem.of(rows=rows, columns=columns), capacity)


def rows_of(launch: KernelLaunch) -> int:
    return launch.blocks // launch.blocks_per_unit


def first_row_of(launch: KernelLaunch) -> int:
    """The only 8-byte scalar of a megakernel is the first row of its launch."""
    (packed,) = [
        one.packed()
        for one in launch.arguments
        if isinstance(one, ScalarArgument) and one.layout == "<q"
    ]
    return int(struct.unpack("<q", packed)[0])


# ---- columns ---------------------------------------------------------------------------------


@each_variant
@pytest.mark.parametrize("columns", [1, 2, 3, 5, 769, 4095, 131_071])
def test_columns_that_are_no_multiple_of_a_vector_are_refused_with_rule_and_value(
    capacity: Devices, name: str, columns: int
) -> None:
    with pytest.raises(PlanError, match=f"columns must be a multiple of 4, .* got {columns}$"):
        plan_of(name, capacity(8), rows=1, columns=columns)


@each_variant
def test_a_row_of_one_vector_is_one_block(capacity: Devices, name: str) -> None:
    assert plan_of(name, capacity(8), rows=1, columns=4).launches[0].blocks == 1


@each_variant
@pytest.mark.parametrize(("columns", "tiles"), [(4092, 1), (4096, 1), (4100, 2), (131_076, 33)])
def test_a_short_tile_is_a_block_of_its_own(
    capacity: Devices, name: str, columns: int, tiles: int
) -> None:
    assert plan_of(name, capacity(8), rows=1, columns=columns).launches[0].blocks == tiles


# ---- rows: groups of a megakernel ------------------------------------------------------------


@each_megakernel
@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        (1, [1]),
        (32, [32]),
        (33, [33]),
        (34, [17, 17]),
        (64, [32, 32]),
        (66, [33, 33]),
        (67, [22, 22, 23]),
    ],
)
def test_rows_that_do_not_fit_at_once_are_split_evenly(
    capacity: Devices, name: str, rows: int, groups: list[int]
) -> None:
    plan = plan_of(name, capacity(8), rows=rows)

    assert [rows_of(launch) for launch in plan.launches] == groups


@each_megakernel
@pytest.mark.parametrize("rows", [1, 33, 34, 100, 65_536])
def test_the_groups_follow_each_other_from_the_first_row_to_the_last(
    capacity: Devices, name: str, rows: int
) -> None:
    next_row = 0
    for launch in plan_of(name, capacity(8), rows=rows).launches:
        assert first_row_of(launch) == next_row
        next_row += rows_of(launch)
    assert next_row == rows


@each_megakernel
@pytest.mark.parametrize("sms", [1, 14, 16, 132])
@pytest.mark.parametrize("rows", [1, 3, 16, 64])
def test_every_launch_fits_the_device_it_was_planned_for(
    capacity: Devices, name: str, sms: int, rows: int
) -> None:
    plan = plan_of(name, capacity(8, sms=sms), rows=rows, columns=32_768)

    assert max(launch.blocks for launch in plan.launches) <= 8 * sms


@each_megakernel
def test_a_slice_of_14_sms_gets_groups_of_its_own_size(capacity: Devices, name: str) -> None:
    plan = plan_of(name, capacity(8, sms=14), rows=16)

    assert [rows_of(launch) for launch in plan.launches] == [2, 3, 3, 2, 3, 3]


@each_megakernel
def test_blocks_that_wait_for_each_other_are_launched_cooperatively(
    capacity: Devices, name: str
) -> None:
    plan = plan_of(name, capacity(8), rows=64)

    assert {(one.cooperative, one.waits_on_blocks) for one in plan.launches} == {(True, True)}


@each_megakernel
def test_scratch_has_room_for_the_largest_group(capacity: Devices, name: str) -> None:
    plan = plan_of(name, capacity(8), rows=67)

    shapes = {one.name: one.shape for one in plan.buffers}
    assert (shapes["tile_statistics"], shapes["tile_sums"]) == ((23, 32, 2), (23, 32, 1))


def test_each_row_of_a_launch_has_two_counters_that_are_kept(capacity: Devices) -> None:
    plan = plan_of("megakernel_row", capacity(8), rows=67)

    (counters,) = [one for one in plan.buffers if one.role.value == "state"]
    assert (counters.shape[:2], counters.dtype) == ((23, 2), "uint32")


# ---- a row that is larger than the device ----------------------------------------------------


@each_megakernel
@pytest.mark.parametrize(("sms", "columns"), [(132, 1056 * 4096), (14, 112 * 4096)])
def test_the_longest_row_that_fits_is_planned(
    capacity: Devices, name: str, sms: int, columns: int
) -> None:
    plan = plan_of(name, capacity(8, sms=sms), rows=2, columns=columns)

    assert [launch.blocks for launch in plan.launches] == [8 * sms, 8 * sms]


@each_megakernel
@pytest.mark.parametrize(("sms", "columns"), [(132, 1056 * 4096), (14, 112 * 4096)])
def test_one_vector_more_is_refused_with_the_largest_columns(
    capacity: Devices, name: str, sms: int, columns: int
) -> None:
    tiles = 8 * sms + 1

    with pytest.raises(PlanError) as refusal:
        plan_of(name, capacity(8, sms=sms), rows=2, columns=columns + 4)

    assert str(refusal.value).endswith(
        "the blocks of one row must be resident together on fake device; a row of "
        f"{columns + 4} columns is {tiles} blocks and {8 * sms} fit, so columns may be at most "
        f"{columns}"
    )


@each_megakernel
def test_a_device_that_holds_no_block_is_refused(capacity: Devices, name: str) -> None:
    with pytest.raises(PlanError, match="is 1 blocks and 0 fit, so columns may be at most 0"):
        plan_of(name, capacity(0), rows=1, columns=4)


@each_split
def test_a_variant_without_waiting_blocks_takes_a_row_of_any_length(
    capacity: Devices, name: str
) -> None:
    plan = plan_of(name, capacity(1, sms=1), rows=1, columns=2**28)

    assert not any(launch.must_be_resident for launch in plan.launches)


# ---- many rows -------------------------------------------------------------------------------


@each_variant
@pytest.mark.parametrize("rows", [65_535, 65_536])
def test_more_rows_than_a_second_grid_dimension_holds_are_planned(
    capacity: Devices, name: str, rows: int
) -> None:
    plan = plan_of(name, capacity(8), rows=rows, columns=4)

    assert sum(one.blocks for one in plan.launches if one.kernel == plan.launches[0].kernel) == rows


@each_megakernel
def test_rows_beyond_32_bits_of_offset_have_an_offset_of_64(capacity: Devices, name: str) -> None:
    last = plan_of(name, capacity(8), rows=65_536).launches[-1]

    assert first_row_of(last) * COLUMNS > 2**32


@each_split
def test_as_many_blocks_as_a_grid_holds_are_planned(capacity: Devices, name: str) -> None:
    assert plan_of(name, capacity(8), rows=2**31 - 1, columns=4).launches[0].blocks == 2**31 - 1


@each_split
def test_one_block_more_than_a_grid_holds_is_refused(capacity: Devices, name: str) -> None:
    with pytest.raises(PlanError, match="blocks must be 1 to 2147483647, got 2147483648"):
        plan_of(name, capacity(8), rows=2**31, columns=4)


@pytest.mark.parametrize("most_rows", range(1, 40))
def test_groups_are_as_few_as_possible_and_differ_by_at_most_a_row(most_rows: int) -> None:
    for rows in range(1, 100):
        sizes = [size for _, size in common.row_groups(Problem.of(rows=rows), most_rows=most_rows)]

        assert len(sizes) == -(-rows // most_rows)
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) <= most_rows


@each_variant
def test_a_plan_says_why_it_is_as_it_is(capacity: Devices, name: str) -> None:
    plan = plan_of(name, capacity(8), rows=64)

    assert (dict(plan.facts)["tile"], bool(plan.why)) == (4096, True)


# ---- what the emulated device runs -----------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "columns", "emulated"),
    [
        (1, COLUMNS, (1, COLUMNS)),
        (2, COLUMNS, (2, 3 * common.TILE + common.VECTOR)),
        (12, COLUMNS, (12, 3 * common.TILE + common.VECTOR)),  # as many as special values have
        (13, COLUMNS, (2, 3 * common.TILE + common.VECTOR)),
        (64, COLUMNS, (4, 3 * common.TILE + common.VECTOR)),
        (64, 128, (4, 128)),
    ],
)
def test_one_row_is_emulated_in_full_and_of_several_a_few_short_ones(
    rows: int, columns: int, emulated: tuple[int, int]
) -> None:
    problem = Problem.of(rows=rows, columns=columns)

    few, short = emulated
    assert OPERATOR.emulate_as(problem) == Problem.of(rows=few, columns=short)


def test_the_stand_in_of_a_stand_in_is_itself() -> None:
    emulated = [OPERATOR.emulate_as(problem) for problem in OPERATOR.problems]

    assert [OPERATOR.emulate_as(problem) for problem in emulated] == emulated


def test_emulated_rows_have_several_tiles_and_a_short_one() -> None:
    emulated = OPERATOR.emulate_as(OPERATOR.problems[-1])

    assert common.tiles_per_row(emulated) == 4
    assert emulated["columns"] % common.TILE == common.VECTOR


def test_addresses_are_checked_where_an_offset_does_not_fit_32_bits() -> None:
    assert [one["rows"] * one["columns"] > 2**31 for one in OPERATOR.address_problems] == [True]
