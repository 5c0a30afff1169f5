"""Another build of the same cases: their operators as another commit has them.

Both builds are measured by turns in the same processes, so what is compared needs no baseline. The
plugin itself, and whatever an operator imports by an absolute name, is that of the working tree.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pytest_rmsperf.cases import Case, Operator, Submission, load_operator
from pytest_rmsperf.commits import SUBMODULE, Commit, find_commit, is_lfs_pointer
from pytest_rmsperf.errors import SettingError

# As long as a worker may take to start: it imports the same.
IMPORT_SECONDS = 180.0
SOURCES = frozenset({".cu", ".cuh", ".h", ".hpp", ".inl"})
INCLUDE = re.compile(r'#\s*include\s*"(\.\./[^"]+)"')


@dataclass(frozen=True, slots=True)
class OtherBuild:
    """The cases of another commit.

    `commit` is its hash, 12 digits; of operators in several repositories there are several.
    `cases` has, by the id of the working tree's case, the same case of that commit, and `missing`
    why there is none: each case is in one of the two. `gone` are the ids of cases that the commit's
    operator lists, and the working tree's lists no longer.
    """

    ref: str
    commit: str
    cases: Mapping[str, Case]
    missing: Mapping[str, str]
    gone: tuple[str, ...]


def other_build(ref: str, cases: Sequence[Case], folder: Path) -> OtherBuild:
    """Return the same cases as the commit called `ref` has them, unpacked below `folder`.

    SettingError when git has no such commit, or none at all for the folder of an operator.
    """
    found: dict[str, Case] = {}
    missing: dict[str, str] = {}
    gone: list[str] = []
    hashes: list[str] = []
    operators = {one.operator.folder: one.operator for one in cases}
    for place, operator in operators.items():
        commit = find_commit(ref, place)
        hashes.append(commit.full_hash[:12])
        other = _OtherOperator.of(commit, operator, folder)
        for case in cases:
            if case.operator.folder != place:
                continue
            why_not = other.why_not(case)
            if why_not is None:
                found[case.id] = other.case(case)
            else:
                missing[case.id] = f"{commit.name} {why_not}"
        gone += other.gone(operator)
    known = {one.id for one in cases}
    return OtherBuild(
        ref=ref,
        commit=", ".join(dict.fromkeys(hashes)),
        cases=found,
        missing=missing,
        gone=tuple(one for one in gone if one not in known),
    )


class _Absent(Exception):
    """A commit has no operator that could be used; the message follows the commit's name."""


@dataclass(frozen=True, slots=True)
class _OtherOperator:
    """An operator as a commit has it, whose files lie below `tree`; or why there is none."""

    commit: Commit
    tree: Path
    operator: Operator | None
    why_absent: str = ""

    @classmethod
    def of(cls, commit: Commit, operator: Operator, scratch: Path) -> _OtherOperator:
        """Unpack and import the operator."""
        place = PurePosixPath(operator.folder.resolve().relative_to(commit.root))
        try:
            _require_listed(commit, place)
            # With what lies beside the operator, because sources include headers from there.
            tree = commit.unpack(place.parent, scratch)
            _require_whole(commit, place, tree)
            found = cls(commit, tree, _imported(tree / place))
            if found.has_all_sources and not _includes_from_outside(tree / place.parent):
                return found
            # What is wanting may lie, or have lain, elsewhere in the repository.
            tree = commit.unpack(PurePosixPath(), scratch)
            return cls(commit, tree, _imported(tree / place))
        except _Absent as absent:
            return cls(commit, scratch, None, str(absent))

    @property
    def has_all_sources(self) -> bool:
        """Whether the source of every variant is there."""
        variants = self.operator.variants if self.operator is not None else ()
        return all(one.source.is_file() for one in variants)

    def why_not(self, case: Case) -> str | None:
        """Say why the commit has no such case, or None."""
        if self.operator is None:
            return self.why_absent
        name = case.variant.name
        variant = next((one for one in self.operator.variants if one.name == name), None)
        if variant is None:
            return f"has no variant {name}"
        source = variant.source.resolve()
        if not source.is_relative_to(self.tree):
            return (
                f"takes the source of {name} from {source}, which does not lie in the commit: name "
                "it relative to the operator's __file__"
            )
        if not source.is_file():
            return f"has no {source.relative_to(self.tree)}, the source of {name}"
        if is_lfs_pointer(source):
            return f"keeps {source.relative_to(self.tree)} in Git LFS: git lfs fetch --all"
        return None

    def case(self, case: Case) -> Case:
        """Return the commit's case for one that it has; its problem may be any.

        It has the operator's name of today: a session knows twins by their ids.
        """
        assert self.operator is not None
        operator = replace(self.operator, name=case.operator.name)
        variant = operator.variant(case.variant.name)
        return Case(operator, variant, case.submission, case.problem, self.commit.short)

    def gone(self, current: Operator) -> list[str]:
        """Return the ids of cases that the operator lists and its current state does not."""
        if self.operator is None:
            return []
        known = {_key(one) for one in _listed_cases(current)}
        return [one.id for one in _listed_cases(self.operator) if _key(one) not in known]


