"""Operators, the ids of their cases, and loading an operator from a folder."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pytest_rmsperf.accuracy import Tolerance
from pytest_rmsperf.cases import InputSet, Operator, Submission, Variant, load_operator
from pytest_rmsperf.errors import OperatorError
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

FOLDER = """
from pathlib import Path
from pytest_rmsperf import InputSet, Operator, Problem, Tolerance, Variant
from . import sizes

OPERATOR = Operator(
    name="twice", folder=Path(__file__).parent,
    variants=(Variant("plain", Path(__file__).with_name("twice.cu"), plan=lambda *sizes: None),),
    problems=(Problem.of(rows=sizes.ROWS),), tensors=lambda problem: (),
    reference=lambda arrays, precision: {}, input_sets=(InputSet("ones", lambda problem: {}),),
    tolerance=Tolerance(relative=1e-5, floor=1e-30),
)
"""


def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
    return LaunchPlan((KernelLaunch("row", 1, 32, ()),), (), (), "a test asks for it")


def tensors(problem: Problem) -> tuple[Buffer, ...]:
    return (
        Buffer("x", Role.INPUT, (problem["rows"], 4)),
        Buffer("scale", Role.INPUT, (4,), "float16"),
        Buffer("y", Role.OUTPUT, (problem["rows"], 4)),
    )


PLAIN = Variant("plain", Path("twice.cu"), plan)
ONES = InputSet("ones", lambda problem: {"x": np.ones((problem["rows"], 4), np.float32)})
TWICE = Operator(
    name="twice",
    folder=Path("twice"),
    variants=(PLAIN, replace(PLAIN, name="wide")),
    problems=(Problem.of(rows=1), Problem.of(rows=16)),
    tensors=tensors,
    reference=lambda arrays, _: {"y": arrays["x"]},
    input_sets=(ONES,),
    tolerance=Tolerance(relative=1e-5, floor=1e-30),
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An operator's folder; what was imported from it is forgotten afterwards."""
    known = set(sys.modules)
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "sizes.py").write_text("ROWS = 16\n", encoding="utf-8")
    (folder / "__init__.py").write_text(FOLDER, encoding="utf-8")
    yield folder
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_an_id_names_operator_variant_submission_and_problem() -> None:
    assert [case.id for case in TWICE.cases()] == [
        "twice/plain-direct/1",
        "twice/plain-direct/16",
        "twice/plain-graph/1",
        "twice/plain-graph/16",
        "twice/wide-direct/1",
        "twice/wide-direct/16",
        "twice/wide-graph/1",
        "twice/wide-graph/16",
    ]


def test_cases_can_be_limited_to_problems_and_submissions() -> None:
    cases = TWICE.cases(problems=(Problem.of(rows=3),), submissions=(Submission.GRAPH,))

    assert [case.id for case in cases] == ["twice/plain-graph/3", "twice/wide-graph/3"]


def test_two_cases_of_one_id_are_refused_with_the_id() -> None:
    doubled = (Problem.of(rows=4, columns=8), Problem.of(columns=4, rows=8))

    with pytest.raises(OperatorError, match="twice has two cases called twice/plain-direct/4x8"):
        TWICE.cases(problems=doubled)


def test_a_variant_named_twice_is_refused_with_its_name() -> None:
    with pytest.raises(OperatorError, match="operator twice has two variants called plain"):
        replace(TWICE, variants=(PLAIN, PLAIN))


def test_an_input_set_named_twice_is_refused_with_its_name() -> None:
    with pytest.raises(OperatorError, match="operator twice has two input sets called ones"):
        replace(TWICE, input_sets=(ONES, ONES))


@pytest.mark.parametrize("name", ["tile_4096", "A", "_", "2d"])
def test_letters_digits_and_underscores_make_a_name(name: str) -> None:
    assert replace(TWICE, variants=(replace(PLAIN, name=name),)).variant(name).name == name


@pytest.mark.parametrize(
    "name",
    ["", "a-b", "a/b", "a b", "a.cu", "naïve", "tab\t", "end\n", "<function f at 0x7f00>", "x[0]"],
)
def test_a_name_that_would_make_an_unstable_id_is_refused(name: str) -> None:
    with pytest.raises(OperatorError, match="must be letters, digits and _") as refusal:
        replace(TWICE, variants=(replace(PLAIN, name=name),))
    assert repr(name) in str(refusal.value)


