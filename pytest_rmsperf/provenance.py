"""Which code is being measured: commit, date, versions. A missing git is a fact, not an error."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from pytest_rmsperf.environment import Provenance

GIT_SECONDS = 10.0
# Names the commit where the sources came without their history, as in a container image.
COMMIT_VARIABLE = "RMSPERF_COMMIT"


def current_provenance(folder: Path, packages: tuple[tuple[str, str], ...]) -> Provenance:
    """Describe the checkout that `folder` lies in.

    Outside of git, commit is what RMSPERF_COMMIT says, if anything, and dirty is None.
    """
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    status = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    return Provenance(
        date=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=commit or os.environ.get(COMMIT_VARIABLE) or None,
        dirty=None if status is None else bool(status),
        python=platform.python_version(),
        rmsperf=_own_version(),
        packages=packages,
    )


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
