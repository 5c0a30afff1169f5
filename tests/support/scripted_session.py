"""A session of timing whose cases follow scripts instead of running on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import Any

import numpy as np
import pytest

from fake_cuda import FakeContext
from pytest_rmsperf.cases import Case
from pytest_rmsperf.device.session import Session, TimedCase
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Timing

OUTPUT = np.ones(4, np.float32)
THREE_BLOCKS = Protocol(blocks=3, completions_per_block=2, precision_ppm=0)


@dataclass
class Scripted:
    """Stands for a rotation with its clock, and for its copies, of which it has one.

    `device_ns` are the figures of its clock in turn; `done` is what was asked of it.
    """

    device_ns: Iterator[int] = field(default_factory=lambda: repeat(8000))
    timing: Timing = Timing.GRAPH
    launches: int = 64
    output: Any = field(default_factory=OUTPUT.copy)
    outside: tuple[str, ...] = ()
    poisoned: int = 0
    done: list[str] = field(default_factory=list)
    context: FakeContext = field(default_factory=FakeContext)

    @property
    def memory(self) -> Scripted:
        return self

    @property
    def parts(self) -> list[Scripted]:
        return [self]

    def time_ns(self) -> int:
        self.done.append("device")
        return next(self.device_ns)

    def complete(self, completions: int) -> list[int]:
        self.done.append(f"{completions} completions")
        return [14_000] * completions

    def run(self) -> None:
        assert self.poisoned, "launched on memory that was not poisoned"

    def poison(self) -> None:
        self.poisoned += 1

    def renew(self) -> None:
        self.done.append("renewed")

    def reset_state(self) -> None:
        self.done.append("state zeroed")

    def outputs(self) -> dict[str, Any]:
        return {"y": self.output}

    def damaged(self) -> list[str]:
        return list(self.outside)


@dataclass
class Bench:
    """A session whose cases follow scripts by the letter of their place: a, b, c, d.

    Every look at its clock takes `tick_s`; `said` and `slept_s` are what the session did.
    """

    patch: pytest.MonkeyPatch
    tick_s: float = 0.0
    said: list[tuple[str, str]] = field(default_factory=list)
    slept_s: list[float] = field(default_factory=list)

    def session(
        self, cases: Sequence[Case], protocol: Protocol = THREE_BLOCKS, **scripted: Scripted
    ) -> Session:
        def prepare(_: Session, case: Case) -> TimedCase:
            script: Any = scripted.setdefault("abcd"[cases.index(case)], Scripted())
            return TimedCase(case, script, script, {"y": OUTPUT.copy()})

        self.patch.setattr(Session, "_prepare", prepare)
        self.patch.setattr(Session, "_reserve", lambda *_: None)
        looks = count()
        checker: Any = None
        return Session(
            checker,
            protocol,
            lambda case_id, step: self.said.append((case_id, step)),
            monotonic=lambda: self.tick_s * next(looks),
            sleep=self.slept_s.append,
        )

    def steps(self, step: str) -> list[str]:
        """The cases of which a step was announced."""
        return [case_id for case_id, said in self.said if said == step]
