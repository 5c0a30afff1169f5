"""Plugins of the tests themselves: pytest accepts this list only in a conftest it reads early."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rmsperf import options

pytest_plugins = ["pytester"]

HERE = Path(__file__).parent
SUITE = HERE / "suite"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the gate only its suite to collect: the rest takes 6 s, to be deselected."""
    gate = options.gate_is_on(config)
    elsewhere = collection_path.parent == HERE and collection_path != SUITE
    return True if gate and elsewhere else None