def test_the_name_of_an_operator_follows_the_same_rule() -> None:
    with pytest.raises(OperatorError, match="'row/softmax' must be letters, digits and _"):
        replace(TWICE, name="row/softmax")


@pytest.mark.parametrize("least", ["90", "sm_90", "9", "", "9.0a"])
def test_a_least_compute_capability_that_is_none_is_refused(least: str) -> None:
    with pytest.raises(OperatorError, match=f"variant plain: .* must be like 9.0, got {least!r}"):
        replace(PLAIN, least_compute_capability=least)


@pytest.mark.parametrize("least", ["9.0", "12.1"])
def test_a_least_compute_capability_is_taken_as_written(least: str) -> None:
    assert replace(PLAIN, least_compute_capability=least).least_compute_capability == least


def test_an_operator_without_inputs_is_refused() -> None:
    with pytest.raises(OperatorError, match="has no input set: nothing can be checked"):
        replace(TWICE, input_sets=())


def test_an_unknown_variant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OperatorError, match="no variant 'narrow'; it has plain, wide"):
        TWICE.variant("narrow")


def test_traffic_counts_every_tensor_once() -> None:
    assert TWICE.traffic_bytes(Problem.of(rows=16)) == 256 + 8 + 256


def test_outputs_are_the_tensors_to_be_written() -> None:
    assert [one.name for one in TWICE.outputs(Problem.of(rows=16))] == ["y"]


def test_an_operator_is_emulated_as_it_is_unless_it_says_otherwise() -> None:
    assert TWICE.emulate_as(Problem.of(rows=16)) == Problem.of(rows=16)
    assert TWICE.address_problems == ()


def test_a_folder_gives_the_operator_that_it_defines(folder: Path) -> None:
    assert [case.id for case in load_operator(folder).cases()] == [
        "twice/plain-direct/16",
        "twice/plain-graph/16",
    ]


def test_one_folder_gives_one_operator_however_it_is_written(folder: Path) -> None:
    detour = folder.parent / "elsewhere" / ".." / folder.name

    assert load_operator(detour) is load_operator(folder)


def test_folders_of_one_name_give_different_operators(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / folder.name
    other.mkdir(parents=True)
    (other / "sizes.py").write_text("ROWS = 3\n", encoding="utf-8")
    (other / "__init__.py").write_text(FOLDER, encoding="utf-8")

    labels = [load_operator(one).problems[0].label for one in (folder, other)]

    assert labels == ["16", "3"]


def test_a_folder_without_the_file_is_refused_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=rf"{tmp_path}/absent/__init__\.py does not exist"):
        load_operator(tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "got"), [("", "NoneType"), ("OPERATOR = None", "NoneType"), ("OPERATOR = 7", "int")]
)
def test_a_file_without_an_operator_is_refused_with_what_it_has(
    folder: Path, text: str, got: str
) -> None:
    (folder / "__init__.py").write_text(text, encoding="utf-8")

    with pytest.raises(OperatorError, match=rf"twice/__init__\.py defines no OPERATOR .*got {got}"):
        load_operator(folder)


@pytest.mark.parametrize("broken", ["raise ValueError\n" + FOLDER, FOLDER + "raise ValueError\n"])
def test_a_module_that_failed_half_way_does_not_answer_the_next_call(
    folder: Path, broken: str
) -> None:
    (folder / "__init__.py").write_text(broken, encoding="utf-8")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            load_operator(folder)


@pytest.mark.parametrize("broken", ["raise ValueError", "pass"])
def test_a_mended_module_answers_where_a_broken_one_failed(folder: Path, broken: str) -> None:
    (folder / "__init__.py").write_text(broken, encoding="utf-8")
    with pytest.raises((ValueError, OperatorError)):
        load_operator(folder)

    (folder / "__init__.py").write_text(FOLDER, encoding="utf-8")

    assert load_operator(folder).name == "twice"


def test_a_case_travels_as_plain_data_and_comes_back(folder: Path) -> None:
    case = load_operator(folder).cases()[1]

    travelled = pickle.loads(pickle.dumps(case.reference))

    assert travelled.resolve() == case


def test_a_reference_to_a_variant_that_is_gone_names_those_there_are(folder: Path) -> None:
    reference = replace(load_operator(folder).cases()[0].reference, variant="narrow")

    with pytest.raises(OperatorError, match="no variant 'narrow'; it has plain"):
        reference.resolve()
