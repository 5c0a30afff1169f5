"""Repositories of a test's own, and a folder to unpack their commits into."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from git_checkout import Checkout, forget_the_callers_git
from twice import BOTH


@pytest.fixture(autouse=True)
def _own_git_and_modules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No git of the caller's; what was imported from the test's folders is forgotten."""
    forget_the_callers_git(monkeypatch, tmp_path)
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith("rmsperf_operator_"):
            del sys.modules[name]


@pytest.fixture
def history(tmp_path: Path) -> Checkout:
    """Two commits: `old` in kernels/row/row.cu and common.cuh, then `new`."""
    made = Checkout.new(tmp_path / "history")
    for text in ("old", "new"):
        made.write("kernels/row/row.cu", text)
        made.commit(**{"common.cuh": text})
    return made


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A commit of the operator `twice` with two variants, in kernels/twice."""
    made = Checkout.new(tmp_path / "checkout")
    made.write("kernels/twice/__init__.py", BOTH)
    for name in ("plain", "wide"):
        made.write(f"kernels/twice/{name}.cu", "// old\n")
    made.commit()
    return made


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return tmp_path / "scratch"


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a shell script in the place of git."""

    def put(script: str) -> None:
        file = tmp_path / "bin" / "git"
        file.parent.mkdir()
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{file.parent}:{os.environ['PATH']}")

    return put
