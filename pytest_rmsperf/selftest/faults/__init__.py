"""The operator that faults are planted in: the share of each element in its row's sum.

x and y are float32 arrays of shape (rows, columns), y = x / sum(x of its row). All variants are one
source: the sound kernel, its twin, the same held back by so many clocks, and one for each fault
that is none of time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.accuracy import Precision, Tolerance
from pytest_rmsperf.cases import InputSet, Operator, Variant
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role, buffer
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity, resident_blocks

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

KERNEL = "row_shares"

# 16 blocks, so that the sound kernel is resident on slices of small devices too.
ROWS = 4
BLOCKS_PER_ROW = 4
THREADS_PER_BLOCK = 256
VECTORS_PER_THREAD = 24  # 8.3 us of device time (H200)
COLUMNS = BLOCKS_PER_ROW * THREADS_PER_BLOCK * VECTORS_PER_THREAD * 4
COUNTER_STRIDE = 32  # 128 bytes: a line of memory for each counter

# In the last row, and neither in the first tile nor at the start of a warp.
WRONG_INDEX = (3, 60_044)

# A multiply-add waits 4 clocks for the one before. With the loop around them 2000 took 4.41 us at
# 1980 MHz, which is 4.4 clocks each (H200): a delay is rather longer than it is called.
CLOCKS_PER_STEP = 4
# In clocks, from about half a percent of the sound kernel up. The largest is for thresholds that
# were set very wide.
DELAYS = (88, 176, 352, 880, 1760, 8800)

SOUND, TWIN = "sound", "twin"
WRONG_ELEMENT, ENDLESS, ILLEGAL_ADDRESS = "wrong_element", "endless", "illegal_address"
ONE_BLOCK_TOO_MANY = "one_block_too_many"
_FAULT = {WRONG_ELEMENT: 1, ENDLESS: 2, ILLEGAL_ADDRESS: 3}  # as in the source


def delayed(clocks: int) -> str:
    """Return the name of the variant that is held back by so many clocks."""
    return f"delayed_{clocks}"


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    """x and y, both float32 of shape (rows, columns)."""
    shape = (problem["rows"], problem["columns"])
    return (Buffer("x", Role.INPUT, shape), Buffer("y", Role.OUTPUT, shape))


def sound_plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """One cooperative launch of BLOCKS_PER_ROW blocks for each row."""
    rows = problem["rows"]
    blocks = rows * BLOCKS_PER_ROW
    memory = tuple(map(buffer, ("x", "y", "tile_sums", "counters")))
    launch = KernelLaunch(
        KERNEL,
        blocks,
        THREADS_PER_BLOCK,
        memory,
        cooperative=True,
        waits_on_blocks=True,
        blocks_per_unit=BLOCKS_PER_ROW,
    )
    return LaunchPlan(
        launches=(launch,),
        buffers=(
            Buffer("tile_sums", Role.SCRATCH, (blocks,)),
            Buffer("counters", Role.STATE, (rows, COUNTER_STRIDE), "uint32"),
        ),
        facts=(("blocks_per_row", BLOCKS_PER_ROW),),
        why="the blocks of a row wait for each other",
    )


def too_large_plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    """The same with one block more than the device holds at a time."""
    plan = sound_plan(problem, capacity)
    (launch,) = plan.launches
    limit = resident_blocks(capacity, KERNEL, THREADS_PER_BLOCK, launch.dynamic_smem_bytes)
    return replace(plan, launches=(replace(launch, blocks=limit + 1),))


def inputs(problem: Problem) -> Arrays:
    """x of float32 values between 0.5 and 1.5: no sum cancels."""
    import numpy as np

    shape = (problem["rows"], problem["columns"])
    return {"x": np.random.default_rng(1).random(shape, np.float32) + np.float32(0.5)}


def reference(arrays: Arrays, precision: Precision) -> Arrays:
    """y = x / sum(x of its row)."""
    x = arrays["x"].astype(precision.value)
    return {"y": x / x.sum(axis=1, keepdims=True)}


def _variant(
    name: str, *, clocks: int = 0, is_twin: bool = False, too_large: bool = False
) -> Variant:
    return Variant(
        name=name,
        source=Path(__file__).with_name("row_shares.cu"),
        plan=too_large_plan if too_large else sound_plan,
        constants=(
            ("THREADS_PER_BLOCK", THREADS_PER_BLOCK),
            ("VECTORS_PER_THREAD", VECTORS_PER_THREAD),
            ("BLOCKS_PER_ROW", BLOCKS_PER_ROW),
            ("COUNTER_STRIDE", COUNTER_STRIDE),
            ("DELAY_STEPS", clocks // CLOCKS_PER_STEP),
            ("FAULT", _FAULT.get(name, 0)),
            ("WRONG_ROW", WRONG_INDEX[0]),
            ("WRONG_COLUMN", WRONG_INDEX[1]),
            # The source does not read it: the twin is a module of its own with the same code.
            ("TWIN", int(is_twin)),
        ),
    )


OPERATOR = Operator(
    name="selftest",
    folder=Path(__file__).parent,
    variants=(
        _variant(SOUND),
        _variant(TWIN, is_twin=True),
        *(_variant(delayed(clocks), clocks=clocks) for clocks in DELAYS),
        _variant(WRONG_ELEMENT),
        _variant(ONE_BLOCK_TOO_MANY, too_large=True),
        _variant(ENDLESS),
        _variant(ILLEGAL_ADDRESS),
    ),
    problems=(Problem.of(rows=ROWS, columns=COLUMNS),),
    tensors=tensors,
    reference=reference,
    input_sets=(InputSet("random shares", inputs),),
    tolerance=Tolerance(relative=1e-6, floor=1e-30),
)
