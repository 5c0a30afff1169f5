"""The reduction of samples to what a baseline keeps, and the figures of a measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.measurement import Measurement, ProbeFigures, figures, middle, probe_figures
from pytest_rmsperf.samples import Quartiles, Samples, Timing

Measured = Callable[..., Measurement]

SAMPLES = Samples("softmax/online-graph/16x1024", 120, (30, 10, 20), (300, 100, 200))


@pytest.mark.parametrize(
    ("values", "median"), [((), None), ((5,), 5), ((5, 8), 6), ((1, 9, 2), 2), ((3, 3, 3, 99), 3)]
)
def test_the_middle_is_a_whole_number_or_nothing(
    values: tuple[int, ...], median: int | None
) -> None:
    assert middle(values) == median


def test_the_figure_of_a_measurement_is_the_median_of_its_sessions(measured: Measured) -> None:
    one = measured((8200, 5000, 8300), completion_ns=(14_000, 99_000, 13_000))

    assert (one.device_ns, one.completion_ns) == (8200, 14_000)


def test_session_medians_are_in_the_order_of_sessions(measured: Measured) -> None:
    one = measured((8200, 5000, 8300), completion_ns=(14_000, 99_000, 13_000))

    assert (one.device_medians, one.completion_medians) == (
        (8200, 5000, 8300),
        (14_000, 99_000, 13_000),
    )


def test_a_measurement_without_sessions_has_no_figures(measured: Measured) -> None:
    one = measured(())

    assert (one.device_ns, one.completion_ns) == (None, None)


def test_published_sessions_have_completion_and_no_device_time(measured: Measured) -> None:
    one = measured((None, None), completion_ns=(18_600, 18_600))

    assert (one.device_ns, one.completion_ns) == (None, 18_600)


def test_session_without_device_time_is_left_out_of_its_medians(measured: Measured) -> None:
    one = measured((8200, None, 8300), completion_ns=(14_000, 13_000, 12_000))

    assert (one.device_medians, one.completion_medians) == (
        (8200, 8300),
        (14_000, 13_000, 12_000),
    )


# ---- bound by the host ---------------------------------------------------------------


@pytest.mark.parametrize(("completion_ns", "bound"), [(16_000, False), (16_001, True)])
def test_a_case_is_host_bound_when_most_of_its_completion_is_not_device_time(
    measured: Measured, completion_ns: int, *, bound: bool
) -> None:
    one = measured((8000,) * 3, completion_ns=(completion_ns,) * 3)

    assert one.is_host_bound is bound


@pytest.mark.parametrize("device_ns", [(), (None, None)])
def test_a_case_without_device_time_is_not_called_host_bound(
    measured: Measured, device_ns: tuple[None, ...]
) -> None:
    assert not measured(device_ns).is_host_bound


# ---- what a session keeps ------------------------------------------------------------


def test_a_session_keeps_the_quartiles_of_both_times() -> None:
    kept = figures(SAMPLES, null=None, copy=None)

    assert (kept.device, kept.completion) == (Quartiles(10, 20, 30), Quartiles(100, 200, 300))


def test_a_session_keeps_its_probes_and_its_launches_per_graph() -> None:
    null, copy = ProbeFigures(1, 2), ProbeFigures(3, 4)

    kept = figures(SAMPLES, null=null, copy=copy)

    assert (kept.null, kept.copy, kept.launches_per_graph) == (null, copy, 120)


@pytest.mark.parametrize("timing", Timing)
def test_a_session_keeps_how_its_launches_were_queued(timing: Timing) -> None:
    assert figures(replace(SAMPLES, timing=timing), null=None, copy=None).timing is timing


@pytest.mark.parametrize("launches", [1, 10, 100])
def test_figures_are_per_launch_whatever_the_launches_in_a_graph(launches: int) -> None:
    kept = figures(replace(SAMPLES, launches_per_graph=launches), null=None, copy=None)

    assert (kept.device, kept.completion) == (Quartiles(10, 20, 30), Quartiles(100, 200, 300))


def test_a_session_without_device_samples_has_no_device_time() -> None:
    assert figures(replace(SAMPLES, device_ns=()), null=None, copy=None).device is None


def test_a_session_of_one_sample_has_figures() -> None:
    kept = figures(replace(SAMPLES, device_ns=(7,), completion_ns=(9,)), null=None, copy=None)

    assert (kept.device, kept.completion) == (Quartiles(7, 7, 7), Quartiles(9, 9, 9))


def test_a_probe_keeps_its_two_medians() -> None:
    assert probe_figures(SAMPLES) == ProbeFigures(20, 200)
