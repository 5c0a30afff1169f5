"""Samples taken by the gate, shown by pytest-benchmark: its table, JSON, compare and histogram.

pytest-benchmark times a function with a timer that a marker may set. Here the timer is a clock that
stands still, and each call of the function moves it on by one stored sample, so what it reports is
what was measured, to the nanosecond. Only its documented interface is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol as Interface

NANOSECONDS = 1e-9


class Benchmark(Interface):
    """The part of pytest-benchmark's fixture that is used."""

    extra_info: dict[str, object]

    def pedantic(
        self, target: Callable[[], None], *, setup: Callable[[], None], rounds: int, iterations: int
    ) -> object: ...


@dataclass(slots=True)
class ReplayClock:
    """A timer in seconds that moves only when it is told to."""

    now_ns: int = 0

    def __call__(self) -> float:
        return self.now_ns * NANOSECONDS

    def advance(self, nanoseconds: int) -> None:
        self.now_ns += nanoseconds

    def reset(self) -> None:
        """Go back to zero, where float seconds are exact to far below a nanosecond."""
        self.now_ns = 0


def replay(
    benchmark: Benchmark, clock: ReplayClock, samples_ns: Sequence[int], **extra_info: object
) -> None:
    """Run one round of `benchmark` per sample; `clock` must be the timer it was given."""
    samples = iter(samples_ns)
    benchmark.extra_info.update(extra_info)
    benchmark.pedantic(
        lambda: clock.advance(next(samples)),
        setup=clock.reset,
        rounds=len(samples_ns),
        iterations=1,
    )
