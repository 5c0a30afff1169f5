"""Copies of a case's buffers in turn: how many there must be, and that none is met too early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fake_cuda import FakeCase, FakeContext
from pytest_rmsperf.device import rotation
from pytest_rmsperf.device.clock import UnrolledLaunches
from pytest_rmsperf.device.rotation import (
    MOST_COPIES,
    Rotation,
    copies_beyond,
    touched_bytes,
)
from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer, int64

L2 = 1000
ANY_STREAM = 1


# ---- how many --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bytes_per_launch", "copies"),
    [
        (1_000_000, 2),
        (2001, 2),  # one launch on another copy is more than twice the L2
        (2000, 4),  # and here just as much
        (1001, 4),  # two others
        (667, 4),  # three others
        (666, 8),
        (1, 2048),
    ],
)
def test_launches_between_two_on_one_copy_touch_more_than_twice_the_l2(
    bytes_per_launch: int, copies: int
) -> None:
    assert copies_beyond(L2, bytes_per_launch) == copies


def test_the_copies_are_just_enough_for_any_size() -> None:
    found = {nbytes: copies_beyond(L2, nbytes) for nbytes in range(1, 2100)}

    assert [nbytes for nbytes, one in found.items() if (one - 1) * nbytes <= 2 * L2] == []
    assert [nbytes for nbytes, one in found.items() if (one // 2 - 1) * nbytes > 2 * L2] == []


def test_a_launch_that_touches_nothing_needs_no_copies() -> None:
    assert copies_beyond(L2, 0) == 1


def test_as_many_copies_as_can_take_turns_are_given() -> None:
    assert copies_beyond(2047, 1) == MOST_COPIES


def test_too_small_a_launch_for_a_cold_cache_is_refused_with_the_numbers() -> None:
    with pytest.raises(PlanError) as caught:
        copies_beyond(2048, 1)

    assert str(caught.value).startswith(
        "cannot be timed cold: a launch touches 1 bytes, so that 8192 copies would have to take "
        "turns to leave an L2 of 2048 bytes; the most are 4096\n"
    )
    assert str(caught.value).endswith("--rmsperf-cache=warm")


def test_a_buffer_counts_once_however_often_it_is_named_and_not_when_it_is_not() -> None:
    buffers = [
        Buffer("x", Role.INPUT, (10,)),
        Buffer("y", Role.OUTPUT, (100,)),
        Buffer("unused", Role.SCRATCH, (1000,)),
    ]
    launches = (
        KernelLaunch("first", 1, 32, (buffer("x"), buffer("y"), int64(7))),
        KernelLaunch("second", 1, 32, (buffer("y"),)),
    )

    assert touched_bytes(LaunchPlan(launches, (), (), "two kernels"), buffers) == 440


# ---- turns -----------------------------------------------------------------------------------


class Part:
    """One invocation of a rotation; tells a shared log by its number when it is launched."""

    def __init__(self, number: int, launched: list[int], context: FakeContext) -> None:
        self.number = number
        self.launched = launched
        self.context = context
        self.plan = FakeCase().plan

    def submit(self, count: int, _: object = None) -> None:
        self.launched += [self.number] * count
        self.context.stream.now_ns += 8000 * count

    def complete(self, count: int) -> list[int]:
        self.submit(count)
        return [14_000 + self.number] * count


Make = Callable[[int], tuple[Rotation, list[int]]]


@pytest.fixture
def rotating(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a rotation over so many copies, and the list of copies that were launched."""

    def make(copies: int) -> tuple[Rotation, list[int]]:
        launched: list[int] = []
        context = FakeContext()
        parts: list[Any] = [Part(number, launched, context) for number in range(copies)]
        return Rotation(parts), launched

    def capture(context: FakeContext, submit: Callable[[int], None]) -> Replay:
        return Replay(submit)

    monkeypatch.setattr(rotation, "captured", capture)
    return make


class Replay:
    """A graph that is no graph: it submits anew at each launch."""

    def __init__(self, submit: Callable[[int], None]) -> None:
        self._submit = submit

    def launch(self, _: object) -> None:
        self._submit(ANY_STREAM)

    def close(self) -> None:
        return


def test_launches_take_the_copies_in_turn(rotating: Make) -> None:
    found, launched = rotating(3)

    found.submit(7)

    assert launched == [0, 1, 2, 0, 1, 2, 0]


def test_completions_take_the_copies_in_turn_and_each_is_timed(rotating: Make) -> None:
    found, launched = rotating(2)

    times_ns = found.complete(3)

    assert (launched, times_ns) == ([0, 1, 0], [14_000, 14_001, 14_000])


def test_completions_of_one_copy_are_one_call_of_the_native_clock(rotating: Make) -> None:
    found, _ = rotating(1)
    counts: list[int] = []
    part: Any = found.parts[0]

    def complete(count: int) -> list[int]:
        counts.append(count)
        return [14_000] * count

    part.complete = complete

    found.complete(20)

    assert counts == [20]


def test_completions_go_through_as_many_copies_as_they_are_given(rotating: Make) -> None:
    found, launched = rotating(4)

    Rotation(found.parts, completed=2).complete(3)

    assert launched == [0, 1, 0]


@pytest.mark.parametrize("copies", [2, 4, 32, 128, 1024])
def test_whatever_is_timed_meets_each_copy_a_whole_round_after_its_last_use(
    rotating: Make, copies: int
) -> None:
    found, launched = rotating(copies)
    clock = UnrolledLaunches.lasting(found, 1000)

    timed: list[int] = []
    for _ in range(3):
        clock.time_ns()  # the second half is timed
        timed += range(len(launched) - clock.launches, len(launched))
        found.complete(20)
        timed += range(len(launched) - 20, len(launched))

    last_use = {place: launched[:place][::-1].index(launched[place]) for place in timed}
    assert min(last_use.values()) == copies - 1
