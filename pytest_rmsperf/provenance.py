"""Which code is being measured: commit, date, versions. A missing git is a fact, not an error."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Collection
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from pytest_rmsperf.environment import Provenance

GIT_SECONDS = 10.0
# Names the commit where the sources came without their history, as in a container image.
COMMIT_VARIABLE = "RMSPERF_COMMIT"
# What an operator is made of: of files that git does not know, only these are measured.
SOURCE_SUFFIXES = frozenset({".cu", ".cuh", ".py"})


def current_provenance(
    folder: Path,
    packages: tuple[tuple[str, str], ...],
    *,
    baselines: Path | None = None,
    sources: Collection[Path] = (),
) -> Provenance:
    """Describe the checkout that `folder` lies in.

    It is dirty when a file that git knows differs from the commit, other than a baseline file below
    `baselines` (saving one operator must not make the next one dirty), or when a folder of
    `sources`, those of the operators, holds a source that git does not know. Outside of git, commit
    is what RMSPERF_COMMIT says, if anything, and dirty is None.
    """
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    return Provenance(
        date=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=commit or os.environ.get(COMMIT_VARIABLE) or None,
        dirty=_is_dirty(folder, baselines, sources) if commit else None,
        python=platform.python_version(),
        rmsperf=_own_version(),
        packages=packages,
    )


def _is_dirty(folder: Path, baselines: Path | None, sources: Collection[Path]) -> bool | None:
    root = _git(folder, "rev-parse", "--show-toplevel")
    changed = _git(folder, "diff", "--name-only", "--no-renames", "-z", "HEAD")
    if root is None or changed is None:
        return None
    stored = baselines.resolve() if baselines is not None else None
    files = [Path(root, name) for name in changed.split("\0") if name]
    if any(not _is_baseline(file, stored) for file in files):
        return True
    return any(_has_unknown_source(one, Path(root)) for one in sources)


def _is_baseline(file: Path, stored: Path | None) -> bool:
    """Say whether `file` is where a store in the folder `stored` keeps a device's cases."""
    return file.suffix == ".json" and file.parent.parent == stored


def _has_unknown_source(folder: Path, root: Path) -> bool:
    folder = folder.resolve()
    if not folder.is_relative_to(root):  # an operator of another checkout, or of none
        return False
    listed = _git(folder, "ls-files", "--others", "--exclude-standard", "-z")
    if listed is None:  # what cannot be listed may hold anything
        return True
    return any(Path(name).suffix in SOURCE_SUFFIXES for name in listed.split("\0"))


def _own_version() -> str:
    try:
        return metadata.version("pytest-rmsperf")
    except metadata.PackageNotFoundError:
        return "not installed"


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",  # a file name in another encoding must not end the run
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
