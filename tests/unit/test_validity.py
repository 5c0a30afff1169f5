"""Figures that no working clock and kernel can give, whatever they are compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.judge.validity import impossible_figures
from pytest_rmsperf.measurement import Measurement, ProbeFigures
from pytest_rmsperf.samples import Quartiles

Measured = Callable[..., Measurement]


def with_session(measurement: Measurement, **changes: object) -> Measurement:
    """The same with its last session changed."""
    *others, last = measurement.sessions
    return replace(measurement, sessions=(*others, replace(last, **changes)))  # type: ignore[arg-type]


def test_figures_of_a_working_clock_are_possible(measured: Measured) -> None:
    assert impossible_figures(measured((1, 8000, 10**12), null_ns=None, copy_ns=None)) is None


@pytest.mark.parametrize("device_ns", [0, -1])
def test_device_time_that_no_clock_gives_is_named(measured: Measured, device_ns: int) -> None:
    assert impossible_figures(measured((8000, device_ns, 8000))) == f"device time of {device_ns} ns"


@pytest.mark.parametrize("completion_ns", [0, -1])
def test_host_completion_that_no_clock_gives_is_named(
    measured: Measured, completion_ns: int
) -> None:
    current = measured((8000, 8000), completion_ns=(13_000, completion_ns))

    assert impossible_figures(current) == f"host completion of {completion_ns} ns"


@pytest.mark.parametrize(
    ("figure", "reason"),
    [("device", "device time of 0 ns"), ("completion", "host completion of 0 ns")],
)
def test_quarter_of_zero_samples_is_impossible_though_the_median_is_not(
    measured: Measured, figure: str, reason: str
) -> None:
    current = with_session(measured(), **{figure: Quartiles(0, 8000, 8000)})

    assert impossible_figures(current) == reason


def test_session_without_device_time_is_impossible(measured: Measured) -> None:
    assert impossible_figures(measured((8000, None))) == "no device time"


# ---- implausibly fast: a null kernel of 1000 ns, and a copy of 7000 ns -------------------


def test_half_the_time_of_a_kernel_that_does_nothing_is_plausible(measured: Measured) -> None:
    assert impossible_figures(measured((500,), copy_ns=None)) is None


def test_less_than_half_the_time_of_a_kernel_that_does_nothing_is_implausible(
    measured: Measured,
) -> None:
    assert impossible_figures(measured((499,), copy_ns=None)) == (
        "implausibly fast: device time 499 ns, but a kernel that does nothing takes 1000 ns; "
        "is the work on another stream?"
    )


def test_half_the_time_of_a_copy_of_the_same_bytes_is_plausible(measured: Measured) -> None:
    assert impossible_figures(measured((3500,))) is None


def test_less_than_half_the_time_of_a_copy_of_the_same_bytes_is_implausible(
    measured: Measured,
) -> None:
    assert impossible_figures(measured((8000, 3499))) == (
        "implausibly fast: device time 3499 ns, but a copy of the same bytes takes 7000 ns; "
        "does the kernel do its work on every launch?"
    )


def test_without_probes_beside_it_a_short_time_is_believed(measured: Measured) -> None:
    assert impossible_figures(measured((3,), null_ns=None, copy_ns=None)) is None


def test_a_clock_halved_for_kernel_and_probe_alike_makes_nothing_implausible(
    measured: Measured,
) -> None:
    halved = with_session(
        measured((8000, 7000)),
        null=ProbeFigures(2000, 6000),
        copy=ProbeFigures(14_000, 20_000),
    )

    assert impossible_figures(halved) is None
