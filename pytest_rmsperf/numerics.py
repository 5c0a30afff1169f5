"""Outputs against the reference: on poisoned memory, for every input set of the operator.

It knows devices only through `pytest_rmsperf.execution`, and so checks emulated ones alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_rmsperf.accuracy import Comparison, Numerics, Precision, Tolerance
from pytest_rmsperf.cases import Case, InputSet, Submission, Variant, identity
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.execution import Loaded, Prepared
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.residency import check_residency

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pytest_rmsperf.cases import Array, Arrays

    Floats = npt.NDArray[np.float64]

# Elements compared at a time: float64 copies of so many stay in a core's cache. Eight million
# elements took 0.17 s in pieces and 1.16 s at once.
CHUNK = 1 << 16

OUTSIDE = "a write just outside the buffer"
OVERWRITTEN = "a write to the input"

Notify = Callable[[str], None]


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
        """Return the operator's reference of `inputs` on `problem` in `precision`.

        Raises OperatorError where a package that the reference imports is missing.
        """
        key = (str(case.operator.folder), inputs.name, problem.label, precision)
        if key not in self._known:
            arrays = self.inputs(case, inputs, problem)
            try:
                self._known[key] = case.operator.reference(arrays, precision)
            except ImportError as error:
                raise OperatorError(
                    f"no reference: that of {case.operator.name} cannot be imported: {error}\n"
                    'install what it imports; torch comes with: pip install "pytest-rmsperf[torch]"'
                ) from error
        return self._known[key]

    def error(self, case: Case, inputs: InputSet, problem: Problem) -> float:
        """Return the float32 reference's own largest error against float64 on `problem`.

        It says how much of a kernel's error float32 arithmetic alone explains.
        """
        truth, rough = (
            self.get(case, inputs, problem, precision)
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


@dataclass(frozen=True, slots=True)
class CheckedInputs:
    """What one input set brought on one problem."""

    comparisons: tuple[Comparison, ...]
    launches: int


# What is known of a variant by a submission on an input set of a problem.
Known = dict[tuple[Variant, Submission, str, str], CheckedInputs]


def check_numerics(
    case: Case,
    loaded: Loaded,
    references: References,
    notify: Notify,
    *,
    stand_in: Callable[[Problem], Problem] = identity,
    known: Known | None = None,
) -> Numerics:
    """Launch the case on each input set and compare; every launch is checked for residency first.

    Each problem is replaced by its `stand_in`. `known` is for a device on which the same launch
    gives the same result for certain: what is in it is not launched again, what is new is added.
    Raises GateFailure when a launch is not resident or an emulated one is at fault, and DeviceError
    when one fails.
    """
    first = case.operator.input_sets[0]
    notify("reference")
    error = references.error(case, first, stand_in(first.problem(case.problem)))
    results = {} if known is None else known
    checked, launches = [], 0
    for inputs in case.operator.input_sets:
        problem = stand_in(inputs.problem(case.problem))
        key = (case.variant, case.submission, inputs.name, problem.label)
        if key not in results:
            results[key] = _check_inputs(case, inputs, problem, loaded, references, notify)
            launches += results[key].launches
        checked.append(results[key])
    comparisons = tuple(one for each in checked for one in each.comparisons)
    return Numerics(comparisons, launches, reference_error=error)


def _check_inputs(
    case: Case,
    inputs: InputSet,
    problem: Problem,
    loaded: Loaded,
    references: References,
    notify: Notify,
) -> CheckedInputs:
    notify(f"reference of {inputs.name}")
    want = references.get(case, inputs, problem, inputs.precision)
    notify(f"launch on {inputs.name}")
    arrays = references.inputs(case, inputs, problem)
    prepared = prepare(case, problem, loaded, arrays)
    memory = prepared.memory
    prepared.run()
    got = memory.outputs()
    if want.keys() != got.keys():
        raise OperatorError(
            f"the reference of {case.operator.name} gives {sorted(want)}, its outputs are "
            f"{sorted(got)}"
        )
    comparisons = [compare(name, got[name], want[name], case=case, inputs=inputs) for name in want]
    repeated, changed = 0, list[Comparison]()
    if inputs is case.operator.input_sets[0]:
        for count in prepared.repeats():
            repeated += count
            notify(f"launch on {inputs.name}")  # the deadline is one of a batch, not of all
            changed += _changed(got, memory.outputs(), inputs, repeated)
    comparisons += [_broken(name, OUTSIDE, inputs) for name in memory.damaged()]
    comparisons += [_broken(name, OVERWRITTEN, inputs) for name in memory.overwritten(arrays)]
    # Last, because who writes to the input changes the outputs of the launches that follow.
    return CheckedInputs((*comparisons, *changed), 1 + repeated)


def prepare(case: Case, problem: Problem, loaded: Loaded, arrays: Arrays) -> Prepared:
    """Make `case` ready to run on `problem`: resident, inputs uploaded, the rest poisoned."""
    plan = case.variant.plan(problem, loaded)
    check_residency(plan, loaded.module, loaded, source=loaded.capacity_source).require()
    buffers = (*case.operator.tensors(problem), *plan.buffers)
    prepared = loaded.prepare(plan, case.submission, buffers)
    prepared.memory.upload(dict(arrays))
    return prepared


def _changed(first: Arrays, later: Arrays, inputs: InputSet, launches: int) -> list[Comparison]:
    """Return a failed comparison for each output that `launches` more did not reproduce."""
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
                problem=f"after {launches} more launches on the same input other bits",
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
