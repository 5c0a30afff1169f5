"""Locks, queues, barriers and look-back as CUDA programmers write them, and their mistakes."""

from __future__ import annotations

import numpy as np

from pytest_rmsperf.emulated.library import BlockCapacity, Grid
from zoo import (
    BOUNDS,
    DEADLOCK,
    DIVERGENT_BARRIER,
    RACE,
    UNWRITTEN,
    WRONG,
    Exhibit,
    Zoo,
    integers,
)

KERNELS = "zoo_waiting.cu"

NUMBERS = integers(-99, 99, 1000)
SUMS = np.cumsum(NUMBERS, dtype=np.int32)
WORK = integers(-99, 99, 20 * 64)
ROUNDS = integers(-99, 99, 6 * 96)
STEPS = integers(-99, 99, 6 * 64)
RING = integers(-99, 99, 5 * 64)
ONE = np.array([1], np.int32)

EXHIBITS = (
    Exhibit(
        "lookbackVolatile",
        (NUMBERS,),
        SUMS,
        Grid(8, 128),
        (1000,),
        (RACE,),
        counters=1 + 3 * 8,
        capacity=BlockCapacity(1, 4),
    ),
    Exhibit(
        "lookbackAtomicRef",
        (NUMBERS,),
        SUMS,
        Grid(8, 128),
        (1000,),
        (WRONG, UNWRITTEN),
        counters=2 * (1 + 8),
        capacity=BlockCapacity(1, 4),
    ),
    Exhibit(
        "workQueue",
        (WORK,),
        WORK * WORK,
        Grid(3, 64),
        (20,),
        (RACE, RACE, BOUNDS),
        counters=1,
    ),
    Exhibit(
        "producerConsumer",
        (ROUNDS,),
        2 * ROUNDS.reshape(6, 96)[:, ::-1],
        Grid(1, 128),
        (6,),
        (DEADLOCK, DIVERGENT_BARRIER),
    ),
    Exhibit(
        "barrierPipeline",
        (STEPS,),
        STEPS.reshape(6, 64)[:, ::-1] + 1,
        Grid(1, 128),
        (6,),
        (DEADLOCK, UNWRITTEN, DEADLOCK),
    ),
    Exhibit(
        "mutexPerBlock",
        (),
        ONE,
        Grid(4, 64),
        (3,),
        (RACE, RACE, DEADLOCK),
        counters=65,
    ),
    Exhibit("lockPerThread", (), 64 * ONE, Grid(1, 64), (), (DEADLOCK,), counters=2),
    Exhibit("ticketLock", (), ONE.repeat(120), Grid(3, 40), (), (RACE, RACE, DEADLOCK), counters=3),
    Exhibit(
        "shiftAround",
        (RING,),
        np.roll(RING, 10),
        Grid(5, 64, cooperative=True),
        (RING.size, 5),
        (RACE, RACE, RACE),
        counters=65,
        launches=2,
    ),
    Exhibit("waitForAWhile", (), 7 * ONE, Grid(2, 1), (1_000_000,), (WRONG,), counters=1),
)


class TestZoo(Zoo):
    """The kernels of this file."""

    EXHIBITS = EXHIBITS
