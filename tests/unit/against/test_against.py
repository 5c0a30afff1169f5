"""The same cases as another commit has them, and what stops a run that asks for them."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from git_checkout import Checkout
from pytest_rmsperf.against import OtherBuild, other_build
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.problem import Problem
from twice import BOTH, HERE, PLAIN, build, graph, head, operator_in, operator_text

# ---- cases of both ---------------------------------------------------------------------------


def test_every_case_of_an_unchanged_tree_has_its_like(checkout: Checkout, scratch: Path) -> None:
    operator, commit = operator_in(checkout), head(checkout)

    found = other_build("HEAD", operator.cases(), scratch)

    assert {here: other.id for here, other in found.cases.items()} == {
        case.id: f"{case.id}@{commit[:7]}" for case in operator.cases()
    }
    assert (found.ref, found.commit, found.missing, found.gone) == ("HEAD", commit[:12], {}, ())


def test_a_case_of_a_commit_has_the_source_of_then(checkout: Checkout, scratch: Path) -> None:
    checkout.write("kernels/twice/plain.cu", "// new\n")

    other = build(checkout, scratch).cases["twice/plain-graph/16"]

    assert other.variant.source.read_text(encoding="utf-8") == "// old\n"
    assert other.operator.folder.is_relative_to(scratch)


def test_what_lies_beside_an_operator_comes_with_it(checkout: Checkout, scratch: Path) -> None:
    checkout.commit(**{"kernels/common.cuh": "// old\n", "data/large.bin": ""})

    other = build(checkout, scratch).cases["twice/plain-graph/16"]

    assert (other.operator.folder / "../common.cuh").read_text(encoding="utf-8") == "// old\n"
    assert not (other.operator.folder / "../../data").exists()


@pytest.mark.parametrize(
    ("file", "line", "whole"),
    [
        ("twice/plain.cu", '#include "../../include/table.cuh"', True),
        ("common.cuh", '# include "../include/table.cuh"', True),
        ("twice/plain.cu", '#include "../common.cuh"', False),
        ("twice/notes.md", '#include "../../include/table.cuh"', False),
    ],
)
def test_headers_far_from_an_operator_come_with_it_where_it_includes_them(
    checkout: Checkout, scratch: Path, file: str, line: str, *, whole: bool
) -> None:
    checkout.commit(**{f"kernels/{file}": f"{line}\n", "include/table.cuh": ""})

    other = build(checkout, scratch).cases["twice/plain-graph/16"]

    assert (other.operator.folder / "../../include/table.cuh").exists() is whole


def test_a_worker_process_finds_a_case_of_a_commit(checkout: Checkout, scratch: Path) -> None:
    other = build(checkout, scratch).cases["twice/wide-graph/16"]
    code = (
        "import pickle, sys; case = pickle.load(sys.stdin.buffer).resolve(); "
        "print(case.id, case.variant.source)"
    )

    told = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps(other.reference),
        capture_output=True,
        check=True,
    ).stdout.decode()

    assert told.split() == [other.id, str(other.variant.source)]


def test_a_problem_that_the_commit_does_not_list_can_be_asked_for(
    checkout: Checkout, scratch: Path
) -> None:
    cases = operator_in(checkout).cases(problems=(Problem.of(rows=7),))

    found = other_build("HEAD", cases, scratch)

    assert {case.problem.label for case in found.cases.values()} == {"7"}
    assert found.missing == {}


@pytest.mark.parametrize("place", ["", "twice"])
def test_an_operator_at_the_root_of_a_repository_takes_the_whole_of_it(
    tmp_path: Path, scratch: Path, place: str
) -> None:
    checkout = Checkout.new(tmp_path / "checkout")
    checkout.write(f"{place or '.'}/__init__.py", PLAIN)
    checkout.write(f"{place or '.'}/plain.cu", "")
    checkout.commit(**{"data/table.cuh": ""})

    found = other_build("HEAD", graph(operator_in(checkout, place)), scratch)

    folder = found.cases["twice/plain-graph/16"].operator.folder
    assert (folder / ("../data" if place else "data") / "table.cuh").exists()


@pytest.mark.parametrize("moved", [False, True])
def test_sources_are_found_wherever_in_the_repository_they_lie(
    checkout: Checkout, scratch: Path, *, moved: bool
) -> None:
    far = operator_text("plain", source=f'{HERE}.parents[1] / "csrc" / "{{}}.cu"')
    checkout.commit(**{"kernels/twice/__init__.py": far, "csrc/plain.cu": "// far\n"})
    if moved:
        checkout.write("kernels/twice/__init__.py", PLAIN)

    other = build(checkout, scratch).cases["twice/plain-graph/16"]

    assert other.variant.source.resolve().is_relative_to(scratch)
    assert other.variant.source.read_text(encoding="utf-8") == "// far\n"


def test_operators_of_one_folder_share_what_was_unpacked(checkout: Checkout, scratch: Path) -> None:
    thrice = operator_text("plain", name="thrice")
    checkout.commit(**{"kernels/thrice/__init__.py": thrice, "kernels/thrice/plain.cu": ""})
    operators = [operator_in(checkout, f"kernels/{one}") for one in ("twice", "thrice")]

    found = other_build("HEAD", [case for one in operators for case in graph(one)], scratch)

    assert len({case.operator.folder.parent for case in found.cases.values()}) == 1
    assert found.commit == head(checkout)[:12]


def test_each_case_is_taken_from_its_own_operator(checkout: Checkout, scratch: Path) -> None:
    thrice = operator_text("plain", name="thrice")
    checkout.commit(**{"kernels/thrice/__init__.py": thrice, "kernels/thrice/plain.cu": ""})
    operators = [operator_in(checkout, f"kernels/{one}") for one in ("twice", "thrice")]

    found = other_build("HEAD", [case for one in operators for case in graph(one)], scratch)

    assert {here: case.operator.name for here, case in found.cases.items()} == {
        "twice/plain-graph/16": "twice",
        "twice/wide-graph/16": "twice",
        "thrice/plain-graph/16": "thrice",
    }
    assert found.missing == {}


def test_an_operator_reached_through_a_link_is_where_the_link_leads(
    checkout: Checkout, scratch: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(checkout.root / "kernels" / "twice")
    operator = replace(operator_in(checkout), folder=tmp_path / "link")

    assert other_build("HEAD", graph(operator), scratch).missing == {}


def test_operators_of_two_repositories_are_taken_from_a_commit_of_each(
    checkout: Checkout, scratch: Path, tmp_path: Path
) -> None:
    other = Checkout.new(tmp_path / "other")
    other.write("thrice/__init__.py", operator_text("plain", name="thrice"))
    other.commit(**{"thrice/plain.cu": ""})
    cases = [*graph(operator_in(checkout)), *graph(operator_in(other, "thrice"))]

    found = other_build("HEAD", cases, scratch)

    assert found.commit == f"{head(checkout)[:12]}, {head(other)[:12]}"
    assert found.cases["thrice/plain-graph/16"].origin == head(other)[:7]


def test_without_a_case_nothing_is_asked_of_git(scratch: Path) -> None:
    assert other_build("absent", (), scratch) == OtherBuild("absent", "", {}, {}, ())


def test_the_working_tree_stays_as_it_is(checkout: Checkout) -> None:
    checkout.write("kernels/twice/plain.cu", "// new\n")
    checkout.git("add", "--all")
    checkout.write(".gitignore", "__pycache__\n")
    before = checkout.state()

    build(checkout, checkout.root / ".rmsperf" / "against")

    assert checkout.state() == before


# ---- what stops the run ----------------------------------------------------------------------


def test_an_operator_outside_of_git_stops_the_run(tmp_path: Path, scratch: Path) -> None:
    installed = Checkout(tmp_path / "site-packages")
    installed.write("twice/__init__.py", PLAIN)

    with pytest.raises(
        SettingError, match=r"HEAD: \S+site-packages/twice lies in no git repository"
    ):
        other_build("HEAD", graph(operator_in(installed, "twice")), scratch)


def test_an_operator_that_git_ignores_stops_the_run(checkout: Checkout, scratch: Path) -> None:
    checkout.write(".gitignore", ".venv/\n")
    checkout.write(".venv/lib/twice/__init__.py", PLAIN)
    cases = graph(operator_in(checkout, ".venv/lib/twice"))

    with pytest.raises(SettingError) as refused:
        other_build("HEAD", cases, scratch)

    assert re.match(
        r"--rmsperf-against=HEAD: \S+/\.venv/lib/twice is ignored by the git repository around it, "
        r"so it has no commits\ninstall the operator from a checkout \(pip install -e \.\)",
        str(refused.value),
    )


def test_an_unknown_commit_stops_the_run(checkout: Checkout, scratch: Path) -> None:
    with pytest.raises(SettingError, match=r"^--rmsperf-against=absent: no commit has that name"):
        build(checkout, scratch, "absent")


# ---- cases that only the commit has ----------------------------------------------------------


def test_a_variant_that_is_no_more_is_gone(checkout: Checkout, scratch: Path) -> None:
    checkout.write("kernels/twice/__init__.py", PLAIN)

    found = build(checkout, scratch)

    assert found.gone == ("twice/wide-direct/16", "twice/wide-graph/16")


def test_a_case_that_is_only_not_asked_about_is_not_gone(checkout: Checkout, scratch: Path) -> None:
    plain, _ = graph(operator_in(checkout))

    assert other_build("HEAD", (plain,), scratch).gone == ()


def test_a_case_that_is_asked_about_is_not_gone_whatever_its_operator_lists(
    checkout: Checkout, scratch: Path
) -> None:
    checkout.write("kernels/twice/__init__.py", BOTH.replace("rows=16", "rows=7"))
    cases = operator_in(checkout).cases(problems=(Problem.of(rows=16),))

    assert other_build("HEAD", cases, scratch).gone == ()


def test_a_case_that_only_its_operator_got_another_name_for_is_not_gone(
    checkout: Checkout, scratch: Path
) -> None:
    checkout.write("kernels/twice/__init__.py", operator_text("plain", "wide", name="doubled"))

    found = build(checkout, scratch)

    assert set(found.cases) == {"doubled/plain-graph/16", "doubled/wide-graph/16"}
    assert found.gone == ()


def test_a_case_of_an_operator_with_another_name_then_has_the_name_of_its_twin_here_and_there(
    checkout: Checkout, scratch: Path
) -> None:
    checkout.write("kernels/twice/__init__.py", operator_text("plain", "wide", name="doubled"))

    found = build(checkout, scratch)

    for case_id, case in found.cases.items():
        assert case.id == case.reference.resolve().id == f"{case_id}@{head(checkout)[:7]}"
