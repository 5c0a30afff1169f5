"""Outputs against the reference: on poisoned memory, for every input set of the operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet
from pytest_rmsperf.device.launcher import Invocation, LoadedModule
from pytest_rmsperf.device.memory import DeviceMemory
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import check_residency

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pytest_rmsperf.cases import Array, Arrays

    Floats = npt.NDArray[np.float64]

# Launches after the first that must give the same bits: enough for a kernel that resets its
# barriers wrongly to hang or to err, and 5 ms for the slowest case of the bundled operator (H200).
REPEATED_LAUNCHES = 50


# Elements compared at a time: float64 copies of so many stay in a core's cache. Eight million
# elements took 0.17 s in pieces and 1.16 s at once.
CHUNK = 1 << 16

OUTSIDE = "a write just outside the buffer"
OVERWRITTEN = "a write to the input"


class References:
    """Inputs and reference outputs, each made once per process: cases of one problem share them."""

    def __init__(self) -> None:
        self._inputs: dict[tuple[str, str, str], Arrays] = {}
        self._known: dict[tuple[str, str, str, Precision], Arrays] = {}

    def inputs(self, case: Case, inputs: InputSet, problem: Problem) -> Arrays:
        """Return the arrays of `inputs` on `problem`."""
        key = (str(case.operator.folder), inputs.name, problem.label)
        if key not in self._inputs:
            self._inputs[key] = inputs.make(problem)
        return self._inputs[key]

    def get(self, case: Case, inputs: InputSet, problem: Problem, precision: Precision) -> Arrays:
        """Return the operator's reference of `inputs` on `problem` in `precision`."""
        key = (str(case.operator.folder), inputs.name, problem.label, precision)
        if key not in self._known:
            arrays = self.inputs(case, inputs, problem)
            self._known[key] = case.operator.reference(arrays, precision)
        return self._known[key]

    def error(self, case: Case, inputs: InputSet) -> float:
        """Return the float32 reference's own largest error against float64 on the case's problem.

        It says how much of a kernel's error float32 arithmetic alone explains.
        """
        truth, rough = (
            self.get(case, inputs, case.problem, precision)
            for precision in (Precision.FLOAT64, Precision.FLOAT32)
        )
        tolerance = case.operator.tolerance
        errors = (_largest(rough[name], truth[name], tolerance).error for name in truth)
        return max(errors, default=0.0)


def relative_error(got: Array, want: Array, floor: float) -> Floats:
    """Return |got - want| / max(|want|, floor) element by element.

    Equal infinities and NaN at the same place are no error; NaN or an infinity anywhere else is an
    infinite one.
    """
    import numpy

    mine, theirs = got.astype(numpy.float64), want.astype(numpy.float64)
    with numpy.errstate(invalid="ignore", over="ignore"):
        error: Floats = numpy.abs(mine - theirs) / numpy.maximum(numpy.abs(theirs), floor)
        same = (mine == theirs) | (numpy.isnan(mine) & numpy.isnan(theirs))
    error[same] = 0.0
    error[numpy.isnan(error)] = numpy.inf
    return error


def compare(name: str, got: Array, want: Array, *, case: Case, inputs: InputSet) -> Comparison:
    """Hold one output against the reference; NaN counts by its position, never as a wildcard.

    Raises OperatorError when the two have different shapes, which NumPy would broadcast.
    """
    import numpy

    if got.shape != want.shape:
        raise OperatorError(
            f"the reference of {case.operator.name} gives {name} the shape {want.shape}, "
            f"its tensor has {got.shape}"
        )
    tolerance = case.operator.tolerance
    largest = _largest(got, want, tolerance)
    index = numpy.unravel_index(largest.place, got.shape)
    return Comparison(
        input_set=inputs.name,
        output=name,
        precision=inputs.precision,
        largest_error=largest.error,
        index=tuple(int(place) for place in index),
        got=float(got[index]),
        want=float(want[index]),
        allowed=tolerance.relative,
        wrong=largest.wrong,
        elements=int(got.size),
        problem=_in_words(got, want, largest.wrong) if largest.wrong else None,
    )


@dataclass(frozen=True, slots=True)
class _Largest:
    """The largest relative error, its place in the flat array, and how many are too large."""

    error: float
    place: int
    wrong: int


