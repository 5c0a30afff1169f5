"""Copies of the bundled operator whose kernel is late by a known, small number of clocks.

Every variant is megakernel_row with a chain of additions behind its first barrier, on the path that
all blocks of a row wait for; only the number of rounds differs. So a difference is the chain's.

Compile all of them and print what they cost (no GPU needed): python docs/study/delays.py
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.cases import Case, Operator, Submission, load_operator
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.problem import Problem

PROBLEM = Problem.of(rows=16, columns=131_072)
ARCH = "sm_90"
HEADER = Path(__file__).with_name("delay.cuh")

# What the compiler has the issue of one step, and of the end of a round, wait for on sm_90. A taken
# branch costs some more: what a delay really is, is measured.
CLOCKS_PER_STEP = 4
CLOCKS_PER_ROUND = 3
STEPS = 8


@dataclass(frozen=True, slots=True)
class Delayed:
    """A variant by the length of its chain: rounds of a loop of STEPS additions."""

    name: str
    rounds: int
    build: int = 0  # read by nobody: another number makes another cubin of the same kernel

    @property
    def nominal_clocks(self) -> int:
        """How much later than `sound` it is meant to be; what it really is must be measured."""
        return (self.rounds - 1) * (CLOCKS_PER_STEP * STEPS + CLOCKS_PER_ROUND)

    @property
    def constants(self) -> tuple[tuple[str, int], ...]:
        return (
            ("DELAY_ROUNDS", self.rounds),
            ("DELAY_STEPS", STEPS),
            ("DELAY_BUILD", self.build),
        )


# Percent of 7.9 us at 1.98 GHz, which are 15642 clocks: the sound kernel on an H200.
DELAYED = (
    Delayed("sound", 1),
    Delayed("twin", 1, build=1),
    Delayed("delay_0_25", 2),
    Delayed("delay_0_5", 3),
    Delayed("delay_1", 5),
    Delayed("delay_1_5", 7),
    Delayed("delay_2", 9),
    Delayed("delay_3", 13),
    Delayed("delay_5", 21),
    Delayed("delay_10", 41),
)

# (old, new) in megakernel_row.cu; each old text stands there once.
PLANTED = (
    ('#include "retained_tile.cuh"\n', '#include "delay.cuh"\n#include "retained_tile.cuh"\n'),
    (
        "    if (threadIdx.x < WARP_THREADS) row_barrier(barrier, 0);\n",
        (
            "    if (threadIdx.x < WARP_THREADS) {\n        row_barrier(barrier, 0);\n"
            "        delay_warp();\n    }\n"
        ),
    ),
)

# Behind the copied __init__.py, whose OPERATOR it replaces.
APPENDED = """
from dataclasses import replace

OPERATOR = replace(
    OPERATOR,
    problems=(Problem.of({problem}),),
    variants=tuple(
        replace(
            megakernel_row.VARIANT,
            name=name,
            constants=(*megakernel_row.VARIANT.constants, *constants),
        )
        for name, constants in {table!r}
    ),
)
"""


def make_operator(folder: Path) -> Operator:
    """Write the operator with the variants of DELAYED into `folder`, which must not exist yet."""
    shutil.copytree(OPERATOR.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HEADER, folder)
    source = folder / "megakernel_row.cu"
    source.write_text(planted(source.read_text()))
    with (folder / "__init__.py").open("a") as module:
        table = tuple((one.name, one.constants) for one in DELAYED)
        sizes = ", ".join(f"{name}={size}" for name, size in PROBLEM.dims)
        module.write(APPENDED.format(problem=sizes, table=table))
    return load_operator(folder)


def planted(text: str) -> str:
    """Return the kernel's source with the call of the delay in it."""
    for old, new in PLANTED:
        if text.count(old) != 1:
            raise ValueError(f"the kernel must say {old!r} once, it does {text.count(old)} times")
        text = text.replace(old, new)
    return text


def delayed_cases(operator: Operator, submission: Submission) -> tuple[Case, ...]:
    """Return every variant on PROBLEM, in the order of DELAYED."""
    return operator.cases(problems=(PROBLEM,), submissions=(submission,))


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        operator = make_operator(Path(temporary) / "operator")
        checker = Checker(None, ARCH)
        for one, case in zip(DELAYED, delayed_cases(operator, Submission.GRAPH), strict=True):
            sys.stdout.write(f"{one.name:12}{one.nominal_clocks:6} clocks  {cost(case, checker)}\n")


def cost(case: Case, checker: Checker) -> str:
    """Say what a case costs, or why it does not pass the stages before a launch."""
    checked = checker.check(case, lambda _case_id, _step: None, numerics=False)
    if checked.failure is not None or checked.residency is None:
        return f"failed: {checked.failure}"
    tightest = checked.residency.tightest
    registers = tightest.kernel.registers_per_thread
    return f"{registers} registers, {tightest.blocks_per_sm} blocks per SM"


if __name__ == "__main__":
    main()
