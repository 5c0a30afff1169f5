"""Votes, tables, atomics and carved shared memory as CUDA programmers use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_rmsperf.emulated.library import Grid
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

    from zoo import Floats, Integers

    Words = npt.NDArray[np.uint32]

KERNELS = "zoo_words.cu"


def digit_counts(keys: Words, blocks: int, threads: int) -> Integers:
    block_of = np.arange(keys.size) // threads % blocks
    counts = np.zeros((blocks, 16), np.int32)
    np.add.at(counts, (block_of, keys >> 8 & 15), 1)
    return counts


def evens_first(numbers: Integers) -> Integers:
    evens = numbers[numbers % 2 == 0]
    return np.concatenate([evens, np.zeros(numbers.size - evens.size, np.int32)])


def generated(seeds: Words, steps: int) -> Words:
    s = seeds.copy()
    for _ in range(steps):
        s = s * np.uint32(1664525) + np.uint32(1013904223)
    bits = np.array([int(f"{one:032b}"[::-1], 2) for one in s], np.uint32)
    high = (s.astype(np.uint64) * np.uint64(0x9E3779B9) >> np.uint64(32)).astype(np.uint32)
    return s ^ bits ^ high


def activated(x: Floats) -> Floats:
    i = np.arange(x.size)
    v = 2 * x - 1
    v = np.choose(i % 3, [np.maximum(v, 0), v * v, v])
    sums = v * np.array([1, 2, 3, 1])[i % 4] + np.polyval(0.5 ** np.arange(5)[::-1], v)
    return np.asarray(sums, np.float32)


def attention(queries: Floats, keys: Floats, values: Floats) -> Floats:
    powers = np.exp(queries @ keys.T / np.sqrt(queries.shape[1]))
    return np.asarray(powers / powers.sum(1, keepdims=True) @ values, np.float32)


KEYS = RANDOM.integers(0, 2**32, 1000, np.uint32)
WORDS = RANDOM.integers(0, 2**32, 64, np.uint32)
SMALL = integers(-99, 99, 64).astype(np.float32)
NUMBERS, PARTLY = integers(-99, 99, 250), integers(-99, 99, 200)
SIZES, POINTS = 100 * floats(700), 4 * floats(100) - 1
QUERIES, CONTEXT, VALUES = floats(3, 24), floats(50, 24), floats(50, 24)

EXHIBITS = (
    Exhibit(
        "radixHistogram",
        (KEYS,),
        digit_counts(KEYS, 2, 128),
        Grid(2, 128),
        (1000, 8),
        ("divergent warp", RACE),
    ),
    Exhibit(
        "halvesReversed",
        (SMALL,),
        SMALL[::-1] + np.repeat([SMALL[56:].sum(), 0], 32).astype(np.float32),
        Grid(1, 64),
        (),
        (UNWRITTEN, WRONG),
    ),
    Exhibit("compactEven", (NUMBERS,), evens_first(NUMBERS), Grid(1, 256), (250,), (RACE, WRONG)),
    Exhibit(
        "leaveEarly",
        (PARTLY,),
        np.concatenate([PARTLY[127::-1], PARTLY[:127:-1]]),
        Grid(2, 128),
        (200,),
        (DIVERGENT_BARRIER, UNWRITTEN),
    ),
    Exhibit(
        "largestFloat",
        (SIZES,),
        np.array([SIZES[np.arange(700) // 128 % 2 == block].max() for block in (0, 1)]),
        Grid(2, 128),
        (700,),
        (RACE,),
        counters=1,
    ),
    Exhibit("lcgRandom", (WORDS,), generated(WORDS, 10), Grid(1, 64), (10,), ("integer overflow",)),
    Exhibit(
        "functionsAndTables",
        (POINTS,),
        activated(POINTS),
        Grid(1, 128),
        (100,),
        (WRONG, "invalid operation", BOUNDS),
        tolerance=1e-4,
    ),
    Exhibit(
        "attentionRow",
        (QUERIES, CONTEXT, VALUES),
        attention(QUERIES, CONTEXT, VALUES),
        Grid(3, 64, dynamic_smem_bytes=4 * (24 + 50 + 64)),
        (50, 24),
        (UNWRITTEN, RACE, BOUNDS),
        tolerance=1e-4,
    ),
)


class TestZoo(Zoo):
    """The kernels of this file."""

    EXHIBITS = EXHIBITS
