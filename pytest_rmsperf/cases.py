"""Operators, their variants, and the cases made of them.

An operator is a folder whose `__init__.py` defines `OPERATOR`. The plugin knows operators only
through this record: what one computes lives in its folder, bundled or a user's own.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.accuracy import Precision, Tolerance
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.launch import Buffer, LaunchPlan, Role
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Arrays = Mapping[str, Array]


class Submission(str, Enum):
    """How the launches of one invocation reach the device."""

    DIRECT = "direct"  # one driver call per launch
    GRAPH = "graph"  # captured, instantiated and uploaded ahead; one replay call


@dataclass(frozen=True, slots=True)
class Variant:
    """One implementation: a CUDA source and the launch plan that goes with it.

    `constants` become `#define`s of the source and are what the plan computes with, so the two
    cannot disagree. `flags` are further compiler flags; they are part of a baseline's identity.
    A variant that needs what older devices lack names the `least_compute_capability`, such as
    "9.0" for clusters: devices of interest below it are none of its own.
    """

    name: str
    source: Path
    plan: Callable[[Problem, Capacity], LaunchPlan]
    constants: tuple[tuple[str, int], ...] = ()
    flags: tuple[str, ...] = ()
    least_compute_capability: str | None = None

    def __post_init__(self) -> None:
        least = self.least_compute_capability
        if least is not None and not re.fullmatch("[0-9]+[.][0-9]", least):
            # "90" would stand above every device, and the variant would be looked at on none.
            raise OperatorError(
                f"variant {self.name}: least_compute_capability must be like 9.0, got {least!r}"
            )


def identity(problem: Problem) -> Problem:
    """Return the problem as it is."""
    return problem


@dataclass(frozen=True, slots=True)
class InputSet:
    """Inputs for a numerics check, and the precision of the reference they are held against.

    `problem` turns the case's problem into the one these inputs have (edge rows bring their own
    number of rows); `make` returns one array per input buffer and must be deterministic.
    """

    name: str
    make: Callable[[Problem], Arrays]
    precision: Precision = Precision.FLOAT64
    problem: Callable[[Problem], Problem] = identity


@dataclass(frozen=True, slots=True)
class Operator:
    """What is computed (tensors, reference, inputs, tolerance) and by which variants.

    `tensors` lists the input and output buffers of a problem. `reference` maps input arrays and a
    precision to one array per output. The first input set is also the one that is timed.

    Two fields serve the emulated device. `emulate_as` turns a problem into the one that stands for
    it there, where the full one would take too long: keep what decides the kernel's path (several
    tiles, a short one) and drop the rest. `address_problems` are so large that 32-bit arithmetic
    fails on them; they are never allocated, only every address is checked that a variant computes.
    """

    name: str
    folder: Path
    variants: tuple[Variant, ...]
    problems: tuple[Problem, ...]
    tensors: Callable[[Problem], tuple[Buffer, ...]]
    reference: Callable[[Arrays, Precision], Arrays]
    input_sets: tuple[InputSet, ...]
    tolerance: Tolerance
    emulate_as: Callable[[Problem], Problem] = identity
    address_problems: tuple[Problem, ...] = ()

    def __post_init__(self) -> None:
        names = [variant.name for variant in self.variants]
        self._refuse_doubled("variant", names)
        self._refuse_doubled("input set", [inputs.name for inputs in self.input_sets])
        for text in (self.name, *names):
            # ASCII, because pytest escapes anything else in an id.
            if not re.fullmatch("[A-Za-z0-9_]+", text):
                raise OperatorError(
                    f"operator {self.name}: {text!r} must be letters, digits and _, because it "
                    "becomes part of a case id"
                )
        if not self.input_sets:
            raise OperatorError(f"operator {self.name} has no input set: nothing can be checked")

    def _refuse_doubled(self, kind: str, names: Sequence[str]) -> None:
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise OperatorError(f"operator {self.name} has two {kind}s called {', '.join(doubled)}")

    def variant(self, name: str) -> Variant:
        """Return the variant called `name`; OperatorError lists the known ones."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        known = ", ".join(variant.name for variant in self.variants)
        raise OperatorError(f"operator {self.name} has no variant {name!r}; it has {known}")

    def cases(
        self,
        *,
        problems: tuple[Problem, ...] | None = None,
        submissions: tuple[Submission, ...] = (Submission.DIRECT, Submission.GRAPH),
    ) -> tuple[Case, ...]:
        """Return every variant by every submission on every problem (default: the operator's).

        OperatorError when two of them would have one id, and so one baseline.
        """
        cases = tuple(
            Case(self, variant, submission, problem)
            for variant in self.variants
            for submission in submissions
            for problem in (self.problems if problems is None else problems)
        )
        self._refuse_doubled("case", [case.id for case in cases])
        return cases

    def traffic_bytes(self, problem: Problem) -> int:
        """Return the fewest bytes an implementation can move: inputs once, outputs once."""
        return sum(tensor.nbytes for tensor in self.tensors(problem))

    def outputs(self, problem: Problem) -> tuple[Buffer, ...]:
        """Return the output buffers among the tensors of a problem."""
        return tuple(tensor for tensor in self.tensors(problem) if tensor.role is Role.OUTPUT)


