"""What tests on a device share: they skip where there is none, or fail where one was asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = Path(__file__).parent / "programs"
REQUIRE = "RMSPERF_REQUIRE_GPU"

Program = Callable[..., Any]

ASK = "from pytest_rmsperf.device.context import why_no_device; print(why_no_device() or '')"


@pytest.fixture(scope="session")
def why_no_device() -> str:
    """Ask in a process of its own, so that this one never initializes CUDA; empty: there is one."""
    done = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


# Of the session, so that it comes before every other fixture, and their work on the device.
@pytest.fixture(autouse=True, scope="session")
def device(why_no_device: str) -> None:
    if not why_no_device:
        return
    if os.environ.get(REQUIRE):
        pytest.fail(f"{REQUIRE} is set and there is {why_no_device}", pytrace=False)
    pytest.skip(why_no_device)


@pytest.fixture
def program() -> Program:
    """Run a program of `programs/` and return the JSON of its last line."""

    def run(name: str, *arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, str(PROGRAMS / name), *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
