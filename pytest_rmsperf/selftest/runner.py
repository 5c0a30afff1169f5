"""The selftest: everything is planted on this machine, and the right verdict demanded for each."""

from __future__ import annotations

from dataclasses import replace

from pytest_rmsperf.campaign import Campaign, Instrument, Say, Surveyor
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.judge.thresholds import PRESETS, Thresholds
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.selftest.delays import delay_rows
from pytest_rmsperf.selftest.mistakes import mistake_rows
from pytest_rmsperf.selftest.rows import Row, passed, summary, table
from pytest_rmsperf.settings import Settings

# No step of the selftest's kernels takes a second: what is silent for so long hangs, as one must.
MOST_DEADLINE_S = 10.0


def hastened(settings: Settings) -> Settings:
    """Return the settings for the instrument: one planted kernel runs into its deadline."""
    return replace(settings, deadline_s=min(settings.deadline_s, MOST_DEADLINE_S))


def selftest(instrument: Instrument, settings: Settings, say: Say) -> tuple[list[str], bool]:
    """Return the lines to show, and whether everything demanded was told right.

    It is red too where nothing could be tried, or where a GPU was asked for and is not there.
    """
    preset = PRESETS[settings.preset]
    is_paired = settings.against is not None
    rows = run_selftest(
        instrument,
        settings.protocol,
        preset.stored if is_paired else settings.thresholds,
        settings.thresholds if is_paired else preset.paired,
        say,
        power_limit_mw=settings.power_limit_mw,
    )
    needs_gpu = settings.usable_device is DeviceChoice.CUDA
    lines = [*table(rows), *summary(rows, needs_gpu=needs_gpu)]
    return lines, passed(rows, needs_gpu=needs_gpu)


def run_selftest(
    instrument: Instrument,
    protocol: Protocol,
    thresholds_stored: Thresholds,
    thresholds_paired: Thresholds,
    say: Say,
    *,
    power_limit_mw: int | None = None,
) -> tuple[Row, ...]:
    """Return a row for everything planted; it is timed by `protocol` in sessions of its own.

    Raises RmsperfError where the machine cannot work at all.
    """
    surveyor = Surveyor(instrument, protocol, say, _keep_nothing, power_limit_mw)
    return (
        *mistake_rows(surveyor),
        *delay_rows(surveyor, thresholds_stored, thresholds_paired),
    )


def _keep_nothing(campaign: Campaign) -> None:
    """Store nothing of an unfinished selftest."""