def _largest(got: Array, want: Array, tolerance: Tolerance) -> _Largest:
    mine, theirs = got.reshape(-1), want.reshape(-1)
    found = _Largest(-1.0, 0, 0)
    for start in range(0, mine.size, CHUNK):
        part = slice(start, start + CHUNK)
        error = relative_error(mine[part], theirs[part], tolerance.floor)
        place, wrong = int(error.argmax()), int((error > tolerance.relative).sum())
        if error[place] > found.error:
            found = replace(found, error=float(error[place]), place=start + place)
        found = replace(found, wrong=found.wrong + wrong)
    return found


def _in_words(got: Array, want: Array, wrong: int) -> str:
    import numpy

    unexpected = int((numpy.isnan(got) & ~numpy.isnan(want)).sum())
    missing = int((numpy.isnan(want) & ~numpy.isnan(got)).sum())
    if unexpected:
        return f"NaN (or never written) at {unexpected} places where the reference has a number"
    if missing:
        return f"a number at {missing} places where the reference has NaN"
    return f"{wrong} elements outside the tolerance"


def check_numerics(
    case: Case, module: LoadedModule, references: References, notify: Callable[[str], None]
) -> Numerics:
    """Launch the case on each input set and compare; every launch is checked for residency first.

    Raises GateFailure when a launch is not resident and DeviceError when one fails.
    """
    comparisons: list[Comparison] = []
    launches = 0
    notify("reference")
    error = references.error(case, case.operator.input_sets[0])
    for inputs in case.operator.input_sets:
        problem = inputs.problem(case.problem)
        notify(f"reference of {inputs.name}")
        want = references.get(case, inputs, problem, inputs.precision)
        notify(f"launch on {inputs.name}")
        arrays = references.inputs(case, inputs, problem)
        invocation = prepare(case, problem, module, arrays)
        memory = invocation.memory
        invocation.run()
        got = memory.outputs()
        if want.keys() != got.keys():
            raise OperatorError(
                f"the reference of {case.operator.name} gives {sorted(want)}, its outputs are "
                f"{sorted(got)}"
            )
        comparisons += [
            compare(name, got[name], want[name], case=case, inputs=inputs) for name in want
        ]
        launches += 1
        if inputs is case.operator.input_sets[0]:
            invocation.complete(REPEATED_LAUNCHES)
            launches += REPEATED_LAUNCHES
            comparisons += _changed(got, memory.outputs(), inputs)
        comparisons += [_broken(name, OUTSIDE, inputs) for name in memory.damaged()]
        comparisons += [_broken(name, OVERWRITTEN, inputs) for name in memory.overwritten(arrays)]
    return Numerics(tuple(comparisons), launches, reference_error=error)


def prepare(case: Case, problem: Problem, module: LoadedModule, arrays: Arrays) -> Invocation:
    """Make `case` ready to run on `problem`: resident, inputs uploaded, the rest poisoned."""
    plan = case.variant.plan(problem, module)
    check_residency(plan, module.module, module, source="driver").require()
    buffers = (*case.operator.tensors(problem), *plan.buffers)
    memory = DeviceMemory.of(buffers, module.context)
    memory.upload(dict(arrays))
    return Invocation(plan, case.submission, module, memory)


def _changed(first: Arrays, later: Arrays, inputs: InputSet) -> list[Comparison]:
    """Return a failed comparison for each output that repeated launches did not reproduce."""
    import numpy

    failed = []
    for name, mine in first.items():
        if mine.tobytes() == later[name].tobytes():
            continue
        other_bytes = mine.view(numpy.uint8) != later[name].view(numpy.uint8)
        differs = other_bytes.reshape(mine.size, -1).any(axis=1)
        index = tuple(int(i) for i in numpy.unravel_index(int(differs.argmax()), mine.shape))
        failed.append(
            Comparison(
                input_set=inputs.name,
                output=name,
                precision=inputs.precision,
                largest_error=float("inf"),
                index=index,
                got=float(later[name][index]),
                want=float(mine[index]),
                allowed=0.0,
                wrong=int(differs.sum()),
                elements=mine.size,
                problem=f"after {REPEATED_LAUNCHES} more launches on the same input other bits",
            )
        )
    return failed


def _broken(name: str, problem: str, inputs: InputSet) -> Comparison:
    """Return a failed comparison for a buffer that was written to where it must not be."""
    nan = float("nan")
    return Comparison(
        input_set=inputs.name,
        output=name,
        precision=inputs.precision,
        largest_error=float("inf"),
        index=(),
        got=nan,
        want=nan,
        allowed=0.0,
        wrong=1,
        elements=1,
        problem=problem,
    )
