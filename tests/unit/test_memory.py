"""Memory of the device: what it refuses costs no worker, and which cases share it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from pytest_rmsperf.cases import Case, InputSet, Operator, Submission
from pytest_rmsperf.device.memory import (
    GUARD_BYTES,
    GUARD_VALUE,
    POISON_VALUE,
    Allocation,
    DeviceMemory,
    OutOfMemory,
    SharedTensors,
)
from pytest_rmsperf.errors import OperatorError, PlanError
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.launch import Buffer, Role
from pytest_rmsperf.problem import Problem

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays


@pytest.fixture
def memory() -> DeviceMemory:
    """Memory of one input of four elements, on no device."""
    nothing: Any = None
    x = Buffer("x", Role.INPUT, (4,))
    return DeviceMemory([Allocation(x, nothing, nothing)])


def test_an_input_that_is_missing_is_named(memory: DeviceMemory) -> None:
    with pytest.raises(OperatorError, match=r"^inputs must be \['x'\], got \['z'\]$"):
        memory.upload({"z": np.zeros(4, np.float32)})


def test_an_input_of_another_shape_is_told_with_both_shapes(memory: DeviceMemory) -> None:
    with pytest.raises(OperatorError, match=r"^input x must be float32 of shape \(4,\), got .*3,"):
        memory.upload({"x": np.zeros(3, np.float32)})


def test_a_buffer_that_the_plan_lacks_is_told_with_those_it_has(memory: DeviceMemory) -> None:
    with pytest.raises(PlanError, match=r"^a launch names buffer 'z', but the plan has x$"):
        memory["z"]


def test_memory_that_is_not_there_is_told_with_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(nbytes: int) -> NoReturn:
        raise MemoryError(nbytes)

    memory = SimpleNamespace(OutOfMemoryError=MemoryError)
    cupy = SimpleNamespace(cuda=SimpleNamespace(alloc=refuse, memory=memory))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    context: Any = SimpleNamespace(free_bytes=lambda: 4096)

    with pytest.raises(OutOfMemory) as caught:
        Allocation.make(Buffer("x", Role.INPUT, (1024,)), context)

    assert str(caught.value) == (
        "buffer x of 6144 bytes does not fit: 4096 bytes of device memory are free"
    )


# ---- shared tensors --------------------------------------------------------------------------

NO_CONTEXT: Any = None
DIRECT, GRAPH = Submission.DIRECT, Submission.GRAPH
PROBLEM = Problem.of(rows=2, columns=8)
TWIN: Operator = replace(OPERATOR, folder=Path("/elsewhere"))

Uploads = list[tuple[tuple[Buffer, ...], bytes]]


class Uploaded:
    """Stands for memory; remembers in a shared list what was uploaded to it."""

    def __init__(self, buffers: tuple[Buffer, ...], uploads: Uploads) -> None:
        self._buffers = buffers
        self._uploads = uploads

    def upload(self, arrays: Arrays) -> None:
        self._uploads.append((self._buffers, arrays["x"].tobytes()))


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    """All uploads to memory that is none, in order."""
    found: Uploads = []
    monkeypatch.setattr(DeviceMemory, "of", lambda buffers, _: Uploaded(buffers, found))
    return found


def with_inputs(make: Callable[[Problem], Arrays]) -> Operator:
    """The twin with other inputs."""
    return replace(TWIN, input_sets=(InputSet("other", make), *TWIN.input_sets[1:]))


def case_of(
    operator: Operator = OPERATOR, *, variant: int = 0, submission: Submission = DIRECT
) -> Case:
    return Case(operator, operator.variants[variant], submission, PROBLEM)


@pytest.mark.parametrize(
    "other",
    [
        case_of(variant=1, submission=GRAPH),
        replace(case_of(TWIN), origin="1a2b3c4"),
        case_of(with_inputs(lambda problem: dict(OPERATOR.input_sets[0].make(problem)))),
    ],
    ids=["variant", "twin", "equal bytes"],
)
def test_cases_of_the_same_tensors_and_inputs_work_on_the_same_memory(
    uploads: Uploads, other: Case
) -> None:
    shared = SharedTensors()

    assert shared.copies(case_of(), 1, NO_CONTEXT) == shared.copies(other, 1, NO_CONTEXT)
    assert len(uploads) == 1


def nudged(problem: Problem) -> Arrays:
    x = np.array(OPERATOR.input_sets[0].make(problem)["x"])
    x[-1, -1] = np.nextafter(x[-1, -1], np.float32(0))
    return {"x": x}


@pytest.mark.parametrize(
    "other",
    [
        case_of(with_inputs(nudged)),
        case_of(replace(TWIN, tensors=lambda problem: OPERATOR.tensors(problem)[::-1])),
        replace(case_of(), problem=PROBLEM.resized(rows=3)),
    ],
    ids=["one bit", "buffers", "problem"],
)
def test_cases_that_differ_in_either_have_memory_of_their_own(
    uploads: Uploads, other: Case
) -> None:
    shared = SharedTensors()

    mine, theirs = (shared.copies(one, 1, NO_CONTEXT) for one in (case_of(), other))

    assert mine != theirs
    assert len(uploads) == 2


def test_copies_are_shared_one_by_one_and_only_missing_ones_are_made(uploads: Uploads) -> None:
    shared = SharedTensors()

    two = shared.copies(case_of(), 2, NO_CONTEXT)
    four = shared.copies(case_of(TWIN), 4, NO_CONTEXT)
    one = shared.copies(case_of(), 1, NO_CONTEXT)

    assert len({id(memory) for memory in four}) == 4
    assert (four[:2], four[:1]) == (two, one)
    assert len(uploads) == 4


def test_every_copy_holds_the_inputs(uploads: Uploads) -> None:
    SharedTensors().copies(case_of(), 3, NO_CONTEXT)

    x = OPERATOR.input_sets[0].make(PROBLEM)["x"].tobytes()
    assert uploads == [(OPERATOR.tensors(PROBLEM), x)] * 3


# ---- filling ---------------------------------------------------------------------------------

Fills = list[tuple[str, int, int]]


@pytest.fixture
def fills(monkeypatch: pytest.MonkeyPatch) -> Fills:
    """Every fill in order: the buffer, the value, and how many bytes."""
    found: Fills = []

    def fill(self: Allocation, pointer: int, value: int, nbytes: int) -> None:
        found.append((self.buffer.name, value, nbytes))

    monkeypatch.setattr(Allocation, "_fill", fill)
    return found


def memory_of_every_role() -> DeviceMemory:
    """One buffer of four bytes for each role, at addresses that are numbers."""
    anywhere: Any = 0
    buffers = [Buffer(role.value, role, (4,), "uint8") for role in Role]
    return DeviceMemory([Allocation(one, NO_CONTEXT, anywhere) for one in buffers])


def test_state_alone_is_zeroed_before_a_case_has_its_turn(fills: Fills) -> None:
    memory_of_every_role().reset_state()

    assert fills == [("state", 0, 4)]


def test_scratch_and_state_are_renewed_and_what_tensors_hold_is_left(fills: Fills) -> None:
    memory_of_every_role().renew()

    contents = [one for one in fills if one[1] != GUARD_VALUE]
    assert contents == [("scratch", POISON_VALUE, 4), ("state", 0, 4)]


def test_guards_of_all_buffers_are_renewed_so_that_no_case_is_blamed_for_another(
    fills: Fills,
) -> None:
    memory_of_every_role().renew()

    guarded = [
        name for name, value, nbytes in fills if (value, nbytes) == (GUARD_VALUE, GUARD_BYTES)
    ]
    assert sorted(guarded) == sorted(2 * [role.value for role in Role])


def test_buffers_that_have_their_place_join_the_tensors_by_name() -> None:
    x, own = (Allocation(Buffer(name, Role.SCRATCH, (4,)), NO_CONTEXT, NO_CONTEXT) for name in "xo")

    joined = DeviceMemory([x]).with_placed([own])

    assert (joined["x"], joined["o"]) == (x, own)
