"""What a run tells: whether a test is skipped or fails, and commands that work when typed."""

from __future__ import annotations

import re
from shlex import quote

import pytest

from pytest_rmsperf.errors import NotRun
from pytest_rmsperf.fixtures import GATE
from pytest_rmsperf.options import OPTIONS

# Without these a command of a message would speak of other files, devices or another protocol.
REPEATED = ("baselines", "devices", "arch", "cache", "cooldown", "samples", "power-limit")
COMMAND = re.compile(r"\bpytest (?=--rmsperf)")
CHECK = re.compile(r"\bpytest --rmsperf(?= )")


def told(config: pytest.Config, found: Exception) -> str:
    """Return the message that fails a test, or skip it where nothing is wrong but absent."""
    if not isinstance(found, NotRun):
        return as_typed(config, str(found))
    gate = config.stash.get(GATE, None)
    # On a GPU nothing is missing: a variant may be meant for no device of interest.
    if gate is None or not gate.settings.require_gpu or gate.machine().device is not None:
        pytest.skip(f"not run: {found}")
    asked_by = gate.settings.gpu_asked_by
    return f"not run: {found}, and {asked_by} asks for one; run it on a machine with a GPU"


def as_typed(config: pytest.Config, text: str) -> str:
    """Give the commands in a text the options of this run without which they would not help."""
    given = {one.word: config.getoption(one.dest) for one in OPTIONS}
    flags = [f"--rmsperf-{word}={quote(given[word])}" for word in REPEATED if given[word]]
    if given["against"]:
        against = f"--rmsperf-against={quote(given['against'])}"
        text = CHECK.sub(lambda _: f"pytest {against}", text)
    if config.getoption("rmsperf_static"):
        text = CHECK.sub("pytest --rmsperf-static", text)
    return COMMAND.sub(lambda _: " ".join(("pytest", *flags, "")), text)
