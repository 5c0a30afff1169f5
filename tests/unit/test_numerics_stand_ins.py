"""Numerics on problems that stand in for larger ones, and what is known of them already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from pytest_rmsperf import numerics
from pytest_rmsperf.accuracy import Numerics, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.numerics import Known, References, check_numerics
from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays
    from pytest_rmsperf.execution import Loaded

PLAN = LaunchPlan((KernelLaunch("copy", 1, 32, ()),), (), (), "a test asks for it")


def ones(problem: Problem) -> Arrays:
    return {"x": np.ones((problem["rows"], problem["columns"]), np.float32)}


COPY = Operator(
    name="copy",
    folder=Path("copy"),
    variants=(Variant("plain", Path("copy.cu"), lambda *_: PLAN),),
    problems=(Problem.of(rows=1, columns=4),),
    tensors=lambda _: (),
    reference=lambda arrays, _: {"y": arrays["x"]},
    input_sets=(InputSet("ones", ones), InputSet("more ones", ones)),
    tolerance=Tolerance(relative=0.125, floor=1.0),
)
CASE = COPY.cases(submissions=(Submission.DIRECT,))[0]


class Copied:
    """A prepared case, and its memory, whose output is its input."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    @property
    def memory(self) -> Copied:
        return self

    def run(self) -> None: ...

    def repeats(self) -> Iterator[int]:
        return iter(())

    def outputs(self) -> dict[str, object]:
        return {"y": self._arrays["x"]}

    def damaged(self) -> list[str]:
        return []

    def overwritten(self, _: Arrays) -> list[str]:
        return []


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of the problems that were prepared."""
    labels: list[str] = []

    def prepare(_: Case, problem: Problem, __: object, arrays: Arrays) -> Copied:
        labels.append(problem.label)
        return Copied(arrays)

    monkeypatch.setattr(numerics, "prepare", prepare)
    return labels


def check(known: Known | None = None, columns: int = 4) -> Numerics:
    """Check the case where `columns` stand for its own."""
    return check_numerics(
        CASE,
        cast("Loaded", None),
        References(),
        lambda _: None,
        stand_in=lambda problem: problem.resized(columns=columns),
        known=known,
    )


def test_every_input_set_runs_on_the_stand_in_of_its_problem(prepared: list[str]) -> None:
    found = check(columns=2)

    assert (found.passed, prepared) == (True, ["1x2", "1x2"])


def test_what_is_known_of_a_stand_in_is_not_launched_again_and_still_shown(
    prepared: list[str],
) -> None:
    known: Known = {}

    first, again = check(known), check(known)

    assert len(prepared) == 2
    assert (first.comparisons == again.comparisons, again.launches) == (True, 0)


def test_another_stand_in_is_launched(prepared: list[str]) -> None:
    known: Known = {}

    check(known, columns=2)
    check(known, columns=3)

    assert prepared == ["1x2", "1x2", "1x3", "1x3"]


def test_without_what_is_known_everything_is_launched(prepared: list[str]) -> None:
    check()
    check()

    assert len(prepared) == 4
