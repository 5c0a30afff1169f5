"""Numerics on problems that stand in for larger ones, and references that are made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from pytest_rmsperf import numerics
from pytest_rmsperf.accuracy import Numerics, Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Operator, Submission, Variant
from pytest_rmsperf.errors import OperatorError
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


# ---- references ------------------------------------------------------------------------------


def test_a_reference_is_computed_once_for_all_cases_of_a_problem() -> None:
    calls: list[Precision] = []

    def counted(arrays: Arrays, precision: Precision) -> Arrays:
        calls.append(precision)
        return {"y": arrays["x"]}

    references, case = References(), replace(CASE, operator=replace(COPY, reference=counted))
    for _ in range(3):
        references.get(case, COPY.input_sets[0], case.problem, Precision.FLOAT64)

    assert calls == [Precision.FLOAT64]


def test_a_reference_whose_package_is_missing_names_it_and_what_to_install() -> None:
    def reference(*_: object) -> Arrays:
        import no_such_package  # type: ignore[import-not-found]  # noqa: F401

        raise AssertionError

    case = replace(CASE, operator=replace(COPY, reference=reference))

    with pytest.raises(OperatorError, match=r"no_such_package(.|\n)*pytest-rmsperf\[torch\]"):
        References().get(case, COPY.input_sets[0], case.problem, Precision.FLOAT64)
