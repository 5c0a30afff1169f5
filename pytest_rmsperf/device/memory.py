"""Device buffers with guard bytes around them, filled and read on one stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rmsperf.buffers import NamedBuffers, require_fitting
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.errors import DeviceError
from pytest_rmsperf.launch import Buffer, Role

if TYPE_CHECKING:
    import cupy

    from pytest_rmsperf.cases import Array, Arrays

# A multiple of 256 keeps every buffer aligned as cudaMalloc would align it.
GUARD_BYTES = 1024
# 0x7F7F7F7F is 3.4e38 as float32: whoever reads a guard sees it in a sum and in a maximum.
GUARD_VALUE = 0x7F
# 0xFFFFFFFF is a NaN as float32, so that what a kernel forgot to write is seen.
POISON_VALUE = 0xFF


@dataclass(frozen=True, slots=True)
class Allocation:
    """One buffer on the device, with GUARD_BYTES of known content before and behind it."""

    buffer: Buffer
    context: CudaContext
    whole: cupy.cuda.MemoryPointer

    @classmethod
    def make(cls, buffer: Buffer, context: CudaContext, *, filled: bool = True) -> Allocation:
        """Allocate; DeviceError with both numbers when the device has not enough memory left.

        Not `filled`, only state is set: initcheck then sees reads of what nobody wrote.
        """
        import cupy

        nbytes = buffer.nbytes + 2 * GUARD_BYTES
        try:
            whole = cupy.cuda.alloc(nbytes)
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise DeviceError(
                f"buffer {buffer.name} of {nbytes} bytes does not fit: "
                f"{context.free_bytes()} bytes of device memory are free"
            ) from error
        one = cls(buffer, context, whole)
        if filled:
            one._fill(whole, GUARD_VALUE, nbytes)
        if filled or buffer.role is Role.STATE:
            one.fill()
        return one

    @property
    def address(self) -> int:
        return int(self.whole.ptr) + GUARD_BYTES

    def fill(self) -> None:
        """Zero a state buffer, poison any other."""
        value = 0 if self.buffer.role is Role.STATE else POISON_VALUE
        self._fill(self.whole + GUARD_BYTES, value, self.buffer.nbytes)

    def upload(self, array: Array) -> None:
        """Copy an array of exactly this buffer's shape and dtype to the device."""
        import numpy

        require_fitting(array, self.buffer)
        self._view().set(numpy.ascontiguousarray(array), stream=self._stream())
        self.context.synchronize()

    def download(self) -> Array:
        """Copy the buffer to the host, after everything queued before."""
        self.context.synchronize()
        array: Array = self._view().get(stream=self._stream())
        return array

    def guards_intact(self) -> bool:
        """Say whether nobody wrote just before or just behind this buffer."""
        import cupy

        self.context.synchronize()
        for offset in (0, GUARD_BYTES + self.buffer.nbytes):
            guard = cupy.ndarray((GUARD_BYTES,), "uint8", self.whole + offset)
            if (guard.get(stream=self._stream()) != GUARD_VALUE).any():
                return False
        return True

    def _view(self) -> cupy.ndarray:
        import cupy

        return cupy.ndarray(self.buffer.shape, self.buffer.dtype, self.whole + GUARD_BYTES)

    def _stream(self) -> cupy.cuda.Stream:
        import cupy

        return cupy.cuda.Stream.from_external(self.context.stream)

    def _fill(self, pointer: cupy.cuda.MemoryPointer, value: int, nbytes: int) -> None:
        pointer.memset_async(value, nbytes, self._stream())


class DeviceMemory(NamedBuffers[Allocation]):
    """The buffers of one case by name; some may be shared with other cases of the same problem."""

    @classmethod
    def of(
        cls, buffers: Iterable[Buffer], context: CudaContext, *, filled: bool = True
    ) -> DeviceMemory:
        """Allocate one buffer each; see Allocation.make."""
        return cls([Allocation.make(buffer, context, filled=filled) for buffer in buffers])

    def with_own(self, buffers: Iterable[Buffer], context: CudaContext) -> DeviceMemory:
        """Return these buffers together with newly allocated ones."""
        own = [Allocation.make(buffer, context) for buffer in buffers]
        return DeviceMemory([*self._by_name.values(), *own])

    def overwritten(self, arrays: Arrays) -> list[str]:
        """Name the input buffers that no longer hold what was uploaded from `arrays`."""
        return [
            name
            for name, array in arrays.items()
            if self[name].download().tobytes() != array.tobytes()
        ]

    def damaged(self) -> list[str]:
        """Name the buffers just outside of which something wrote."""
        return [name for name, one in self._by_name.items() if not one.guards_intact()]
