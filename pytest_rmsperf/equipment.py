"""The instrument that a run measures with, and its settings; kept apart so that it loads first.

Its worker takes 0.4 s to start, which is how long the rest of the gate takes to load beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.supervisor import Deadlines

if TYPE_CHECKING:
    import pytest

    from pytest_rmsperf.campaign import Instrument
    from pytest_rmsperf.settings import Settings

Say = Callable[[str], None]


def default_instrument(settings: Settings, say: Say, *, at_once: bool = False) -> Instrument:
    """Return the instrument that measures on this machine; `at_once` starts its worker now."""
    instrument = WorkerInstrument(
        WorkerSettings(
            settings.arch, settings.usable_device, settings.schedules, devices=settings.devices
        ),
        Deadlines(step_s=settings.deadline_s),
        say,
    )
    if at_once:
        instrument.start()
    return instrument


def instrument_settings(config: pytest.Config, settings: Settings) -> Settings:
    """Return the settings for the instrument.

    A selftest need not wait long for its hang, and its faults are none of a device of interest.
    """
    if not config.getoption("rmsperf_selftest"):
        return settings
    from pytest_rmsperf.selftest.runner import hastened

    return replace(hastened(settings), devices=())
