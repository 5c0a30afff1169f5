"""The emulated device's memory: arrays of this process of which every byte knows its writer."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_rmsperf.buffers import NamedBuffers, require_fitting
from pytest_rmsperf.emulated.runtime import load_runtime
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import ELEMENT_BYTES, Buffer, Role

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pytest_rmsperf.cases import Array, Arrays

    Bytes = npt.NDArray[np.uint8]

# Nothing lies in between, so that a stray access meets no neighbour.
GAP_BYTES = 1 << 16
# 0xFFFFFFFF is a NaN as float32. A read of what nobody wrote is a fault of its own; the poison is
# for launches that are not checked for that.
POISON_VALUE = 0xFF

# The runtime keeps 32 bytes on the last accesses of every four.
CELL_RATIO = 8

# As in the runtime's memory.h.
UNWRITTEN, WRITTEN_BEFORE, WRITTEN_BY_KERNEL = 0, 1, 2


class Region:
    """Zeroed memory of this process, given back when it and every view of it are gone."""

    def __init__(self, nbytes: int) -> None:
        runtime = load_runtime()
        address = runtime.rmsperf_map_memory(nbytes)
        if address is None:
            raise GateFailure(
                f"out of memory: this machine has no room for a buffer of {nbytes} bytes\n"
                "let a smaller problem stand in for it (emulate_as of the operator)"
            )
        self.address = int(address)
        weakref.finalize(self, runtime.rmsperf_unmap_memory, self.address, nbytes)

    def view(self, offset: int, nbytes: int) -> Bytes:
        """Return some of the bytes as an array, which keeps the region."""
        import numpy

        part = (ctypes.c_uint8 * nbytes).from_address(self.address + offset)
        part.region = self  # type: ignore[attr-defined]
        return numpy.ctypeslib.as_array(part)


class Allocation:
    """One buffer. Only touched pages of it take memory, so that it may be larger than the machine.

    `filled` is for buffers whose content counts; without, no page is touched.
    """

    def __init__(self, buffer: Buffer, *, filled: bool = True) -> None:
        self.buffer = buffer
        memory, written = Region(buffer.nbytes + 2 * GAP_BYTES), Region(buffer.nbytes)
        # Nobody writes to an input, so nothing there can race. Without content nothing is told of
        # the middle of a buffer, so that races are not looked for.
        races = filled and buffer.role is not Role.INPUT
        self._cells = Region(buffer.nbytes * CELL_RATIO) if races else None
        self.address = memory.address + GAP_BYTES
        self.bytes = memory.view(GAP_BYTES, buffer.nbytes)
        self.written = written.view(0, buffer.nbytes)
        runtime = load_runtime()
        runtime.rmsperf_add_buffer(
            self.address,
            buffer.nbytes,
            written.address,
            self._cells.address if self._cells else None,
            buffer.name.encode(),
            ELEMENT_BYTES[buffer.dtype],
        )
        weakref.finalize(self, runtime.rmsperf_remove_buffer, self.address)
        if filled:
            self.fill()

    def fill(self) -> None:
        """Zero a state buffer, poison any other and call it unwritten."""
        state = self.buffer.role is Role.STATE
        self.bytes[:] = 0 if state else POISON_VALUE
        self.written[:] = WRITTEN_BEFORE if state else UNWRITTEN

    def array(self) -> Array:
        """Return the buffer as an array, not copied: shape and dtype of the buffer."""
        view: Array = self.bytes.view(self.buffer.dtype).reshape(self.buffer.shape)
        return view

    def upload(self, array: Array) -> None:
        """Copy an array of exactly this buffer's shape and dtype into it."""
        require_fitting(array, self.buffer)
        self.array()[...] = array
        self.written[:] = WRITTEN_BEFORE

    def download(self) -> Array:
        """Return a copy of the buffer as an array."""
        return self.array().copy()

    def never_written(self) -> tuple[tuple[int, ...], int] | None:
        """Return the index of the first element no kernel wrote and how many; None for none."""
        import numpy

        nbytes = ELEMENT_BYTES[self.buffer.dtype]
        missing = (self.written.reshape(-1, nbytes) != WRITTEN_BY_KERNEL).any(axis=1)
        if not missing.any():
            return None
        index = numpy.unravel_index(int(missing.argmax()), self.buffer.shape)
        return tuple(int(place) for place in index), int(missing.sum())


class EmulatedMemory(NamedBuffers[Allocation]):
    """The buffers of one case by name; see Allocation for what it means that they are `filled`."""

    def __init__(self, buffers: Iterable[Buffer], *, filled: bool = True) -> None:
        super().__init__(Allocation(one, filled=filled) for one in buffers)

    def overwritten(self, arrays: Arrays) -> list[str]:
        """Name the input buffers that a kernel wrote to, be it what was there before."""
        return [name for name in arrays if (self[name].written == WRITTEN_BY_KERNEL).any()]

    def damaged(self) -> list[str]:
        """Name nothing: a write outside of a buffer ends the launch before it is made."""
        return []

    def require_outputs_written(self) -> None:
        """Raise GateFailure with the place of the first output element that no kernel wrote."""
        for name, one in self.of_role(Role.OUTPUT).items():
            missing = one.never_written()
            if missing is not None:
                index, count = missing
                raise GateFailure(
                    f"never written: {count} elements of {name}, the first at index {index}\n"
                    f"  {name} has shape {one.buffer.shape}; all launches of the plan have ended\n"
                    "let the kernel write every output element, then: pytest --rmsperf --lf"
                )
