"""One difference between two costs, and the fields of which every difference counts or is noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rmsperf.costs import PlannedLaunch
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.launch import MAX_THREADS_PER_BLOCK
from pytest_rmsperf.resources import CompiledKernel

NOTE = Status.UNCHANGED


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs, and the verdict that it gives by itself: unchanged for a note.

    `causes` are other differences of the same kernel that explain it, `details` what belongs to it,
    and `limited_by` the resource of which there is too little for one more block per SM.
    """

    status: Status
    what: str
    kernel: str = ""  # empty where it is of the whole plan, or names its kernels itself
    causes: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    limited_by: str = ""

    def __str__(self) -> str:
        """The effect before its causes, and always the kernel: it stands among other findings."""
        limited = f", limited by {self.limited_by}" if self.limited_by else ""
        return f"{self._of_kernel}{limited}{_behind((*self.causes, *self.details))}"

    def forwards(self, *, named: bool) -> str:
        """The causes before their effect, and the kernel only where there are several."""
        causes = f"{', '.join(self.causes)}: " if self.causes else ""
        return f"{causes}{self._of_kernel if named else self.what}{_behind(self.details)}"

    @property
    def _of_kernel(self) -> str:
        return f"{self.what} of {self.kernel}" if self.kernel else self.what


@dataclass(frozen=True, slots=True)
class Field:
    """A number that is compared, in words, and what more or less of it is."""

    name: str
    words: str
    unit: str = ""
    more: Status = Status.CHANGED
    less: Status = Status.CHANGED

    def change(self, before: object, after: object) -> str | None:
        """Return how this field of two records differs, such as "registers 40 -> 64 per thread"."""
        old, new = getattr(before, self.name), getattr(after, self.name)
        if old == new:
            return None
        return f"{self.words} {_shown(self, old)} -> {_shown(self, new)} {self.unit}".rstrip()

    def status(self, before: object, after: object) -> Status:
        """Return what a change of this field is."""
        return self.more if getattr(after, self.name) > getattr(before, self.name) else self.less


REGISTERS = Field("registers_per_thread", "registers", "per thread", NOTE, NOTE)
STATIC_SMEM = Field("static_smem_bytes", "static shared bytes", "per block")
DYNAMIC_SMEM = Field("dynamic_smem_bytes", "dynamic shared bytes", "per block")
THREADS = Field("threads_per_block", "threads", "per block")
BOUNDS = Field("max_threads_per_block", "launch bounds")

OF_KERNELS = (
    Field("spill_store_bytes", "spill stores", "bytes per thread", Status.COSTLIER, Status.CHEAPER),
    Field("spill_load_bytes", "spill loads", "bytes per thread", Status.COSTLIER, Status.CHEAPER),
    Field("local_bytes", "local bytes", "per thread", Status.COSTLIER, Status.CHEAPER),
    STATIC_SMEM,
    BOUNDS,
    REGISTERS,
)
OF_LAUNCHES = (
    DYNAMIC_SMEM,
    THREADS,
    Field("blocks", "blocks"),
    Field("blocks_per_cluster", "blocks", "per cluster"),
    Field("must_be_resident", "waits on other blocks"),
)


def field_differences(
    fields: Sequence[Field],
    before: CompiledKernel | PlannedLaunch,
    after: CompiledKernel | PlannedLaunch,
    kernel: str,
) -> list[Difference]:
    """Return the difference of each of these fields that differs, in their order."""
    return [
        Difference(one.status(before, after), change, kernel)
        for one in fields
        if (change := one.change(before, after)) is not None
    ]


def _shown(field: Field, number: int) -> str:
    if isinstance(number, bool):
        return "yes" if number else "no"
    if field is BOUNDS and number == MAX_THREADS_PER_BLOCK:
        return "none"
    return str(number)


def _behind(parts: Sequence[str]) -> str:
    return f": {', '.join(parts)}" if parts else ""
