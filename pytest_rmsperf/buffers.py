"""The buffers of one case by name, whatever device their memory is on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pytest_rmsperf.errors import OperatorError, PlanError
from pytest_rmsperf.launch import Buffer, Role

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array


class Allocated(Protocol):
    """One buffer that has memory."""

    @property
    def buffer(self) -> Buffer: ...

    def fill(self) -> None:
        """Zero a state buffer, poison any other."""
        ...

    def upload(self, array: Array) -> None:
        """Copy an array of exactly this buffer's shape and dtype into it."""
        ...

    def download(self) -> Array:
        """Return a copy of the buffer as it is now."""
        ...


One = TypeVar("One", bound=Allocated)


class NamedBuffers(Generic[One]):
    """Allocations by the name of their buffer."""

    def __init__(self, allocations: Iterable[One]) -> None:
        self._by_name = {one.buffer.name: one for one in allocations}

    def __getitem__(self, name: str) -> One:
        if name in self._by_name:
            return self._by_name[name]
        known = ", ".join(self._by_name)
        raise PlanError(f"a launch names buffer {name!r}, but the plan has {known}")

    def of_role(self, *roles: Role) -> dict[str, One]:
        """Return the allocations whose buffers have one of these roles."""
        return {name: one for name, one in self._by_name.items() if one.buffer.role in roles}

    def poison(self) -> None:
        """Poison every output and scratch buffer; state is kept, as between launches."""
        for one in self.of_role(Role.OUTPUT, Role.SCRATCH).values():
            one.fill()

    def upload(self, arrays: dict[str, Array]) -> None:
        """Fill every input buffer; OperatorError names a missing or an unknown array."""
        inputs = self.of_role(Role.INPUT).keys()
        if inputs != set(arrays):
            raise OperatorError(f"inputs must be {sorted(inputs)}, got {sorted(arrays)}")
        for name, array in arrays.items():
            self[name].upload(array)

    def outputs(self) -> dict[str, Array]:
        """Return a copy of every output buffer."""
        return {name: one.download() for name, one in self.of_role(Role.OUTPUT).items()}


def require_fitting(array: Array, buffer: Buffer) -> None:
    """Raise OperatorError unless an array has exactly the shape and dtype of a buffer."""
    wanted = (buffer.shape, buffer.dtype)
    if (array.shape, array.dtype.name) != wanted:
        raise OperatorError(
            f"input {buffer.name} must be {wanted[1]} of shape {wanted[0]}, "
            f"got {array.dtype.name} of shape {array.shape}"
        )
