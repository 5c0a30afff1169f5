"""Tiles, stencils, matrices and rows as CUDA programmers write them, and their classic mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_rmsperf.emulated.library import Grid
from pytest_rmsperf.launch import int64
from zoo import (
    BOUNDS,
    DIVERGENT_BARRIER,
    RACE,
    RANDOM,
    UNWRITTEN,
    WRONG,
    Exhibit,
    Zoo,
    floats,
    integers,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from zoo import Integers

    Bytes = npt.NDArray[np.uint8]

KERNELS = "zoo_tiles.cu"


# ---- what numpy gives ------------------------------------------------------------------------


def mandelbrot(width: int, height: int, limit: int) -> Integers:
    f = np.float32
    px, py = np.meshgrid(np.arange(width, dtype=f), np.arange(height, dtype=f))
    cx, cy = f(-2) + f(3) * px / f(width), f(-1) + f(2) * py / f(height)
    zx, zy, count = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.int32)
    for _ in range(limit):
        inside = zx * zx + zy * zy < 4
        new_x, new_y = zx * zx - zy * zy + cx, f(2) * zx * zy + cy
        zx, zy = np.where(inside, new_x, zx), np.where(inside, new_y, zy)
        count += inside
    return count


def stencil(values: Integers, radius: int) -> Integers:
    return np.convolve(values, np.ones(2 * radius + 1, np.int32), "same").astype(np.int32)


def segmented(values: Integers, heads: Integers) -> Integers:
    sums = np.cumsum(values)
    starts = np.maximum.accumulate(np.where(heads, np.arange(values.size), 0))
    result: Integers = (sums - sums[starts] + values[starts]).astype(np.int32)
    return result


def life(cells: Bytes) -> Bytes:
    shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
    alive = np.sum([np.roll(cells, shift, (0, 1)) for shift in shifts], axis=0)
    result: Bytes = ((alive == 3) | ((alive == 2) & (cells == 1))).astype(np.uint8)
    return result


# ---- the kernels -----------------------------------------------------------------------------

ONE, OTHER = floats(1003), floats(1003)
LEFT, RIGHT = floats(40, 40), floats(40, 40)
WHOLE_LEFT, WHOLE_RIGHT = floats(48, 48), floats(48, 48)
WIDE = floats(50, 70)
PITCHED = floats(6, 40)
MATRIX, VECTOR = floats(13, 200), floats(200)
NUMBERS = integers(-99, 99, 500)
KEYS = RANDOM.integers(0, 2**32, 200, dtype=np.uint32)
HEADS = (RANDOM.random(250) < 0.1).astype(np.int32)
HEADS[0] = 1
CELLS = RANDOM.integers(0, 2, (32, 48), dtype=np.uint8)

SPARSE = np.where(RANDOM.random((21, 60)) < 0.4, floats(21, 60), np.float32(0))
ROW_STARTS = np.concatenate([[0], np.cumsum((SPARSE != 0).sum(axis=1))]).astype(np.int32)
COLUMNS = np.nonzero(SPARSE)[1].astype(np.int32)
VALUES = SPARSE[SPARSE != 0]
SPARSE_VECTOR = floats(60)

EXHIBITS = (
    Exhibit(
        "vectorAdd",
        (ONE, OTHER),
        ONE + OTHER,
        Grid(3, 128),
        (1003,),
        (BOUNDS,),
    ),
    Exhibit(
        "copyPitched",
        (PITCHED,),
        np.ascontiguousarray(PITCHED[:, :33]),
        Grid(2, 128),
        (int64(40), 33, 6),
        ("integer overflow",),
    ),
    Exhibit(
        "mandelbrot",
        (),
        mandelbrot(40, 30, 50),
        Grid(10, 128),
        (40, 30, 50),
    ),
    Exhibit(
        "matrixMul",
        (LEFT, RIGHT),
        LEFT @ RIGHT,
        Grid(9, 256),
        (40,),
        (UNWRITTEN, RACE, BOUNDS),
        tolerance=1e-4,
    ),
    Exhibit(
        "matrixMulDoubleBuffered",
        (WHOLE_LEFT, WHOLE_RIGHT),
        WHOLE_LEFT @ WHOLE_RIGHT,
        Grid(9, 256),
        (48,),
        (RACE, UNWRITTEN),
        tolerance=1e-4,
    ),
    Exhibit(
        "transposeNoBankConflicts",
        (WIDE,),
        np.ascontiguousarray(WIDE.T),
        Grid(6, 256),
        (70, 50),
        (RACE, UNWRITTEN),
    ),
    Exhibit(
        "gemvVectorized",
        (MATRIX, VECTOR),
        MATRIX @ VECTOR,
        Grid(4, 128),
        (13, 200),
        tolerance=1e-4,
    ),
    Exhibit(
        "spmvCsrVector",
        (ROW_STARTS, COLUMNS, VALUES, SPARSE_VECTOR),
        SPARSE @ SPARSE_VECTOR,
        Grid(6, 128),
        (21,),
        (BOUNDS, "divergent warp"),
        tolerance=1e-4,
    ),
    Exhibit(
        "stencil1d",
        (NUMBERS,),
        stencil(NUMBERS, 3),
        Grid(4, 128),
        (500,),
        (UNWRITTEN, BOUNDS),
    ),
    Exhibit(
        "bitonicSort",
        (KEYS,),
        np.sort(KEYS),
        Grid(1, 256, dynamic_smem_bytes=1024),
        (200,),
        (RACE, DIVERGENT_BARRIER),
    ),
    Exhibit(
        "segmentedScan",
        (NUMBERS[:250], HEADS),
        segmented(NUMBERS[:250], HEADS),
        Grid(1, 256),
        (250,),
        (RACE, WRONG),
    ),
    Exhibit(
        "gameOfLife",
        (CELLS,),
        life(CELLS),
        Grid(6, 256),
        (48, 32),
        (UNWRITTEN,),
    ),
)


class TestZoo(Zoo):
    """The kernels of this file."""

    EXHIBITS = EXHIBITS
