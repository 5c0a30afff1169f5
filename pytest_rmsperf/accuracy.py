"""How close an output is to the reference: the tolerance, and the record of one comparison."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pytest_rmsperf.emulation import Emulation
from pytest_rmsperf.errors import GateFailure, OperatorError

SANITIZER = "compute-sanitizer finds races and stray accesses"


class Precision(str, Enum):
    """The arithmetic the reference runs in."""

    FLOAT64 = "float64"  # the truth for ordinary values
    FLOAT32 = "float32"  # the semantics of overflow, infinities and NaN


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest error accepted: |got - want| <= relative * max(|want|, floor).

    `floor` is the magnitude below which errors count as absolute: results there are lost to
    float32 underflow on every device.
    """

    relative: float
    floor: float

    def __post_init__(self) -> None:
        if not (0 < self.relative < 1 and self.floor > 0):
            raise OperatorError(
                f"a tolerance needs 0 < relative < 1 and floor > 0, got {self.relative}, "
                f"{self.floor}"
            )


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output of one launch against the reference.

    `largest_error` is relative to max(|want|, floor); `index` is where it is, in the output's
    shape. `problem` is None when the output passes, else what is wrong in words.
    """

    input_set: str
    output: str
    precision: Precision
    largest_error: float
    index: tuple[int, ...]
    got: float
    want: float
    allowed: float
    wrong: int
    elements: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class Numerics:
    """All comparisons of one case, in the order they were made.

    `emulation` says how, where they were made on the emulated device; None on a CUDA device.
    """

    comparisons: tuple[Comparison, ...]
    launches: int
    reference_error: float | None
    emulation: Emulation | None = None

    def __post_init__(self) -> None:
        if not self.comparisons:
            raise OperatorError("no output was compared: a reference returns one array per output")

    @property
    def passed(self) -> bool:
        return all(one.problem is None for one in self.comparisons)

    @property
    def worst(self) -> Comparison:
        """The first failed comparison, else the one with the largest error."""
        failed = [one for one in self.comparisons if one.problem is not None]
        return failed[0] if failed else max(self.comparisons, key=lambda one: one.largest_error)

    def __str__(self) -> str:
        worst = self.worst
        where = "x".join(map(str, worst.index))
        how = "" if self.emulation is None else f" ({self.emulation})"
        if self.passed:
            return (
                f"right: largest relative error {worst.largest_error:.2e} at "
                f"{worst.output}[{where}] ({worst.input_set}), allowed {worst.allowed:.0e}{how}"
            )
        mend = f"mend the kernel ({SANITIZER})" if self.emulation is None else "mend the kernel"
        return (
            f"wrong: {worst.problem} in {worst.output} ({worst.input_set}){how}\n"
            f"  largest    relative error {worst.largest_error:.3g} at index {worst.index}: "
            f"got {worst.got:.9g}, want {worst.want:.9g}\n"
            f"  allowed    {worst.allowed:.0e} against the {worst.precision.value} reference; "
            f"{worst.wrong} of {worst.elements} elements are outside\n"
            f"{mend}, then: pytest --rmsperf --lf"
        )

    def require(self) -> None:
        """Raise GateFailure with the largest error and its index when an output is wrong."""
        if not self.passed:
            raise GateFailure(str(self))
