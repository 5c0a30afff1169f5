"""What a device must offer so that numerics can be checked on it: a CUDA device or an emulated one.

Structural: the CUDA side is in `pytest_rmsperf.device`, the other in `pytest_rmsperf.emulated`, and
neither knows of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.launch import Buffer, LaunchPlan
from pytest_rmsperf.resources import Capacity, CompiledModule

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Array, Arrays


class Memory(Protocol):
    """The buffers of one prepared case."""

    def upload(self, arrays: dict[str, Array]) -> None:
        """Fill every input buffer; OperatorError names a missing or an unknown array."""
        ...

    def outputs(self) -> dict[str, Array]:
        """Return a copy of every output buffer as it is now."""
        ...

    def overwritten(self, arrays: Arrays) -> list[str]:
        """Name the input buffers that no longer hold what was uploaded from `arrays`."""
        ...

    def damaged(self) -> list[str]:
        """Name the buffers just outside of which something wrote."""
        ...


class Prepared(Protocol):
    """A case ready to run: every argument bound, its memory poisoned, inputs not yet uploaded."""

    @property
    def memory(self) -> Memory: ...

    def run(self) -> None:
        """Submit once and wait.

        A CUDA device raises DeviceError when that fails, the emulated one GateFailure with what
        the kernel did wrong.
        """
        ...

    def repeats(self) -> Iterator[int]:
        """Launch as often again as this device needs to show a race or a barrier left unreset.

        Yields after each batch how many launches it was, so that the caller can look at the
        outputs. Raises what `run` raises.
        """
        ...


class Loaded(Capacity, Protocol):
    """A compiled module made ready on a device; as a Capacity it says what fits."""

    @property
    def module(self) -> CompiledModule: ...

    @property
    def capacity_source(self) -> str:
        """How `blocks_per_sm` knows: "driver" when it is asked, "computed" from a profile."""
        ...

    def prepare(
        self, plan: LaunchPlan, submission: Submission, buffers: Sequence[Buffer]
    ) -> Prepared:
        """Allocate `buffers`, poison them, and bind the launches of `plan` to them."""
        ...
