"""The selftest on the device at hand: everything planted is told right, delays in both modes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_everything_planted_is_told_right(tmp_path: Path) -> None:
    options = ("--rmsperf-selftest", "--rmsperf-require-gpu")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )

    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "planted cases told right" in done.stdout
    assert "not run" not in done.stdout