@dataclass(frozen=True, slots=True)
class Case:
    """A variant, submitted in one way, on one problem: what is measured and judged.

    `origin` names the commit its operator was taken from; empty for the working tree.
    """

    operator: Operator
    variant: Variant
    submission: Submission
    problem: Problem
    origin: str = ""

    @property
    def id(self) -> str:
        """The pytest id, the baseline key and the report row, such as op/variant-graph/16x1024.

        A case of another commit has that commit behind an @, and is never stored.
        """
        name = f"{self.operator.name}/{self.variant.name}-{self.submission.value}"
        return f"{name}/{self.problem.label}{'@' if self.origin else ''}{self.origin}"

    @property
    def reference(self) -> CaseReference:
        return CaseReference(
            self.operator.folder,
            self.variant.name,
            self.submission,
            self.problem,
            self.origin,
            self.operator.name,
        )


@dataclass(frozen=True, slots=True)
class CaseReference:
    """A case as plain data, for a worker process that loads the operator itself.

    `name` is what the operator is called, where that is not what its file says.
    """

    folder: Path
    variant: str
    submission: Submission
    problem: Problem
    origin: str = ""
    name: str = ""

    def resolve(self) -> Case:
        """Load the operator and return the case; OperatorError when it is not there."""
        operator = load_operator(self.folder)
        if self.name not in ("", operator.name):
            operator = replace(operator, name=self.name)
        variant = operator.variant(self.variant)
        return Case(operator, variant, self.submission, self.problem, self.origin)


def load_operator(folder: Path) -> Operator:
    """Import `folder`/__init__.py under a private name and return its OPERATOR.

    The same folder gives the same module, so a worker and the pytest process agree on it. Raises
    OperatorError when the file or the name is missing.
    """
    folder = folder.resolve()
    module = _import_folder(folder)
    operator = getattr(module, "OPERATOR", None)
    if not isinstance(operator, Operator):
        raise OperatorError(
            f"{folder / '__init__.py'} defines no OPERATOR of type pytest_rmsperf.Operator; "
            f"got {type(operator).__name__}"
        )
    return operator


def _import_folder(folder: Path) -> ModuleType:
    name = f"rmsperf_operator_{folder.name}_{sha256(str(folder).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    source = folder / "__init__.py"
    if not source.is_file():
        raise OperatorError(f"{source} does not exist: an operator is a folder with that file")
    spec = importlib.util.spec_from_file_location(
        name, source, submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise OperatorError(f"{source} cannot be imported as a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    whole = False
    try:
        spec.loader.exec_module(module)
        whole = hasattr(module, "OPERATOR")
    finally:
        if not whole:
            del sys.modules[name]  # a half-made module must not answer the next call
    return module
