"""What differs between two costs: every field of kernels and plans, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import (
    CODE,
    H200,
    OTHER_CODE,
    fit_of_device,
    kernel_of,
    launch_of,
    resources_of,
)
from pytest_rmsperf.costs import PlannedLaunch
from pytest_rmsperf.judge.cost_differences import (
    kernel_differences,
    launch_differences,
    resource_differences,
)
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.resources import CompiledKernel, MachineCode


def plan_of(*launches: PlannedLaunch, facts: tuple[tuple[str, int], ...] = ()) -> list[str]:
    """Say how a plan of these launches differs from one of a launch of `row`."""
    before = resources_of(fit=fit_of_device(H200, launch_of(), facts=(("tile", 4096),)))
    facts = facts or (("tile", 4096),)
    after = resources_of(fit=fit_of_device(H200, *launches, facts=facts))
    return [str(one) for one in launch_differences(before, after)]


def code_of(before: MachineCode | None, after: MachineCode | None) -> list[str]:
    old, new = (kernel_of(code=one) for one in (before, after))
    return [str(one) for one in kernel_differences([old], [new])]


def test_equal_costs_do_not_differ() -> None:
    row = resources_of()

    assert resource_differences(row, row) == []


# ---- kernels ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "text", "status"),
    [
        (kernel_of(registers=41), "registers 40 -> 41 per thread", Status.UNCHANGED),
        (kernel_of(smem=0), "static shared bytes 1024 -> 0 per block", Status.CHANGED),
        (kernel_of(local=8), "local bytes 0 -> 8 per thread", Status.COSTLIER),
        (kernel_of(spills=(8, 0)), "spill stores 0 -> 8 bytes per thread", Status.COSTLIER),
        (kernel_of(spills=(0, 8)), "spill loads 0 -> 8 bytes per thread", Status.COSTLIER),
        (kernel_of(bounds=512), "launch bounds 256 -> 512", Status.CHANGED),
        (kernel_of(bounds=1024), "launch bounds 256 -> none", Status.CHANGED),
    ],
)
def test_each_count_of_a_kernel_is_compared_in_words(
    kernel: CompiledKernel, text: str, status: Status
) -> None:
    [found] = kernel_differences([kernel_of()], [kernel])

    assert (str(found), found.status) == (f"{text} of row", status)


def test_kernels_that_appear_and_disappear_are_named_and_changed() -> None:
    found = kernel_differences([kernel_of("sums"), kernel_of()], [kernel_of(), kernel_of("tiles")])

    assert [(str(one), one.status) for one in found] == [
        ("kernel sums is gone", Status.CHANGED),
        ("kernel tiles is new", Status.CHANGED),
    ]


def test_machine_code_is_told_by_what_it_does_more_often() -> None:
    heavier = replace(OTHER_CODE, instructions=260, counts=(("barrier", 2), ("global load 32", 8)))

    [told] = code_of(CODE, heavier)

    assert told == (
        "machine code of row: 240 -> 260 instructions, global load 128: 4 -> 0, "
        "global load 32: 0 -> 8"
    )


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (OTHER_CODE, "differs, all its counts are equal"),
        (
            replace(OTHER_CODE, code_bytes=4224),
            "4096 -> 4224 bytes, all its counts are equal",
        ),
        (replace(OTHER_CODE, instructions=None, counts=()), "differs"),
        (replace(OTHER_CODE, code_bytes=4224, instructions=None, counts=()), "4096 -> 4224 bytes"),
    ],
    ids=["equal counts", "padding", "no counts", "no counts, and larger"],
)
def test_machine_code_is_said_to_differ_as_far_as_it_is_known(
    after: MachineCode, text: str
) -> None:
    assert code_of(CODE, after) == [f"machine code of row: {text}"]


@pytest.mark.parametrize(
    ("before", "after"),
    [(CODE, None), (None, CODE), (CODE, replace(CODE, instructions=None, counts=()))],
    ids=["no more", "not yet", "no disassembler"],
)
def test_the_same_machine_code_does_not_differ_and_neither_does_unknown(
    before: MachineCode | None, after: MachineCode | None
) -> None:
    assert code_of(before, after) == []


# ---- plans -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launch", "text"),
    [
        (launch_of(smem=0), "dynamic shared bytes 16384 -> 0 per block of row"),
        (launch_of(threads=128), "threads 256 -> 128 per block of row"),
        (launch_of(blocks=256), "blocks 512 -> 256 of row"),
        (launch_of(cluster=8), "blocks 1 -> 8 per cluster of row"),
        (launch_of(waits=False), "waits on other blocks yes -> no of row"),
    ],
)
def test_each_decision_of_a_launch_is_compared_in_words(launch: PlannedLaunch, text: str) -> None:
    assert plan_of(launch) == [text]


def test_facts_of_a_plan_are_compared_and_may_come_and_go() -> None:
    assert plan_of(launch_of(), facts=(("rows", 8),)) == ["tile 4096 -> none", "rows none -> 8"]


@pytest.mark.parametrize(
    ("before", "after", "status"), [(2, 3, Status.COSTLIER), (3, 2, Status.CHEAPER)]
)
def test_more_launches_cost_more_and_fewer_less(before: int, after: int, status: Status) -> None:
    old, new = (
        resources_of(fit=fit_of_device(H200, *[launch_of()] * number)) for number in (before, after)
    )

    [found] = launch_differences(old, new)

    assert (str(found), found.status) == (f"launches {before} -> {after}", status)


def test_plans_of_different_length_are_compared_by_their_largest_launches() -> None:
    old = resources_of(fit=fit_of_device(H200, launch_of(blocks=352), launch_of(blocks=320)))
    new = resources_of(fit=fit_of_device(H200, launch_of(blocks=192), *[launch_of(blocks=256)] * 2))

    told = [str(one) for one in launch_differences(old, new)]

    assert told == ["launches 2 -> 3", "blocks 352 -> 256 of row"]


def test_launches_in_another_order_are_changed_and_named() -> None:
    sums, tiles = launch_of("sums"), launch_of("tiles")
    old, new = (
        resources_of(fit=fit_of_device(H200, *launches))
        for launches in ((sums, tiles, tiles), (tiles, sums, tiles))
    )

    [found] = launch_differences(old, new)

    assert (str(found), found.status) == ("launches of sums, tiles -> tiles, sums", Status.CHANGED)


def test_a_change_of_one_launch_among_equal_ones_is_seen() -> None:
    old, new = (
        resources_of(fit=fit_of_device(H200, launch_of(), launch_of(blocks=blocks)))
        for blocks in (512, 320)
    )

    assert [str(one) for one in launch_differences(old, new)] == ["blocks 512 -> 320 of row"]


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (15, [("active clusters 16 -> 15 of row", Status.COSTLIER)]),
        (17, [("active clusters 16 -> 17 of row", Status.CHEAPER)]),
        (16, []),
        (None, []),
    ],
)
def test_active_clusters_are_compared_where_the_driver_was_asked_twice(
    after: int | None, told: list[tuple[str, Status]]
) -> None:
    old, new = (
        resources_of(fit=fit_of_device(H200, launch_of(cluster=8, active_clusters=one)))
        for one in (16, after)
    )

    assert [(str(one), one.status) for one in launch_differences(old, new)] == told
