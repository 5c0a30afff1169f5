"""Workers that do chores side by side, ahead of the checks.

Processes and not threads: within one process NVRTC gains little from a second core (49 compiles
took 22 s one after the other and 17 s in threads).
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Protocol as Interface

from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.messages import Chore, Compile, Disassemble
from pytest_rmsperf.supervisor import WorkerProcess

Say = Callable[[str], None]

# A worker is ready after 1.1 s of one core's time, in which four small sources compile.
CHORES_PER_WORKER = 4


class Hand(Interface):
    """What a crew needs of a worker."""

    @property
    def alive(self) -> bool: ...

    def ask(self, request: Chore) -> object: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...


class HandProcess(WorkerProcess):
    """A worker process that another thread may end, whatever it is at."""

    def kill(self) -> None:
        """Kill it at once: who waits for its answer is told that it died."""
        self._signal(signal.SIGKILL)


def crew_size(chores: Sequence[Chore], cpus: int) -> int:
    """Return how many workers are worth starting; fewer than two are none."""
    size = min(cpus, -(-len(chores) // CHORES_PER_WORKER))
    return size if size > 1 else 0


def work_off(chores: Sequence[Chore], size: int, start: Callable[[], Hand], say: Say) -> None:
    """Do chores in `size` workers at a time; what fails is left undone, and nobody is told.

    Each worker is driven by a thread; all workers have ended when this returns or raises.
    """
    board = _Board(chores)
    begun: SimpleQueue[Chore | None] = SimpleQueue()
    threads = [Thread(target=_serve, args=(board, begun, start), daemon=True) for _ in range(size)]
    for thread in threads:
        thread.start()
    try:
        _tell(chores, size, begun, say)
    finally:
        board.stop()
        for thread in threads:
            thread.join()


def _tell(
    chores: Sequence[Chore], threads: int, begun: SimpleQueue[Chore | None], say: Say
) -> None:
    """Say which chore was begun, until every thread has said its None."""
    counts = dict.fromkeys((Compile, Disassemble), 0)
    totals = {kind: sum(isinstance(one, kind) for one in chores) for kind in counts}
    while threads:
        chore = begun.get()
        if chore is None:
            threads -= 1
            continue
        kind = type(chore)
        counts[kind] += 1
        place = f"{counts[kind]} of {totals[kind]}"
        if isinstance(chore, Compile):
            say(f"compile {place}: {chore.case.variant} for {chore.arch}")
        else:
            say(f"disassemble {place}: {chore.arch}")


class _Board:
    """The chores that are left, for several threads; a Disassemble waits for what it reads."""

    def __init__(self, chores: Sequence[Chore]) -> None:
        self._waiting = list(chores)
        self._begun: list[Chore] = []
        self._hands: list[Hand] = []
        self._stopped = False
        self._changed = Condition()

    def take(self) -> Chore | None:
        """Return the next chore as soon as it can be begun; None when there is nothing to do."""
        with self._changed:
            while self._waiting and not self._stopped:
                ready = next(filter(self._is_ready, self._waiting), None)
                if ready is not None:
                    self._waiting.remove(ready)
                    self._begun.append(ready)
                    return ready
                self._changed.wait()
            return None

    def finish(self, chore: Chore) -> None:
        """Take note that a chore is done, or that nobody does it."""
        with self._changed:
            self._begun.remove(chore)
            self._changed.notify_all()

    def stop(self) -> None:
        """Give out no more chores, and kill the workers that are at one."""
        with self._changed:
            self._stopped = True
            for hand in self._hands:
                hand.kill()
            self._changed.notify_all()

    def enlist(self, hand: Hand) -> None:
        """Take note of a worker that `stop` has to kill."""
        with self._changed:
            self._hands.append(hand)
            if self._stopped:
                hand.kill()

    def discharge(self, hand: Hand) -> None:
        """Forget a worker that is about to be closed: its process id may become another's."""
        with self._changed:
            self._hands.remove(hand)

    def _is_ready(self, chore: Chore) -> bool:
        return isinstance(chore, Compile) or not any(
            isinstance(one, Compile) and one.arch == chore.arch
            for one in (*self._waiting, *self._begun)
        )


class _Hired:
    """The worker of one thread, and a new one after each that was lost."""

    def __init__(self, board: _Board, start: Callable[[], Hand]) -> None:
        self._board = board
        self._start = start
        self._hand: Hand | None = None

    def do(self, chore: Chore) -> None:
        """Do a chore; the check of a case meets again what goes wrong here, and tells it."""
        try:
            with suppress(RmsperfError, OSError):
                self._living().ask(chore)
        finally:
            self._board.finish(chore)

    def leave(self) -> None:
        """End the worker."""
        if self._hand is not None:
            self._board.discharge(self._hand)
            with suppress(RmsperfError):
                self._hand.close()
            self._hand = None

    def _living(self) -> Hand:
        if self._hand is None or not self._hand.alive:
            self.leave()
            self._hand = self._start()
            self._board.enlist(self._hand)
        return self._hand


def _serve(board: _Board, begun: SimpleQueue[Chore | None], start: Callable[[], Hand]) -> None:
    """Do chores until there are none, telling each, and then None."""
    hired = _Hired(board, start)
    try:
        while (chore := board.take()) is not None:
            begun.put(chore)
            hired.do(chore)
    finally:
        hired.leave()
        begun.put(None)
