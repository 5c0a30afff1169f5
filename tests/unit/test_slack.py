"""Tipping points: the fewest more of a resource that lose a block per SM, against brute force."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pytest_rmsperf.device.occupancy import (
    LIMITS,
    MAX_REGISTERS_PER_THREAD,
    DeviceLimits,
    Slack,
    TippingPoint,
    blocks_per_sm,
    limits_for,
    slack,
)
from pytest_rmsperf.resources import CompiledKernel

HOPPER = limits_for("9.0")
CONFIGURATIONS = 600  # of each compute capability

each_capability = pytest.mark.parametrize("limits", LIMITS, ids=lambda one: one.compute_capability)
Configuration = tuple[CompiledKernel, int, int]  # kernel, threads per block, dynamic bytes


def kernel_of(registers: int, static_smem_bytes: int = 0) -> CompiledKernel:
    return CompiledKernel("row", registers, static_smem_bytes, 0, 0, 0)


def any_configurations(limits: DeviceLimits) -> list[Configuration]:
    """Draw launches of which most fit: blocks of any size, with any share of the SM's memory."""
    draw = random.Random(limits.compute_capability)
    found = []
    for _ in range(CONFIGURATIONS):
        kernel = kernel_of(draw.randint(0, 255), draw.choice((0, 0, 1, 1000, 48 * 1024)))
        room = max(0, limits.max_smem_bytes_per_block - kernel.static_smem_bytes)
        found.append((kernel, draw.randint(1, 1024), draw.randint(0, room // draw.randint(1, 32))))
    return found


def by_brute_force(
    limits: DeviceLimits, kernel: CompiledKernel, threads: int, dynamic: int
) -> TippingPoint | None:
    """Add one register after the other until a block is lost or the registers are used up."""
    held = blocks_per_sm(limits, kernel, threads, dynamic)
    for registers in range(kernel.registers_per_thread + 1, MAX_REGISTERS_PER_THREAD + 1):
        heavier = replace(kernel, registers_per_thread=registers)
        left = blocks_per_sm(limits, heavier, threads, dynamic)
        if left < held:
            return TippingPoint(registers - kernel.registers_per_thread, left)
    return None


@pytest.mark.parametrize(
    ("registers", "more", "blocks"), [(24, 9, 6), (32, 1, 6), (33, 8, 5), (80, 1, 2), (128, 1, 1)]
)
def test_registers_lose_a_block_at_the_next_step_that_does_not_fit(
    registers: int, more: int, blocks: int
) -> None:
    found = slack(HOPPER, kernel_of(registers), 256, 0)

    assert found.registers_per_thread == TippingPoint(more, blocks)


@pytest.mark.parametrize(("dynamic", "expected"), [(0, TippingPoint(32, 24)), (110_000, None)])
def test_no_registers_lose_a_block_where_255_still_hold_them(
    dynamic: int, expected: TippingPoint | None
) -> None:
    found = slack(HOPPER, kernel_of(1), 64, dynamic)

    assert found.registers_per_thread == expected


@pytest.mark.parametrize(
    ("static", "dynamic", "expected"),
    [
        (0, 0, TippingPoint(28_161, 7)),
        (0, 28_160, TippingPoint(1, 7)),
        (28_160, 0, TippingPoint(1, 7)),
        (0, 28_161, TippingPoint(4096, 6)),
        (0, 115_712, TippingPoint(1, 1)),
        (0, 232_448, TippingPoint(1, 0)),
    ],
)
def test_shared_bytes_lose_a_block_past_its_share_of_the_sm(
    static: int, dynamic: int, expected: TippingPoint
) -> None:
    found = slack(HOPPER, kernel_of(32, static), 256, dynamic)

    assert found.smem_bytes_per_block == expected


@pytest.mark.parametrize(
    ("registers", "threads", "dynamic"), [(65, 1024, 0), (32, 256, 232_449), (32, 1025, 0)]
)
def test_where_no_block_fits_none_can_be_lost(registers: int, threads: int, dynamic: int) -> None:
    assert slack(HOPPER, kernel_of(registers), threads, dynamic) == Slack(0, None, None)


@each_capability
def test_registers_tip_where_brute_force_says(limits: DeviceLimits) -> None:
    asked = any_configurations(limits)

    wrong = [
        one
        for one in asked
        if slack(limits, *one).registers_per_thread != by_brute_force(limits, *one)
    ]

    assert wrong == []


@each_capability
def test_shared_bytes_tip_between_two_neighbours(limits: DeviceLimits) -> None:
    wrong = []
    for kernel, threads, dynamic in any_configurations(limits):
        found = slack(limits, kernel, threads, dynamic)
        point = found.smem_bytes_per_block
        if point is None:
            continue
        before, after = (
            blocks_per_sm(limits, kernel, threads, dynamic + point.more - one) for one in (1, 0)
        )
        if not (before == found.blocks_per_sm > after == point.blocks_per_sm):
            wrong.append((kernel, threads, dynamic))

    assert wrong == []


@each_capability
def test_more_shared_bytes_never_hold_more_blocks(limits: DeviceLimits) -> None:
    sizes = range(0, limits.max_smem_bytes_per_block + 100, 31)

    held = [blocks_per_sm(limits, kernel_of(32), 96, size) for size in sizes]

    assert held == sorted(held, reverse=True)


def test_thousands_of_configurations_are_drawn_and_most_of_them_fit() -> None:
    found = [slack(limits, *one) for limits in LIMITS for one in any_configurations(limits)]

    fitting = [one for one in found if one.blocks_per_sm]
    assert (len(found), len(fitting) > 4000) == (7200, True)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        (TippingPoint(1, 2), "one more register per thread: 3 -> 2 blocks per SM"),
        (TippingPoint(8, 0), "8 more registers per thread: 3 -> 0 blocks per SM"),
        (None, "up to 255 registers per thread: still 3 blocks per SM"),
    ],
)
def test_slack_tells_what_the_next_registers_cost(point: TippingPoint | None, text: str) -> None:
    assert Slack(3, point, TippingPoint(1, 2)).lines[0] == text


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (1, "one more shared byte per block: 3 -> 2 blocks per SM"),
        (1025, "1025 more shared bytes per block: 3 -> 2 blocks per SM"),
    ],
)
def test_slack_tells_what_the_next_shared_bytes_cost(more: int, text: str) -> None:
    assert Slack(3, None, TippingPoint(more, 2)).lines[1] == text


def test_slack_as_text_is_both_of_its_lines() -> None:
    found = Slack(3, TippingPoint(1, 2), TippingPoint(2, 2))

    assert str(found) == "; ".join(found.lines)


def test_slack_of_nothing_says_that_nothing_fits() -> None:
    assert str(Slack(0, None, None)) == "not even one block per SM"


def test_one_block_that_stays_is_not_called_blocks() -> None:
    assert Slack(1, None, TippingPoint(9, 0)).lines[0].endswith("still 1 block per SM")
