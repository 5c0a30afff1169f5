"""Memory for the scratch and state buffers of cases that take turns: all begin at one address.

Where a buffer lies decides which part of the L2 cache serves it. For a barrier's counters that is
worth 3 %: one kernel took 8.22 to 8.46 us as its counters moved in steps of 4 KiB, and 8.457 to
8.459 us with everything in place, whichever copy of its code ran (H200, 2026-12-01). So a case has
its buffers in the same place whatever is timed beside it, and a build where its rival has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.memory import GUARD_BYTES, Allocation, allocate
from pytest_rmsperf.launch import Buffer, Role

if TYPE_CHECKING:
    import cupy

# A case's launches take turns on so many places, which are drawn anew with each process. One place
# for all of a session moved a kernel of 7.9 us by up to 1.2 % from process to process.
PLACES = 16
# Apart by an odd multiple of 4 KiB, so that the places differ in the lower bits of an address too.
PLACE_BYTES = 127 * 4096
# What is larger spreads over the whole cache wherever it lies, and has memory of its own.
MOST_BYTES_INSIDE = PLACE_BYTES // 2
ALIGNMENT = 256


class Scratch:
    """Places for the buffers of one case at a time; cases share them and take turns.

    Whoever uses them after another case must renew them first: see Allocation.renew. The memory is
    held from the start of a session, before anything whose size depends on what is selected.
    """

    def __init__(self, context: CudaContext, places: int = PLACES) -> None:
        self._context = context
        self._arena = allocate(places * PLACE_BYTES, context, "the scratch of all cases")
        self._outside: list[cupy.cuda.MemoryPointer] = []
        self._sizes: list[int] = []

    def place(self, buffers: Iterable[Buffer], number: int = 0) -> list[Allocation]:
        """Return an allocation for each buffer, the small ones at a place, from its start on.

        Raises OutOfMemory when the device has not enough memory left for the large ones, which are
        the same for every place.
        """
        outside = 0
        placed: list[Allocation] = []
        for buffer, offset in _layout(buffers):
            if offset is not None:
                whole = self._arena + number * PLACE_BYTES + offset
            else:
                whole = self._large(outside, _whole_bytes(buffer), buffer.name)
                outside += 1
            placed.append(Allocation(buffer, self._context, whole))
        return placed

    def _large(self, number: int, nbytes: int, name: str) -> cupy.cuda.MemoryPointer:
        """Return the memory of the large buffer of this number, made larger where need be."""
        if number == len(self._outside):
            self._outside.append(allocate(nbytes, self._context, f"buffer {name}"))
            self._sizes.append(nbytes)
        elif self._sizes[number] < nbytes:
            self._outside[number] = allocate(nbytes, self._context, f"buffer {name}")
            self._sizes[number] = nbytes
        return self._outside[number]


def keeps_state_apart(buffers: Iterable[Buffer]) -> bool:
    """Say whether each place has state of its own.

    Where one state buffer is large, and so the same for every place, launches on several places
    would find it as another place's left it: a barrier's flags beside a counter that does not know
    of them.
    """
    return all(inside is not None for one, inside in _layout(buffers) if one.role is Role.STATE)


def places_within(launch_ns: int, graph_us: int) -> int:
    """Return how many places a graph can go through: all, unless its launches are few and long."""
    launches = min(PLACES, max(1, graph_us * 1000 // max(1, launch_ns)))
    return 1 << (launches.bit_length() - 1)


def _whole_bytes(buffer: Buffer) -> int:
    """Return the bytes of a buffer with its guards, rounded up so that the next one is aligned."""
    return -(-(buffer.nbytes + 2 * GUARD_BYTES) // ALIGNMENT) * ALIGNMENT


def _layout(buffers: Iterable[Buffer]) -> Iterator[tuple[Buffer, int | None]]:
    """Yield the buffers, small ones first, with their offset in a place; None for what is large."""
    offset = 0
    for buffer in sorted(buffers, key=lambda one: one.nbytes):
        nbytes = _whole_bytes(buffer)
        if buffer.nbytes <= MOST_BYTES_INSIDE and offset + nbytes <= PLACE_BYTES:
            yield buffer, offset
            offset += nbytes
        else:
            yield buffer, None
