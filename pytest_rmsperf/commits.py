"""Files of another commit, taken from git without touching the working tree or the index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO

from pytest_rmsperf.errors import SettingError

# A partial clone fetches what it lacks; a whole repository with large files is unpacked from disk.
GIT_SECONDS = 300.0
# Unpacked trees that stay: runs against a few commits in turn unpack each of them once.
MOST_TREES = 8
SUBMODULE = "160000"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
# Set by git around a hook: they name the repository of the hook, and not the operator's.
OF_A_HOOK = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
ENVIRONMENT = {
    "LC_ALL": "C",  # messages are read below
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, link or submodule of a commit; `path` is relative to the repository."""

    mode: str
    path: PurePosixPath


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the repository at `root`; `ref` is how it was asked for, `full_hash` what it is.

    Every method raises SettingError where git fails, with what git said.
    """

    root: Path
    ref: str
    full_hash: str

    @property
    def short(self) -> str:
        """The first 7 digits of its hash, as git itself shows commits."""
        return self.full_hash[:7]

    @property
    def name(self) -> str:
        """How messages call it, such as 1a2b3c4 (HEAD~1)."""
        return self.short if self.full_hash.startswith(self.ref) else f"{self.short} ({self.ref})"

    def entries(self, folder: PurePosixPath) -> tuple[Entry, ...]:
        """Return everything below a folder of the commit; nothing where it has no such folder."""
        listed = self._told("ls-tree", "-r", "-z", self.full_hash, "--", f"{folder}/")
        found = []
        for line in os.fsdecode(listed).split("\0")[:-1]:
            facts, _, path = line.partition("\t")
            found.append(Entry(facts.split()[0], PurePosixPath(path)))
        return tuple(found)

    def ignores(self, folder: Path) -> bool:
        """Say whether the repository has been told to ignore a folder of the working tree."""
        return _git(self.ref, self.root, "check-ignore", "--quiet", "--", str(folder)).is_fine

    def unpack(self, folder: PurePosixPath, scratch: Path) -> Path:
        """Return where the files below a folder of the commit lie, at their paths in the commit.

        They are unpacked below `scratch` once; the trees that were used last stay there.
        """
        place = sha256(f"{self.root}\0{folder}".encode(errors="surrogateescape")).hexdigest()[:8]
        tree = scratch.resolve() / f"{self.full_hash[:12]}-{place}"
        try:
            _make_ignored(tree.parent)
            if not tree.is_dir():
                self._unpack_into(tree, folder)
            os.utime(tree)  # used last
            _keep_the_last(tree.parent)
        except (OSError, tarfile.TarError) as error:
            raise SettingError(
                f"--rmsperf-against={self.ref}: the files of {self.name} cannot be unpacked\n"
                f"  below      {tree.parent}\n"
                f"  error      {error}\n"
                "make room there, or make it writable, then run again"
            ) from error
        return tree

    def _unpack_into(self, tree: Path, folder: PurePosixPath) -> None:
        """Unpack beside the tree and rename, so that a tree which exists is complete."""
        partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=tree.parent))
        try:
            with tempfile.TemporaryFile(dir=tree.parent) as archive:
                # Literal, because a folder may be called [a].
                command = ("--literal-pathspecs", "archive", "--format=tar", self.full_hash)
                self._told(*command, "--", str(folder), into=archive)
                archive.seek(0)
                _extract(archive, partial)
            _rename(partial, tree)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _told(self, *arguments: str, into: IO[bytes] | None = None) -> bytes:
        said = _git(self.ref, self.root, *arguments, into=into)
        if said.is_fine:
            return said.output
        raise SettingError(
            f"--rmsperf-against={self.ref}: git cannot read {self.name} of {self.root}\n"
            f"{said.evidence}"
            "mend what git names, then run again"
        )


def find_commit(ref: str, folder: Path) -> Commit:
    """Return the commit called `ref` in the repository that `folder` lies in.

    SettingError where there is no git, no repository, or no such commit or more than one.
    """
    if ref.startswith("-"):
        raise SettingError(
            f"--rmsperf-against={ref}: that is an option and no commit; "
            "name a commit, a branch or a tag, such as --rmsperf-against=origin/main"
        )
    root = _root_of(ref, folder)
    # Told to warn, whatever the user's settings: a branch and a tag of one name are two commits.
    loud = ("-c", "core.warnAmbiguousRefs=true")
    said = _git(ref, root, *loud, "rev-parse", "--verify", f"{ref}^{{commit}}")
    if "is ambiguous" in said.errors:
        raise SettingError(
            f"--rmsperf-against={ref}: more than one commit has that name in {root}\n"
            f"{said.evidence}"
            f"say which: more digits of its hash, heads/{ref}, or tags/{ref}"
        )
    full_hash = os.fsdecode(said.output).strip()
    # ^main is the name of what to leave out, and passes as one.
    if not said.is_fine or not re.fullmatch("[0-9a-f]{40,64}", full_hash):
        raise SettingError(
            f"--rmsperf-against={ref}: no commit has that name in {root}\n"
            f"{said.evidence}"
            f"{_how_to_fetch(ref, root)}"
        )
    return Commit(root, ref, full_hash)


def is_lfs_pointer(file: Path) -> bool:
    """Say whether a file stands for one that Git LFS keeps elsewhere."""
    with file.open("rb") as content:
        return content.read(len(LFS_POINTER)) == LFS_POINTER


@dataclass(frozen=True, slots=True)
class _Said:
    """What git answered."""

    is_fine: bool
    output: bytes
    errors: str

    @property
    def evidence(self) -> str:
        """Its complaints as lines of a message."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        return "".join(f"  git        {line}\n" for line in lines)