def _require_listed(commit: Commit, place: PurePosixPath) -> None:
    """Raise _Absent unless the commit has the operator's folder, and all of it itself."""
    entries = commit.entries(place)
    if not entries and commit.ignores(commit.root / place):
        raise SettingError(
            f"--rmsperf-against={commit.ref}: {commit.root / place} is ignored by the git "
            f"repository around it, so it has no commits\n"
            "install the operator from a checkout (pip install -e .) and run there; "
            "or compare with stored baselines: pytest --rmsperf"
        )
    if not entries:
        raise _Absent(f"has no {place}")
    if place / "__init__.py" not in {one.path for one in entries}:
        raise _Absent(f"has no {place / '__init__.py'}")
    for one in entries:
        # One that is empty here too is not needed.
        if one.mode == SUBMODULE and _has_content(commit.root / one.path):
            raise _Absent(f"has {one.path} as a submodule, which cannot be taken from it")


def _require_whole(commit: Commit, place: PurePosixPath, tree: Path) -> None:
    """Raise _Absent where files did not come out of git as they were put in."""
    if not (tree / place / "__init__.py").is_file():
        raise _Absent(
            f"has {place / '__init__.py'}, but .gitattributes keeps it out of archives: "
            "remove its export-ignore"
        )
    for path in _files_below(tree / place):
        inside = path.relative_to(tree)
        here = commit.root / inside
        # What is not fetched here either is not needed.
        if is_lfs_pointer(path) and not (here.is_file() and is_lfs_pointer(here)):
            raise _Absent(f"keeps {inside} in Git LFS: git lfs fetch --all")


def _imported(folder: Path) -> Operator:
    """Import the operator in a process of its own first, then here.

    Code of another commit may raise anything against the plugin of today, or end the process that
    imports it. The workers import it so too, so what comes through there comes through in them.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__, str(folder)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=IMPORT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Absent(f"has an operator that took {IMPORT_SECONDS:g} s to import") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        why = lines[-1] if lines else f"exit code {done.returncode}"
        raise _Absent(f"has an operator that cannot be imported by this plugin: {why}")
    operator = load_operator(folder)
    if operator.folder.resolve() != folder:
        raise _Absent(
            f"has an operator that says it lies in {operator.folder}, which is not in the commit: "
            "let folder be Path(__file__).parent"
        )
    return operator


def _includes_from_outside(folder: Path) -> bool:
    """Say whether a source below a folder includes a file that does not lie there."""
    for file in _files_below(folder):
        text = file.read_text(encoding="utf-8", errors="replace") if file.suffix in SOURCES else ""
        ends = (os.path.normpath(file.parent / name) for name in INCLUDE.findall(text))
        if not all(Path(one).is_relative_to(folder) for one in ends):
            return True
    return False


def _has_content(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _files_below(folder: Path) -> Iterator[Path]:
    return (one for one in sorted(folder.rglob("*")) if one.is_file())


def _listed_cases(operator: Operator) -> Iterator[Case]:
    """Yield the operator's own cases; `Operator.cases` may refuse them, which is no matter here."""
    for variant in operator.variants:
        for submission in Submission:
            for problem in operator.problems:
                yield Case(operator, variant, submission, problem)


def _key(case: Case) -> tuple[str, Submission, str]:
    """What makes two builds' cases the same, whatever their operators are called."""
    return case.variant.name, case.submission, case.problem.label


def _tell_in_one_line(kind: type[BaseException], error: BaseException, _: object) -> None:
    """Write an uncaught error for whoever reads the last line of stderr."""
    first, *_rest = [*str(error).splitlines(), ""]
    sys.stderr.write(f"{kind.__name__}: {first}\n")


if __name__ == "__main__":
    sys.excepthook = _tell_in_one_line
    load_operator(Path(sys.argv[1]))
