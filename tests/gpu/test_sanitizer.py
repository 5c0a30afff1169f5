"""Every variant under each tool of compute-sanitizer, and each tool under a fault of its kind."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from .conftest import PROGRAMS

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
FOUND = 86

SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards? displayed)")


def sanitize(tool: str, *arguments: str) -> tuple[int, int, str]:
    """Return exit code, number of errors in the summary line, and the whole output."""
    sanitizer = shutil.which("compute-sanitizer")
    assert sanitizer is not None, "compute-sanitizer is not on the PATH; it comes with the toolkit"
    command = [sanitizer, "--tool", tool, "--error-exitcode", str(FOUND)]
    done = subprocess.run(
        [*command, sys.executable, str(PROGRAMS / "launch_variants.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    output = done.stdout + done.stderr
    summary = SUMMARY.search(output)
    assert summary is not None, output
    return done.returncode, int(summary[1]), output


@pytest.mark.parametrize("tool", TOOLS)
def test_all_variants_are_clean(tool: str) -> None:
    code, errors, output = sanitize(tool)

    assert output.count("launched ") == 14, output
    assert (code, errors) == (0, 0), output


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_finds_a_planted_fault(tool: str) -> None:
    code, errors, output = sanitize(tool, tool)

    assert code == FOUND, output
    assert errors > 0, output