def _root_of(ref: str, folder: Path) -> Path:
    said = _git(ref, folder, "rev-parse", "--show-toplevel")
    if said.is_fine:
        return Path(os.fsdecode(said.output.removesuffix(b"\n")))
    if "not a git repository" in said.errors:
        raise SettingError(
            f"--rmsperf-against={ref}: {folder} lies in no git repository, so it has no commits\n"
            f"{said.evidence}"
            "run it in a checkout, on the operator that lies there; "
            "or compare with stored baselines: pytest --rmsperf"
        )
    raise SettingError(
        f"--rmsperf-against={ref}: git does not answer for {folder}\n"
        f"{said.evidence}"
        "mend what git names, then run again"
    )


def _how_to_fetch(ref: str, root: Path) -> str:
    shallow = _git(ref, root, "rev-parse", "--is-shallow-repository").output.strip() == b"true"
    if shallow:
        return (
            "this clone has only its last commits; get the others with: git fetch --unshallow "
            "(under actions/checkout: fetch-depth: 0)"
        )
    return "correct the name, or get the commit with: git fetch --all --tags"


def _git(ref: str, folder: Path, *arguments: str, into: IO[bytes] | None = None) -> _Said:
    """Ask git about the repository around a folder; what it prints goes `into` a file, if any."""
    kept = {name: value for name, value in os.environ.items() if name not in OF_A_HOOK}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=into or subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=kept | ENVIRONMENT,
            timeout=GIT_SECONDS,
            check=False,
        )
    except OSError as error:
        raise SettingError(
            f"--rmsperf-against={ref}: git cannot be run ({error.strerror}), and only git has "
            "other commits; install it (apt-get install git), then run again"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise SettingError(
            f"--rmsperf-against={ref}: git was silent for {GIT_SECONDS:g} s\n"
            f"  command    git {' '.join(arguments)}\n"
            "see what it waits for, in the same folder, then run again"
        ) from error
    return _Said(done.returncode == 0, done.stdout or b"", done.stderr.decode(errors="replace"))


def _make_ignored(folder: Path) -> None:
    """Make a folder that keeps itself out of git."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def _extract(archive: IO[bytes], target: Path) -> None:
    """Unpack files, folders, and links that stay inside; nothing else, and nothing elsewhere."""
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        # The first releases of Python 3.10 and 3.11 have no filter and do not look for one.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(target, [one for one in tar if _stays_inside(one)])


def _stays_inside(member: tarfile.TarInfo) -> bool:
    """Say whether a member is what git makes, and names no place outside of the archive."""
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        return False
    if member.issym():
        end = os.path.normpath(name.parent / member.linkname)
        return not end.startswith(("/", "../")) and end != ".."
    return member.isfile() or member.isdir()


def _rename(partial: Path, tree: Path) -> None:
    try:
        partial.rename(tree)
    except OSError:
        if not tree.is_dir():  # else another run has unpacked the same meanwhile
            raise


def _keep_the_last(scratch: Path) -> None:
    """Remove the trees that were used least lately."""
    trees = sorted((one for one in scratch.iterdir() if one.is_dir()), key=_used_ns)
    for tree in trees[:-MOST_TREES]:
        shutil.rmtree(tree, ignore_errors=True)


def _used_ns(tree: Path) -> int:
    """When a tree was last used; one that another run removes at this moment counts as oldest."""
    try:
        return tree.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
