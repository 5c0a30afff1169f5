"""Several workers at chores: each is done once, in a possible order, and Ctrl-C ends them all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Timer

import pytest

from pytest_rmsperf.cases import CaseReference, Submission
from pytest_rmsperf.crew import Hand, HandProcess, crew_size, work_off
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.errors import WorkerError
from pytest_rmsperf.messages import Chore, Compile, Disassemble, WorkerSettings
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.supervisor import Deadlines

WAIT_S = 20
PROBLEM = Problem.of(rows=3)


def reference(variant: str, folder: Path = Path("op")) -> CaseReference:
    return CaseReference(folder, variant, Submission.DIRECT, PROBLEM)


def compile_of(variant: str, arch: str = "sm_90") -> Compile:
    return Compile(reference(variant), arch)


def disassemble_of(arch: str = "sm_90") -> Disassemble:
    return Disassemble((reference("row"),), arch)


@dataclass
class Shop:
    """Makes workers that note what they are asked, and lose what they are told to lose.

    `held` are variants whose compile waits until its worker is killed, or `released` is set.
    """

    lost: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    begun: list[Chore] = field(default_factory=list)
    ended: list[Chore] = field(default_factory=list)
    hands: list[FakeHand] = field(default_factory=list)
    released: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def start(self) -> Hand:
        with self.lock:
            self.hands.append(FakeHand(self))
            return self.hands[-1]

    def do(self, *chores: Chore, size: int = 2, say: Callable[[str], None] | None = None) -> None:
        work_off(chores, size, self.start, say or (lambda _: None))


class FakeHand:
    def __init__(self, shop: Shop) -> None:
        self.alive = True
        self.is_closed = False
        self._shop = shop
        self._killed = Event()

    def ask(self, request: Chore) -> object:
        self._shop.begun.append(request)
        variant = request.case.variant if isinstance(request, Compile) else ""
        while variant in self._shop.held and not self._shop.released.wait(0.01):
            if self._killed.is_set():
                self.alive = False
                raise WorkerError("killed")
        if variant in self._shop.lost:
            self.alive = variant != "crashes"
            raise WorkerError("no")
        self._shop.ended.append(request)
        return None

    def kill(self) -> None:
        self._killed.set()

    def close(self) -> None:
        self.is_closed = True


ROW, TILE, GRID = compile_of("row"), compile_of("tile"), compile_of("grid")


def test_every_chore_is_done_once() -> None:
    shop = Shop()
    chores = [compile_of(f"v{number}") for number in range(20)]

    shop.do(*chores, size=4)

    assert sorted(shop.ended, key=str) == sorted(chores, key=str)


def test_no_more_workers_are_started_than_asked_for_and_all_are_closed() -> None:
    shop = Shop()

    shop.do(*(compile_of(f"v{number}") for number in range(9)), size=3)

    assert 1 <= len(shop.hands) <= 3
    assert all(one.is_closed for one in shop.hands)


def test_an_arch_is_disassembled_after_its_last_cubin() -> None:
    shop = Shop(held=frozenset({"row"}))
    Timer(0.2, shop.released.set).start()

    shop.do(ROW, TILE, disassemble_of(), size=2)

    assert shop.ended == [TILE, ROW, disassemble_of()]


def test_another_arch_is_disassembled_while_one_is_still_compiled() -> None:
    shop = Shop(held=frozenset({"row"}))

    def release(text: str) -> None:
        if text == "disassemble 1 of 1: sm_89":
            shop.released.set()

    shop.do(ROW, compile_of("tile", "sm_89"), disassemble_of("sm_89"), size=2, say=release)

    assert shop.ended == [compile_of("tile", "sm_89"), disassemble_of("sm_89"), ROW]


@pytest.mark.parametrize("variant", ["refuses", "crashes"])
def test_a_chore_that_fails_is_left_undone_and_costs_no_other(variant: str) -> None:
    shop = Shop(lost=frozenset({variant}))

    shop.do(compile_of(variant), ROW, TILE, disassemble_of(), size=1)

    assert shop.ended == [ROW, TILE, disassemble_of()]


@pytest.mark.parametrize(("variant", "workers"), [("refuses", 1), ("crashes", 2)])
def test_a_worker_that_refuses_goes_on_and_one_that_crashes_is_replaced(
    variant: str, workers: int
) -> None:
    shop = Shop(lost=frozenset({variant}))

    shop.do(compile_of(variant), ROW, size=1)

    assert [one.is_closed for one in shop.hands] == [True] * workers


def test_a_worker_that_cannot_be_started_leaves_everything_to_the_checks() -> None:
    def start() -> Hand:
        raise BlockingIOError("no more processes")

    said: list[str] = []
    work_off((ROW, TILE), 2, start, said.append)

    assert len(said) == 2


def test_progress_counts_cubins_and_archs_apart() -> None:
    said: list[str] = []

    Shop().do(ROW, TILE, disassemble_of(), size=1, say=said.append)

    assert said == [
        "compile 1 of 2: row for sm_90",
        "compile 2 of 2: tile for sm_90",
        "disassemble 1 of 1: sm_90",
    ]


def test_an_interrupt_kills_every_worker_and_begins_nothing_more() -> None:
    shop = Shop(held=frozenset({"row", "tile"}))

    def interrupt(text: str) -> None:
        if text.startswith("compile 2"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shop.do(ROW, TILE, GRID, size=2, say=interrupt)

    assert GRID not in shop.begun
    assert (shop.ended, [one.is_closed for one in shop.hands]) == ([], [True, True])


@pytest.mark.parametrize(
    ("chores", "cpus", "size"),
    [(0, 8, 0), (4, 8, 0), (5, 8, 2), (5, 1, 0), (49, 2, 2), (49, 128, 13)],
)
def test_a_worker_is_started_for_every_four_chores_and_at_most_one_for_each_cpu(
    chores: int, cpus: int, size: int
) -> None:
    assert crew_size([ROW] * chores, cpus) == size


# ---- a real process --------------------------------------------------------------------------


def test_an_interrupt_ends_a_process_that_is_at_work(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("import time\ntime.sleep(600)\n")
    settings = WorkerSettings("sm_90", DeviceChoice.NONE)
    hands: list[HandProcess] = []

    def start() -> Hand:
        hands.append(HandProcess(settings, Deadlines(step_s=WAIT_S)))
        return hands[-1]

    def interrupt(text: str) -> None:
        deadline = time.monotonic() + WAIT_S
        while not hands and time.monotonic() < deadline:
            time.sleep(0.01)
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work_off([Compile(reference("row", tmp_path), "sm_90")], 1, start, interrupt)

    assert [one.alive for one in hands] == [False]
    assert time.monotonic() - started < WAIT_S
