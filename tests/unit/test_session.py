"""A session of timing, over cases that follow a script instead of a device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pytest_rmsperf.cases import Case
from pytest_rmsperf.device.session import Session, TimedCase
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.measurement import Protocol

CASES = OPERATOR.cases()[:3]
OUTPUT = np.ones(4, np.float32)


@dataclass
class Scripted:
    """Stands for an invocation with its memory and its unrolled launches."""

    launches: int = 64
    output: Any = field(default_factory=OUTPUT.copy)
    outside: tuple[str, ...] = ()
    poisoned: int = 0

    @property
    def memory(self) -> Scripted:
        return self

    def time_ns(self) -> int:
        return 8000

    def complete(self, count: int) -> list[int]:
        return [14_000] * count

    def run(self) -> None:
        assert self.poisoned, "launched on memory that was not poisoned"

    def poison(self) -> None:
        self.poisoned += 1

    def outputs(self) -> dict[str, Any]:
        return {"y": self.output}

    def damaged(self) -> list[str]:
        return list(self.outside)


def session_of(
    monkeypatch: pytest.MonkeyPatch, said: list[tuple[str, str]], **scripted: Scripted
) -> Session:
    """A session in which each case follows its script, by the place of the case: a, b, c."""

    def prepare(self: Session, case: Case) -> TimedCase:
        invocation: Any = scripted.get("abc"[CASES.index(case)], Scripted())
        return TimedCase(case, invocation, invocation, {"y": OUTPUT.copy()})

    monkeypatch.setattr(Session, "_prepare", prepare)
    checker: Any = None
    protocol = Protocol(blocks=3, completions_per_block=2)
    return Session(checker, protocol, lambda case_id, step: said.append((case_id, step)))


def test_each_case_gets_one_device_sample_and_its_completions_per_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = session_of(monkeypatch, []).measure(CASES)

    assert [one.device_ns for one in found.values()] == [(8000,) * 3] * 3
    assert [one.completion_ns for one in found.values()] == [(14_000,) * 6] * 3
    assert [one.launches_per_graph for one in found.values()] == [64] * 3


def test_cases_take_turns_and_every_turn_starts_at_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[str, str]] = []

    session_of(monkeypatch, said).measure(CASES)

    ids = [case.id for case in CASES]
    order = [ids.index(case_id) for case_id, step in said if step == "time"]
    warm_up, turns = order[:3], order[3:]
    assert warm_up == [0, 1, 2]
    assert turns == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_a_case_that_depends_on_what_an_earlier_launch_left_is_wrong_after_timing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_of(monkeypatch, [], b=Scripted(output=OUTPUT * 2))

    with pytest.raises(GateFailure, match=rf"^wrong after timing: {CASES[1].id} "):
        session.measure(CASES)


def test_a_case_that_writes_outside_while_it_is_timed_is_named_with_the_buffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_of(monkeypatch, [], c=Scripted(outside=("y",)))

    with pytest.raises(GateFailure, match=rf"^wrong while timed: {CASES[2].id} .* outside of y\n"):
        session.measure(CASES)


def test_the_last_step_announced_is_of_the_case_that_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[str, str]] = []

    with pytest.raises(GateFailure):
        session_of(monkeypatch, said, b=Scripted(output=OUTPUT * 2)).measure(CASES)

    assert said[-1] == (CASES[1].id, "check again")
