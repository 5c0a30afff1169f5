"""The protocol's settings, and the reduction of samples to what a baseline keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.measurement import (
    Measurement,
    ProbeFigures,
    Protocol,
    figures,
    middle,
    probe_figures,
)
from pytest_rmsperf.samples import Quartiles, Samples

COUNTS = ("sessions", "blocks", "completions_per_block", "graph_us")
SAMPLES = Samples("softmax/online-graph/16x1024", 120, (30, 10, 20), (300, 100, 200))


def protocol_with(**changes: Any) -> Protocol:
    return replace(Protocol(), **changes)


@pytest.mark.parametrize("name", COUNTS)
def test_a_protocol_counts_from_one(name: str) -> None:
    assert getattr(protocol_with(**{name: 1}), name) == 1


@pytest.mark.parametrize("name", COUNTS)
def test_a_protocol_that_measures_nothing_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"{name} must be at least 1, got 0"):
        protocol_with(**{name: 0})


def test_a_protocol_does_not_differ_from_itself() -> None:
    assert Protocol().differs_from(Protocol()) is None


def test_more_sessions_are_no_other_protocol() -> None:
    assert Protocol(sessions=3).differs_from(Protocol(sessions=9)) is None


@pytest.mark.parametrize(
    ("stored", "difference"),
    [
        (Protocol(version=7), "version 7 -> 1"),
        (Protocol(blocks=30), "blocks 30 -> 15"),
        (Protocol(completions_per_block=5), "completions_per_block 5 -> 20"),
        (Protocol(graph_us=500), "graph_us 500 -> 1000"),
        (Protocol(cache="cold"), "cache cold -> warm"),
    ],
)
def test_a_setting_that_moves_figures_is_named_with_both_values(
    stored: Protocol, difference: str
) -> None:
    assert Protocol().differs_from(stored) == difference


def test_every_setting_but_the_number_of_sessions_makes_another_protocol() -> None:
    other = {"version": 2, "sessions": 4, "blocks": 1, "completions_per_block": 1, "graph_us": 1}
    changed = [
        protocol_with(**{name: value}) for name, value in (other | {"cache": "cold"}).items()
    ]

    same = [one for one in changed if Protocol().differs_from(one) is None]

    assert (len(changed), same) == (len(fields(Protocol)), [Protocol(sessions=4)])


@pytest.mark.parametrize(
    ("values", "median"), [((), None), ((5,), 5), ((5, 8), 6), ((1, 9, 2), 2), ((3, 3, 3, 99), 3)]
)
def test_the_middle_is_a_whole_number_or_nothing(
    values: tuple[int, ...], median: int | None
) -> None:
    assert middle(values) == median


def test_the_figure_of_a_measurement_is_the_median_of_its_sessions(
    measured: Callable[..., Measurement],
) -> None:
    one = measured((8200, 5000, 8300), completion_ns=(14_000, 99_000, 13_000))

    assert (one.device_ns, one.completion_ns) == (8200, 14_000)


def test_a_measurement_without_sessions_has_no_figures(
    measured: Callable[..., Measurement],
) -> None:
    one = measured(())

    assert (one.device_ns, one.completion_ns) == (None, None)


def test_published_sessions_have_completion_and_no_device_time(
    measured: Callable[..., Measurement],
) -> None:
    one = measured((None, None), completion_ns=(18_600, 18_600))

    assert (one.device_ns, one.completion_ns) == (None, 18_600)


def test_a_session_keeps_the_quartiles_of_both_times() -> None:
    kept = figures(SAMPLES, null=None, copy=None)

    assert (kept.device, kept.completion) == (Quartiles(10, 20, 30), Quartiles(100, 200, 300))


def test_a_session_keeps_its_probes_and_its_launches_per_graph() -> None:
    null, copy = ProbeFigures(1, 2), ProbeFigures(3, 4)

    kept = figures(SAMPLES, null=null, copy=copy)

    assert (kept.null, kept.copy, kept.launches_per_graph) == (null, copy, 120)


def test_a_session_without_device_samples_has_no_device_time() -> None:
    assert figures(replace(SAMPLES, device_ns=()), null=None, copy=None).device is None


def test_a_session_of_one_sample_has_figures() -> None:
    kept = figures(replace(SAMPLES, device_ns=(7,), completion_ns=(9,)), null=None, copy=None)

    assert (kept.device, kept.completion) == (Quartiles(7, 7, 7), Quartiles(9, 9, 9))


def test_a_probe_keeps_its_two_medians() -> None:
    assert probe_figures(SAMPLES) == ProbeFigures(20, 200)
