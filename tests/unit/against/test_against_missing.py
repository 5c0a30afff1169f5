"""Each reason why another commit may have no such case, told with the commit's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from git_checkout import Checkout
from pytest_rmsperf import against
from pytest_rmsperf.against import other_build
from twice import BOTH, PLAIN, build, graph, head, operator_in, operator_text, reasons

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def test_a_new_variant_is_missing_and_the_others_are_not(checkout: Checkout, scratch: Path) -> None:
    checkout.commit(**{"kernels/twice/__init__.py": PLAIN})
    checkout.write("kernels/twice/__init__.py", BOTH)

    found = build(checkout, scratch)

    assert found.missing == {
        "twice/wide-graph/16": f"{head(checkout)[:7]} (HEAD) has no variant wide"
    }
    assert set(found.cases) == {"twice/plain-graph/16"}


def test_of_a_new_operator_every_case_is_missing(checkout: Checkout, scratch: Path) -> None:
    checkout.write("kernels/new/__init__.py", BOTH)

    found = other_build("HEAD", graph(operator_in(checkout, "kernels/new")), scratch)

    assert reasons(found, checkout) == dict.fromkeys(("plain", "wide"), "has no kernels/new")


def test_a_folder_that_was_no_operator_then_is_named_with_its_file(
    checkout: Checkout, scratch: Path
) -> None:
    checkout.commit(**{"kernels/new/row.cu": ""})
    checkout.write("kernels/new/__init__.py", PLAIN)

    found = other_build("HEAD", graph(operator_in(checkout, "kernels/new")), scratch)

    assert reasons(found, checkout) == {"plain": "has no kernels/new/__init__.py"}


def test_a_source_that_was_not_there_then_is_named(checkout: Checkout, scratch: Path) -> None:
    (checkout.root / "kernels/twice/wide.cu").unlink()
    checkout.commit()

    found = build(checkout, scratch)

    assert reasons(found, checkout) == {"wide": "has no kernels/twice/wide.cu, the source of wide"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from pytest_rmsperf import Absent\n", "ImportError: cannot import name 'Absent'"),
        ("raise ValueError('old\\nways')\n", "ValueError: old"),
        ("OPERATOR = (\n", r"SyntaxError: '\(' was never closed \(__init__.py, line 1\)"),
        ("import os\nos._exit(3)\n", "exit code 3"),
        ("import os\nos.kill(os.getpid(), 9)\n", "exit code -9"),
        ("", r"OperatorError: \S+/kernels/twice/__init__.py defines no OPERATOR"),
    ],
)
def test_an_operator_that_todays_plugin_cannot_import_says_why(
    checkout: Checkout, scratch: Path, text: str, why: str
) -> None:
    checkout.commit(**{"kernels/twice/__init__.py": text})
    checkout.write("kernels/twice/__init__.py", PLAIN)

    found = reasons(build(checkout, scratch), checkout)

    start = "has an operator that cannot be imported by this plugin: "
    assert re.match(start + why, found["plain"])
    assert "\n" not in found["plain"]


def test_an_operator_that_imports_for_ever_is_given_up(
    checkout: Checkout, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.commit(**{"kernels/twice/__init__.py": "import time\ntime.sleep(60)\n"})
    checkout.write("kernels/twice/__init__.py", PLAIN)
    monkeypatch.setattr(against, "IMPORT_SECONDS", 0.5)

    found = build(checkout, scratch)

    assert reasons(found, checkout) == {"plain": "has an operator that took 0.5 s to import"}


def test_a_source_of_the_working_tree_is_not_compared_with_itself(
    checkout: Checkout, scratch: Path
) -> None:
    source = checkout.root / "kernels" / "twice" / "plain.cu"
    text = operator_text("plain", source=f'Path("{source}")')
    checkout.commit(**{"kernels/twice/__init__.py": text})

    found = build(checkout, scratch)

    assert reasons(found, checkout)["plain"].startswith(
        f"takes the source of plain from {source}, which does not lie in the commit: name it "
    )


def test_an_operator_of_the_working_tree_is_not_compared_with_itself(
    checkout: Checkout, scratch: Path
) -> None:
    here = checkout.root / "kernels" / "twice"
    text = operator_text("plain", folder=f'Path("{here}")')
    checkout.commit(**{"kernels/twice/__init__.py": text})

    found = build(checkout, scratch)

    assert reasons(found, checkout)["plain"].startswith(
        f"has an operator that says it lies in {here}, which is not in the commit: let folder be "
    )


@pytest.mark.parametrize("name", ["plain.cu", "table.cuh"])
def test_a_file_that_git_lfs_did_not_fetch_is_named(
    checkout: Checkout, scratch: Path, name: str
) -> None:
    checkout.commit(**{f"kernels/twice/{name}": POINTER})
    checkout.write(f"kernels/twice/{name}", "// fetched\n")

    found = build(checkout, scratch)

    why = f"keeps kernels/twice/{name} in Git LFS: git lfs fetch --all"
    assert reasons(found, checkout) == {"plain": why, "wide": why}


def test_a_file_that_is_not_fetched_here_either_is_not_missed(
    checkout: Checkout, scratch: Path
) -> None:
    checkout.commit(**{"kernels/twice/plot.png": POINTER})

    assert build(checkout, scratch).missing == {}


def test_a_source_that_is_nowhere_fetched_is_named(checkout: Checkout, scratch: Path) -> None:
    checkout.commit(**{"kernels/twice/wide.cu": POINTER})

    found = build(checkout, scratch)

    assert reasons(found, checkout) == {
        "wide": "keeps kernels/twice/wide.cu in Git LFS: git lfs fetch --all"
    }


@pytest.mark.parametrize("needed", [True, False])
def test_a_submodule_is_named_where_the_working_tree_has_its_files(
    checkout: Checkout, scratch: Path, *, needed: bool
) -> None:
    entry = f"160000,{head(checkout)},kernels/twice/cutlass"
    checkout.git("update-index", "--add", "--cacheinfo", entry)
    checkout.git("commit", "--quiet", "--message", "a submodule")
    (checkout.root / "kernels/twice/cutlass").mkdir()
    if needed:
        checkout.write("kernels/twice/cutlass/cutlass.h", "")

    found = build(checkout, scratch)

    why = "has kernels/twice/cutlass as a submodule, which cannot be taken from it"
    assert set(reasons(found, checkout).values()) == ({why} if needed else set())


def test_an_operator_that_is_kept_out_of_archives_is_named(
    checkout: Checkout, scratch: Path
) -> None:
    checkout.commit(**{".gitattributes": "kernels/twice/__init__.py export-ignore\n"})

    found = build(checkout, scratch)

    assert reasons(found, checkout)["plain"] == (
        "has kernels/twice/__init__.py, but .gitattributes keeps it out of archives: "
        "remove its export-ignore"
    )
