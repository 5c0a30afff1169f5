"""Where the buffers of cases lie that take turns: in the same place, and never in each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from pytest_rmsperf.device import scratch
from pytest_rmsperf.device.memory import GUARD_BYTES
from pytest_rmsperf.device.scratch import (
    ALIGNMENT,
    MOST_BYTES_INSIDE,
    PLACE_BYTES,
    PLACES,
    Scratch,
    keeps_state_apart,
    places_within,
)
from pytest_rmsperf.launch import Buffer, Role

NO_CONTEXT: Any = None
LARGE = 2 * MOST_BYTES_INSIDE


@dataclass(frozen=True)
class Pointer:
    """An address that nothing lies at."""

    ptr: int

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.ptr + offset)


@pytest.fixture
def allocated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Every allocation in order: its bytes, and what for; each is at an address of its own."""
    found: list[tuple[int, str]] = []

    def allocate(nbytes: int, context: object, what: str) -> Pointer:
        found.append((nbytes, what))
        return Pointer(len(found) << 40)

    monkeypatch.setattr(scratch, "allocate", allocate)
    return found


def of(nbytes: int, name: str = "b") -> Buffer:
    return Buffer(name, Role.SCRATCH, (nbytes,), "uint8")


def spans(placed: list[Any]) -> list[tuple[int, int]]:
    """From where to where each buffer reaches with its guards, in order of addresses."""
    return sorted(
        (one.address - GUARD_BYTES, one.address + one.buffer.nbytes + GUARD_BYTES) for one in placed
    )


Allocated = list[tuple[int, str]]


def test_small_buffers_of_every_case_begin_at_one_address(allocated: Allocated) -> None:
    room = Scratch(NO_CONTEXT)

    (first,), (second,) = room.place([of(4)]), room.place([of(4000)])

    assert first.address == second.address
    assert allocated == [(PLACES * PLACE_BYTES, "the scratch of all cases")]


def test_the_smallest_buffer_comes_first_whatever_order_a_plan_has(allocated: Allocated) -> None:
    room = Scratch(NO_CONTEXT)

    one_way = room.place([of(4, "counters"), of(4096, "partials")])
    other_way = room.place([of(4096, "partials"), of(4, "counters")])

    places = [{one.buffer.name: one.address for one in placed} for placed in (one_way, other_way)]
    assert places[0] == places[1]
    assert places[0]["counters"] < places[0]["partials"]


@pytest.mark.parametrize("sizes", [(4, 4, 4), (1, 255, 257), (MOST_BYTES_INSIDE,) * 6])
def test_buffers_of_one_case_and_their_guards_do_not_overlap(
    allocated: Allocated, sizes: tuple[int, ...]
) -> None:
    found = spans(Scratch(NO_CONTEXT).place([of(nbytes) for nbytes in sizes]))

    assert all(end <= start for (_, end), (start, _) in pairwise(found))
    assert {start % ALIGNMENT for start, _ in found} == {0}


@pytest.mark.parametrize(
    ("nbytes", "allocations"), [(MOST_BYTES_INSIDE, 1), (MOST_BYTES_INSIDE + 1, 2)]
)
def test_a_buffer_too_large_for_the_arena_has_memory_of_its_own(
    allocated: Allocated, nbytes: int, allocations: int
) -> None:
    Scratch(NO_CONTEXT).place([of(nbytes)])

    assert len(allocated) == allocations


@pytest.mark.parametrize(("spare", "outside"), [(0, 0), (-1, 1)])
def test_what_does_not_fit_beside_the_others_lies_outside(
    allocated: Allocated, spare: int, outside: int
) -> None:
    half = PLACE_BYTES // 2 - 2 * GUARD_BYTES  # with its guards; two of these fill a place
    small = -spare * ALIGNMENT

    Scratch(NO_CONTEXT).place([of(half), of(half), *([of(small)] if small else [])])

    assert len(allocated) - 1 == outside


def test_places_are_apart_and_do_not_overlap(allocated: Allocated) -> None:
    room = Scratch(NO_CONTEXT)

    starts = [room.place([of(4)], number)[0].address for number in range(PLACES)]

    assert {after - before for before, after in pairwise(starts)} == {PLACE_BYTES}


def test_a_large_buffer_is_the_same_at_every_place(allocated: Allocated) -> None:
    room = Scratch(NO_CONTEXT)

    assert addresses(room.place([of(LARGE)], 0)) == addresses(room.place([of(LARGE)], 3))


@pytest.mark.parametrize(
    ("launch_ns", "places"),
    [
        (8000, PLACES),
        (62_500, 16),
        (62_501, 8),
        (500_000, 2),
        (500_001, 1),
        (9_000_000, 1),
        (0, 16),
    ],
)
def test_a_graph_goes_through_as_many_places_as_it_has_launches(
    launch_ns: int, places: int
) -> None:
    assert places_within(launch_ns, 1000) == places


def addresses(placed: list[Any]) -> list[int]:
    return [one.address for one in placed]


def test_large_buffers_of_several_cases_share_memory_one_by_one(allocated: Allocated) -> None:
    room = Scratch(NO_CONTEXT)

    first = addresses(room.place([of(LARGE), of(LARGE)]))
    second = addresses(room.place([of(LARGE), of(LARGE)]))

    assert first == second
    assert len(set(first)) == 2


@pytest.mark.parametrize(("later", "allocations"), [(-1, 2), (0, 2), (ALIGNMENT, 3)])
def test_only_a_larger_buffer_than_those_before_it_asks_for_memory_again(
    allocated: Allocated, later: int, allocations: int
) -> None:
    room = Scratch(NO_CONTEXT)

    room.place([of(LARGE)])
    room.place([of(LARGE + later)])

    assert len(allocated) == allocations


def state_of(nbytes: int) -> Buffer:
    return Buffer("flags", Role.STATE, (nbytes,), "uint8")


@pytest.mark.parametrize(("nbytes", "apart"), [(MOST_BYTES_INSIDE, True), (LARGE, False)])
def test_state_that_is_too_large_for_a_place_is_one_for_all_places(
    nbytes: int, *, apart: bool
) -> None:
    assert keeps_state_apart([of(LARGE), state_of(nbytes)]) is apart
