"""The hooks this plugin offers to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Instrument
    from pytest_rmsperf.settings import Settings


@pytest.hookspec(firstresult=True)
def pytest_rmsperf_instrument(config: pytest.Config, settings: Settings) -> Instrument | None:
    """Return what checks and measures the cases, or None to leave it to the next.

    The default runs worker processes on this machine's device. A test suite of an operator, or of
    this plugin, can return one with scripted answers and so exercise the whole gate anywhere.
    """
