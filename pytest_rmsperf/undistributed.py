"""The gate keeps pytest-xdist from starting: cases that are timed at once would time each other."""

from __future__ import annotations

import pytest

SET_ASIDE: pytest.StashKey[str] = pytest.StashKey()  # what was asked of pytest-xdist


def set_xdist_aside(config: pytest.Config) -> None:
    """Keep pytest-xdist from starting: the gate measures in processes of its own, one at a time.

    Cases that are timed at once would time each other.
    """
    if config.getoption("dist", "no") == "no":
        return
    processes = config.option.numprocesses
    config.stash[SET_ASIDE] = f"-n {processes}" if processes else f"--dist={config.option.dist}"
    config.option.dist, config.option.tx, config.option.numprocesses = "no", [], 0


def xdist_line(config: pytest.Config) -> list[str]:
    """Say in the header what was set aside."""
    option = config.stash.get(SET_ASIDE, None)
    if option is None:
        return []
    return [f"rmsperf: {option} is set aside: the gate measures in worker processes of its own"]
