"""A problem: the named sizes an operator is asked to work on."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rmsperf.errors import OperatorError


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Named sizes in a fixed order, such as rows=16, columns=131072.

    Every size is an integer of at least 1; anything else raises OperatorError.
    """

    dims: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        if not self.dims:
            raise OperatorError("a problem needs at least one size, got none")
        for name, value in self.dims:
            if type(value) is not int or value < 1:
                raise OperatorError(
                    f"problem size {name} must be an integer of at least 1, got {value!r}"
                )

    @classmethod
    def of(cls, **dims: int) -> Problem:
        """Build a problem from keyword sizes; their order is the order of the label."""
        return cls(tuple(dims.items()))

    def __getitem__(self, name: str) -> int:
        for known, value in self.dims:
            if known == name:
                return value
        known_names = ", ".join(known for known, _ in self.dims)
        raise OperatorError(f"problem {self.label} has no size {name!r}; it has {known_names}")

    def resized(self, **dims: int) -> Problem:
        """Return the same problem with some sizes replaced; unknown names raise OperatorError."""
        for name in dims:
            self[name]
        return Problem(tuple((name, dims.get(name, value)) for name, value in self.dims))

    @property
    def label(self) -> str:
        """The sizes joined by x, such as 16x131072: the last part of a case id."""
        return "x".join(str(value) for _, value in self.dims)
