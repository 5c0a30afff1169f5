"""Sums, norms and grid-wide reductions as CUDA programmers write them, and their mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_rmsperf.emulated.library import Grid
from zoo import (
    BOUNDS,
    RACE,
    SEEDS,
    UNWRITTEN,
    WRONG,
    Exhibit,
    Zoo,
    floats,
    integers,
)

if TYPE_CHECKING:
    from tests.unit.emulated.device.conftest import Program
    from zoo import Floats

KERNELS = "zoo_reductions.cu"


def sums_and_squares(numbers: Floats, blocks: int, threads: int) -> Floats:
    padded = np.zeros(blocks * threads * 4, np.float32)
    padded[: numbers.size] = numbers
    parts = padded.reshape(-1, blocks, threads)
    sums, squares = parts.sum((0, 2)), (parts * parts).sum((0, 2))
    return np.stack([sums, squares], 1).astype(np.float32)


def softmax(rows: Floats) -> Floats:
    powers = np.exp(rows - rows.max(1, keepdims=True))
    result: Floats = powers / powers.sum(1, keepdims=True)
    return result


def layer_norm(rows: Floats, gamma: Floats, beta: Floats) -> Floats:
    centred = rows - rows.mean(1, keepdims=True)
    scaled = centred / np.sqrt(rows.var(1, keepdims=True) + np.float32(1e-5))
    result: Floats = scaled * gamma + beta
    return result


WORDS = integers(-99, 99, 512)
MANY = integers(-99, 99, 600)
PADDED = np.concatenate([MANY, np.zeros(1024 - 600, np.int32)])
NUMBERS = floats(3000)
ROWS = 10 * floats(3, 500)
HIDDEN, GAMMA, BETA = floats(5, 100), floats(100), floats(100)
HALVES, WEIGHTS = floats(2, 300).astype(np.float16), floats(300).astype(np.float16)
WIDENED = HALVES.astype(np.float64)
NORMED = WIDENED / np.sqrt((WIDENED**2).mean(1, keepdims=True) + 1e-5) * WEIGHTS
POSITIVE = np.zeros(1000, np.int32)
SIGNED = integers(-9, 9, 1000)
POSITIVE[: (SIGNED > 0).sum()] = 1

EXHIBITS = (
    Exhibit(
        "reduce0",
        (WORDS,),
        WORDS.reshape(2, 256).sum(1, dtype=np.int32),
        Grid(2, 256, dynamic_smem_bytes=1024),
        mutants=(RACE,),
    ),
    Exhibit(
        "reduceSyncwarp",
        (MANY,),
        PADDED.reshape(2, 512).sum(1, dtype=np.int32),
        Grid(2, 256, dynamic_smem_bytes=1024),
        (600,),
        (RACE, RACE),
    ),
    Exhibit(
        "deviceReduceTwice",
        (NUMBERS,),
        sums_and_squares(NUMBERS, 3, 256),
        Grid(3, 256),
        (3000,),
        (RACE, UNWRITTEN),
        tolerance=1e-4,
    ),
    Exhibit(
        "sumsOfEight",
        (WORDS,),
        WORDS.reshape(-1, 8).sum(1, dtype=np.int32),
        Grid(4, 128),
        mutants=(WRONG,),
    ),
    Exhibit(
        "reduceSinglePass",
        (NUMBERS,),
        NUMBERS.sum(keepdims=True),
        Grid(5, 128),
        (3000,),
        (WRONG, UNWRITTEN, RACE),
        counters=6,
        launches=2,
        tolerance=1e-4,
    ),
    Exhibit(
        "clusterSum",
        (WORDS,),
        WORDS.reshape(2, 256).sum(1, dtype=np.int32).repeat(4),
        Grid(8, 64, blocks_per_cluster=4),
        mutants=(UNWRITTEN, "peer has left"),
    ),
    Exhibit(
        "tilesOfEight",
        (MANY,),
        PADDED[:640].reshape(-1, 8).sum(1, dtype=np.int32),
        Grid(5, 128),
        (600,),
        counters=1,
    ),
    Exhibit(
        "filterPositive",
        (SIGNED,),
        POSITIVE,
        Grid(3, 128, cooperative=True),
        (1000,),
        (RACE,),
        counters=1,
    ),
    Exhibit(
        "onlineSoftmax",
        (ROWS,),
        softmax(ROWS),
        Grid(3, 128),
        (500,),
        (UNWRITTEN, UNWRITTEN),
        tolerance=1e-5,
    ),
    Exhibit(
        "layerNormWelford",
        (HIDDEN, GAMMA, BETA),
        layer_norm(HIDDEN, GAMMA, BETA),
        Grid(2, 128),
        (5, 100, 1e-5),
        (WRONG, BOUNDS),
        tolerance=1e-4,
    ),
    Exhibit(
        "rmsNormHalf",
        (HALVES, WEIGHTS),
        NORMED.astype(np.float16),
        Grid(2, 128),
        (300, 1e-5),
        tolerance=3e-3,
    ),
)


class TestZoo(Zoo):
    """The kernels of this file."""

    EXHIBITS = EXHIBITS


# Volatile accesses order the lanes' accesses, so that this is no race; but nothing lets one lane
# wait for another, and a GPU since Volta gives the same wrong sum.
def test_sum_that_trusts_the_lanes_to_go_step_by_step_is_wrong(program: Program) -> None:
    exhibit = Exhibit(
        "reduceVolatile",
        (WORDS[:64],),
        WORDS[:64].sum(keepdims=True),
        Grid(1, 64),
    )

    assert {exhibit.outcome(program, seed) for seed in SEEDS} == {WRONG}
