"""What may go wrong in the bundled kernels is found, whichever of these changes is made to them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.cases import Case, Submission, Variant
from pytest_rmsperf.emulated.addresses import check_addresses
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.launch import int32
from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program

PROBLEM = Problem.of(rows=3, columns=3 * 4096 + 4)

# In front of everything: which of the changes is in force. To compile them one by one would take
# a second each.
CHOICE = """
__device__ int mutant = 0;
extern "C" __global__ void choose_mutant(int number) { mutant = number; }
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A variant of whose files one has, behind `anchor`, the first `old` replaced by `new`."""

    name: str
    variant: str
    file: str
    anchor: str
    old: str
    new: str
    found: str  # how the message begins

    def apply(self, folder: Path, number: int) -> None:
        """Change the file so that `new` stands for `old` where `number` is chosen."""
        file = folder / self.file
        before, anchor, behind = file.read_text(encoding="utf-8").partition(self.anchor)
        head, old, tail = behind.partition(self.old)
        assert anchor, f"{self.file} has no {self.anchor!r}"
        assert old, f"{self.file} has no {self.old!r} behind {self.anchor!r}"
        if self.old.endswith(";"):
            both = f"if (mutant == {number}) {{ {self.new} }} else {{ {self.old} }}"
        else:
            both = f"(mutant == {number} ? ({self.new}) : ({self.old}))"
        file.write_text(before + anchor + head + both + tail, encoding="utf-8")


def without_barrier(name: str, variant: str, file: str, anchor: str, found: str) -> Mutant:
    """Leave out the first __syncthreads() behind the anchor."""
    return Mutant(name, variant, file, anchor, "__syncthreads();", "", found)


UNWRITTEN = "uninitialized read in "
MUTANTS = (
    without_barrier("block_sum", "unfused", "common.cuh", "float block_sum(", UNWRITTEN),
    without_barrier("block_maximum", "unfused", "common.cuh", "float block_maximum(", UNWRITTEN),
    without_barrier(
        "block_statistics", "local_fusion", "common.cuh", "Statistics block_statistics(", UNWRITTEN
    ),
    without_barrier(
        "exponential_sums", "local_fusion", "local_fusion.cu", "eps, &row);", UNWRITTEN
    ),
    without_barrier("normalize", "local_fusion", "local_fusion.cu", "LAST_WARP);", UNWRITTEN),
    without_barrier("row 1", "megakernel_row", "megakernel_row.cu", "eps, &row);", UNWRITTEN),
    without_barrier("row 2", "megakernel_row", "megakernel_row.cu", "&inverse_sum);", UNWRITTEN),
    without_barrier("grid 1", "megakernel_grid", "megakernel_grid.cu", "eps, &row);", UNWRITTEN),
    without_barrier("grid 2", "megakernel_grid", "megakernel_grid.cu", "&inverse_sum);", UNWRITTEN),
    Mutant(
        "a counter that nobody resets",
        "megakernel_row",
        "row_barrier.cuh",
        "void row_barrier(",
        "if (point == 1 && barrier.leader) store_relaxed(barrier.counters, 0);",
        "",
        UNWRITTEN,
    ),
    Mutant(
        "a row barrier for one block too many",
        "megakernel_row",
        "megakernel_row.cu",
        "const RowBarrier barrier =",
        "static_cast<unsigned>(tiles_per_row)",
        "tiles_per_row + 1u",
        "deadlock in megakernel_row: no thread can go on",
    ),
    Mutant(
        "a short tile that is taken for a whole one",
        "local_fusion",
        "common.cuh",
        "bool owns(int i)",
        "column(i) < columns",
        "true",
        "out of bounds in tile_statistics: ",
    ),
    Mutant(
        "a tile that is not written",
        "local_fusion",
        "local_fusion.cu",
        "LAST_WARP);",
        "tile.owns(i)",
        "tile.owns(i) && blockIdx.x != 5",
        "never written: 4096 elements of y, the first at index (1, 4096)",
    ),
)
NARROW_OFFSET = Mutant(
    "an offset in int",
    "local_fusion",
    "common.cuh",
    "long long offset(int i)",
    "row * columns",
    "static_cast<int>(row) * columns",
    "wrong address at 16400x131072: integer overflow in tile_statistics: ",
)

ALL = (*MUTANTS, NARROW_OFFSET)

Choose = Callable[[Mutant | None, Variant], "Program"]


@pytest.fixture(scope="module")
def choose(
    compile_variant: Callable[..., Program], tmp_path_factory: pytest.TempPathFactory
) -> Choose:
    """Return a variant's kernels with one of the changes in force, or with none."""
    folder = tmp_path_factory.mktemp("mutants") / OPERATOR.folder.name
    shutil.copytree(OPERATOR.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for number, mutant in enumerate(ALL, 1):
        mutant.apply(folder, number)
    made: dict[str, Program] = {}

    def chosen(mutant: Mutant | None, variant: Variant) -> Program:
        name = variant.source.name
        if name not in made:
            file = folder / name
            file.write_text(CHOICE + file.read_text(encoding="utf-8"), encoding="utf-8")
            made[name] = compile_variant(variant, file)
        number = ALL.index(mutant) + 1 if mutant else 0
        assert made[name].launch("choose_mutant", int32(number), threads=1) is None
        return made[name]

    return chosen


def launch_twice(program: Program, variant: Variant) -> None:
    """Run the plan by two schedules; what launches leave in counters reaches the next one."""
    plan = variant.plan(PROBLEM, program.module)
    buffers = (*OPERATOR.tensors(PROBLEM), *plan.buffers)
    ready = program.module.prepare(plan, Submission.DIRECT, buffers)
    ready.memory.upload(dict(OPERATOR.input_sets[0].make(PROBLEM)))
    ready.run()
    next(ready.repeats())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.name)
def test_mutant_is_found(choose: Choose, mutant: Mutant) -> None:
    variant = OPERATOR.variant(mutant.variant)

    with pytest.raises(GateFailure) as caught:
        launch_twice(choose(mutant, variant), variant)

    assert str(caught.value).startswith(mutant.found)


@pytest.mark.parametrize("name", sorted({mutant.variant for mutant in ALL}))
def test_kernels_without_a_change_in_force_are_clean(choose: Choose, name: str) -> None:
    variant = OPERATOR.variant(name)

    launch_twice(choose(None, variant), variant)


def test_offset_in_int_is_found_at_the_large_problem_alone(choose: Choose) -> None:
    variant = OPERATOR.variant(NARROW_OFFSET.variant)
    program = choose(NARROW_OFFSET, variant)
    launch_twice(program, variant)

    with pytest.raises(GateFailure) as caught:
        check_addresses(Case(OPERATOR, variant, Submission.DIRECT, PROBLEM), program.module)

    assert str(caught.value).startswith(NARROW_OFFSET.found)
