"""A git repository of a test's own, which nothing of the caller's git reaches."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NOBODY = {
    f"GIT_{role}_{fact}": value
    for role in ("AUTHOR", "COMMITTER")
    for fact, value in (("NAME", "nobody"), ("EMAIL", "nobody@example.invalid"))
}


def forget_the_callers_git(monkeypatch: pytest.MonkeyPatch, ceiling: Path) -> None:
    """Leave no settings, and no repository above `ceiling`, for this test's git to find."""
    for name in [one for one in os.environ if one.startswith("GIT_")]:
        monkeypatch.delenv(name)
    own = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(ceiling),
        **NOBODY,
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)


@dataclass(frozen=True)
class Checkout:
    """A repository and its working tree."""

    root: Path

    @classmethod
    def new(cls, root: Path) -> Checkout:
        """Make an empty repository."""
        root.mkdir(parents=True, exist_ok=True)
        checkout = cls(root)
        checkout.git("init", "--quiet", "--initial-branch=main")
        return checkout

    def git(self, *arguments: str) -> str:
        """Run git in the working tree and return what it prints."""
        done = subprocess.run(
            ["git", "-C", str(self.root), *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> Path:
        """Write a file of the working tree."""
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def commit(self, **files: str) -> str:
        """Commit the working tree with these files written before, and return the hash."""
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a test asks for it")
        return self.git("rev-parse", "HEAD")

    def state(self) -> tuple[str, bytes, str]:
        """Return what git sees of the working tree, the index, and the branch that is out."""
        status = self.git("status", "--porcelain")
        index = (self.root / ".git" / "index").read_bytes()
        return status, index, (self.root / ".git" / "HEAD").read_text(encoding="utf-8")
