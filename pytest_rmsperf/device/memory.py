"""Device buffers with guard bytes around them, filled and read on one stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.buffers import NamedBuffers, require_fitting
from pytest_rmsperf.cases import Case
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.errors import DeviceError
from pytest_rmsperf.launch import Buffer, Role
from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    import cupy

    from pytest_rmsperf.cases import Array, Arrays

# A multiple of 256 keeps every buffer aligned as cudaMalloc would align it.
GUARD_BYTES = 1024
# 0x7F7F7F7F is 3.4e38 as float32: whoever reads a guard sees it in a sum and in a maximum.
GUARD_VALUE = 0x7F
# 0xFFFFFFFF is a NaN as float32, so that what a kernel forgot to write is seen.
POISON_VALUE = 0xFF


class OutOfMemory(DeviceError):
    """The device has not enough memory left; the context is as good as before."""


def allocate(nbytes: int, context: CudaContext, what: str) -> cupy.cuda.MemoryPointer:
    """Return device memory; OutOfMemory with both numbers when there is not enough left."""
    import cupy

    try:
        return cupy.cuda.alloc(nbytes)
    except cupy.cuda.memory.OutOfMemoryError as error:
        raise OutOfMemory(
            f"{what} of {nbytes} bytes does not fit: "
            f"{context.free_bytes()} bytes of device memory are free"
        ) from error


@dataclass(frozen=True, slots=True)
class Allocation:
    """One buffer on the device, with GUARD_BYTES of known content before and behind it."""

    buffer: Buffer
    context: CudaContext
    whole: cupy.cuda.MemoryPointer

    @classmethod
    def make(cls, buffer: Buffer, context: CudaContext, *, filled: bool = True) -> Allocation:
        """Allocate; OutOfMemory with both numbers when the device has not enough memory left.

        Not `filled`, only state is set: initcheck then sees reads of what nobody wrote.
        """
        nbytes = buffer.nbytes + 2 * GUARD_BYTES
        one = cls(buffer, context, allocate(nbytes, context, f"buffer {buffer.name}"))
        if filled:
            one.renew()
        elif buffer.role is Role.STATE:
            one.fill()
        return one

    @property
    def address(self) -> int:
        return int(self.whole.ptr) + GUARD_BYTES

    def renew(self) -> None:
        """Make it as if newly allocated: guards in place, state zero, anything else poisoned."""
        self.renew_guards()
        self.fill()

    def renew_guards(self) -> None:
        """Put the guards back in place, whoever wrote there."""
        for offset in (0, GUARD_BYTES + self.buffer.nbytes):
            self._fill(self.whole + offset, GUARD_VALUE, GUARD_BYTES)

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
        return self.with_placed([Allocation.make(buffer, context) for buffer in buffers])

    def with_placed(self, own: Iterable[Allocation]) -> DeviceMemory:
        """Return these buffers together with others that have their place already."""
        return DeviceMemory([*self._by_name.values(), *own])

    def renew(self) -> None:
        """Renew what another case may have used: scratch and state, and the guards of tensors.

        So what is found damaged later is this case's doing. What the tensors hold stays.
        """
        for one in self.of_role(Role.SCRATCH, Role.STATE).values():
            one.renew()
        for one in self.of_role(Role.INPUT, Role.OUTPUT).values():
            one.renew_guards()

    def reset_state(self) -> None:
        """Zero the state, as before a first launch."""
        for one in self.of_role(Role.STATE).values():
            one.fill()

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


@dataclass(slots=True)
class Tensors:
    """The tensors of a problem: what they hold, and where they do so, once or several times."""

    buffers: tuple[Buffer, ...]
    inputs: Arrays
    copies: list[DeviceMemory] = field(default_factory=list)

    def are(self, buffers: tuple[Buffer, ...], inputs: Arrays) -> bool:
        """Say whether other tensors are the same, to the byte."""
        return (
            self.buffers == buffers
            and self.inputs.keys() == inputs.keys()
            and all(one.tobytes() == inputs[name].tobytes() for name, one in self.inputs.items())
        )


class SharedTensors:
    """The tensors of all problems of a session, each on the device as often as it is asked for.

    Cases with the same buffers and the same inputs work on the same memory: the variants of an
    operator, and a case with its twin of another commit, between which the place in memory would
    be a difference that is none of the code's.
    """

    def __init__(self) -> None:
        self._all: list[Tensors] = []
        self._of_problem: dict[tuple[Path, Problem], Tensors] = {}

    def copies(self, case: Case, count: int, context: CudaContext) -> list[DeviceMemory]:
        """Return `count` copies of a case's tensors, with its inputs in place.

        Raises OutOfMemory when the device has not enough memory left.
        """
        tensors = self._tensors(case)
        for _ in range(len(tensors.copies), count):
            memory = DeviceMemory.of(tensors.buffers, context)
            memory.upload(dict(tensors.inputs))
            tensors.copies.append(memory)
        return tensors.copies[:count]

    def _tensors(self, case: Case) -> Tensors:
        key = (case.operator.folder, case.problem)
        if key not in self._of_problem:
            buffers = case.operator.tensors(case.problem)
            inputs = case.operator.input_sets[0].make(case.problem)
            known = next((one for one in self._all if one.are(buffers, inputs)), None)
            if known is None:
                known = Tensors(buffers, inputs)
                self._all.append(known)
            self._of_problem[key] = known
        return self._of_problem[key]
