"""A project with a copy of the bundled operator, into which a test plants a fault."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR

SUITE = """
from pathlib import Path
import pytest
from pytest_rmsperf import Problem, load_operator

OPERATOR = load_operator(Path(__file__).parent / "operator")
NAMES = {"unfused", "local_fusion", "megakernel_row", "megakernel_grid"}
PROBLEM = Problem.of(rows=16, columns=131_072)
CASES = [one for one in OPERATOR.cases(problems=(PROBLEM,)) if one.variant.name in NAMES]
pytestmark = [pytest.mark.rmsperf, pytest.mark.parametrize("case", CASES)]

def test_residency(case, rmsperf_residency):
    rmsperf_residency.require()

def test_numerics(case, rmsperf_numerics):
    rmsperf_numerics.require()

def test_latency(case, rmsperf_latency):
    rmsperf_latency.require()
"""

FAILED = re.compile(r"^FAILED \S+::(test_\w+)\[rms_scaled_softmax/(\w+)-", re.MULTILINE)
SLOWER = re.compile(r"^slower by \d+\.\d+ % \(device time\)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """Exit code, failed tests as (test, variant), and everything printed."""

    code: int
    failed: set[tuple[str, str]]
    output: str


class Project:
    """A folder with a copy of the operator, a suite, and baselines of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(OPERATOR.folder, folder / "operator")
        (folder / "test_suite.py").write_text(SUITE)
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra\n")

    def plant(self, file: str, old: str, new: str) -> None:
        """Replace the one place where `file` says `old`."""
        path = self.folder / "operator" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} says {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new))

    def commit(self) -> None:
        """Make the folder a git repository, if it is none yet, and commit all of it."""
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
        for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "state")):
            subprocess.run(["git", *command], cwd=self.folder, check=True, timeout=60)

    def run(self, *options: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options],
            cwd=self.folder,
            env={**os.environ, "RMSPERF_COMMIT": "0123456789ab"},  # where git knows of none
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        output = done.stdout + done.stderr
        print(output)
        return Outcome(done.returncode, {(m[1], m[2]) for m in FAILED.finditer(output)}, output)
