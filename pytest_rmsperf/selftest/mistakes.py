"""Faults that are none of time: each must be told by its name, and cost the next case nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_rmsperf.campaign import Selection, Surveyor
from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.checks import CheckedCase, Machine, Stage
from pytest_rmsperf.selftest.faults import (
    ENDLESS,
    ILLEGAL_ADDRESS,
    ONE_BLOCK_TOO_MANY,
    OPERATOR,
    SOUND,
    WRONG_ELEMENT,
    WRONG_INDEX,
)
from pytest_rmsperf.selftest.rows import Mark, Row

MODE = "check"
NOTHING, NOTHING_AFTER = "nothing", "nothing, after each of these"
RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A fault by its variant, the stage that must end it, and the words that must tell it.

    The line with the last of the words is shown. The emulated device finds the same faults, and
    calls some by other words.
    """

    variant: str
    planted: str
    stage: Stage
    on_cuda: tuple[str, ...]
    emulated: tuple[str, ...]


_WRONG = (f"at index {WRONG_INDEX}",)
_TOO_MANY = ("1 block too many", "blocks at once")  # the line that names the limit

MISTAKES = (
    Mistake(WRONG_ELEMENT, "a wrong element", Stage.NUMERICS, _WRONG, _WRONG),
    Mistake(ONE_BLOCK_TOO_MANY, "one block too many", Stage.RESIDENCY, _TOO_MANY, _TOO_MANY),
    Mistake(
        ENDLESS,
        "a barrier one block short",
        Stage.NUMERICS,
        on_cuda=("no sign of life",),
        emulated=("deadlock",),
    ),
    Mistake(
        ILLEGAL_ADDRESS,
        "an illegal address",
        Stage.NUMERICS,
        on_cuda=("CUDA_ERROR_ILLEGAL_ADDRESS",),
        emulated=("out of bounds",),
    ),
)


def mistake_rows(surveyor: Surveyor) -> tuple[Row, ...]:
    """Check the sound kernel, then each mistake with the sound kernel right after it."""
    machine = surveyor.instrument.machine()
    sound = _case(SOUND)
    problem = _why_not_right(_check(surveyor, sound)[sound.id], machine)
    rows, troubles = [_sound_row(NOTHING, problem, machine)], list[str]()
    for mistake in MISTAKES:
        if mistake.stage is Stage.NUMERICS and machine.why_not_launched:
            rows.append(_row(mistake, machine, machine.why_not_launched, Mark.NOT_RUN))
            continue
        case = _case(mistake.variant)
        checked = _check(surveyor, case, sound)
        rows.append(_told(mistake, machine, checked[case.id]))
        after = _why_not_right(checked[sound.id], machine)
        troubles += [f"after {mistake.planted}: {after}"] if after else []
    return (*rows, _sound_row(NOTHING_AFTER, "; ".join(troubles) or None, machine))


def _sound_row(planted: str, problem: str | None, machine: Machine) -> Row:
    if problem is not None:
        return Row(planted, MODE, RIGHT, problem, Mark.MISSED)
    if machine.why_not_launched:
        return Row(planted, MODE, RIGHT, machine.why_not_launched, Mark.NOT_RUN)
    return Row(planted, MODE, RIGHT, RIGHT, Mark.RIGHT)


def _case(variant: str) -> Case:
    (problem,) = OPERATOR.problems
    return Case(OPERATOR, OPERATOR.variant(variant), Submission.DIRECT, problem)


def _check(surveyor: Surveyor, *cases: Case) -> dict[str, CheckedCase]:
    ids = frozenset(one.id for one in cases)
    selection = Selection(cases, with_numerics=ids, with_latency=frozenset())
    return surveyor.check(selection).checked


def _told(mistake: Mistake, machine: Machine, checked: CheckedCase) -> Row:
    """Return the row of a mistake: it is told by its stage and all of its words."""
    failure, words = checked.failure, _words(mistake, machine)
    if failure is None:
        return _row(mistake, machine, "nothing was found", Mark.MISSED)
    lines = failure.message.splitlines()
    found = next(_excerpts(lines, words[-1]), lines[0])
    is_told = failure.stage is mistake.stage and all(one in failure.message for one in words)
    return _row(mistake, machine, found, Mark.RIGHT if is_told else Mark.MISSED)


def _excerpts(lines: Sequence[str], word: str) -> Iterator[str]:
    """Yield each line with the word, from the word on where it stands behind a case's id."""
    for line in lines:
        before, found, after = line.partition(word)
        if found:
            yield " ".join((found + after if ": " in before else line).split())


def _row(mistake: Mistake, machine: Machine, found: str, mark: Mark) -> Row:
    return Row(mistake.planted, MODE, _words(mistake, machine)[0], found, mark)


def _words(mistake: Mistake, machine: Machine) -> tuple[str, ...]:
    return mistake.on_cuda if machine.device else mistake.emulated


def _why_not_right(checked: CheckedCase, machine: Machine) -> str | None:
    """Return what is wrong with a kernel that should be sound; None for nothing."""
    if checked.failure is not None:
        return checked.failure.message.splitlines()[0]
    if checked.numerics is None and machine.why_not_launched is None:
        return "its outputs were not checked"
    return None
