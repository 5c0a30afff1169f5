"""The protocol's settings: what it refuses, and which of them make it another protocol."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.protocol import LEAST_BLOCKS, PROTOCOL_VERSION, Cache, Protocol

COUNTS = ("sessions", "blocks", "completions_per_block", "graph_us", "budget_ms")
AMOUNTS = ("cooldown_ms", "precision_ppm")
# They only change how sure a figure is.
SAME = ("sessions", "precision_ppm", "budget_ms")
OTHERS = [
    (
        Protocol(version=PROTOCOL_VERSION + 1),
        f"version {PROTOCOL_VERSION + 1} -> {PROTOCOL_VERSION}",
    ),
    (Protocol(blocks=30), "blocks 30 -> 15"),
    (Protocol(completions_per_block=5), "completions_per_block 5 -> 20"),
    (Protocol(graph_us=500), "graph_us 500 -> 1000"),
    (Protocol(cache=Cache.COLD), "cache cold -> warm"),
    (Protocol(cooldown_ms=100), "cooldown_ms 100 -> 0"),
]


def protocol_with(**changes: Any) -> Protocol:
    return replace(Protocol(), **changes)


@pytest.mark.parametrize("name", COUNTS)
def test_protocol_counts_from_one(name: str) -> None:
    assert getattr(protocol_with(**{name: 1}), name) == 1


@pytest.mark.parametrize("name", COUNTS)
def test_protocol_that_measures_nothing_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"^{name} must be at least 1, got 0$"):
        protocol_with(**{name: 0})


@pytest.mark.parametrize("name", AMOUNTS)
def test_protocol_may_do_without_a_pause_and_without_precision(name: str) -> None:
    assert getattr(protocol_with(**{name: 0}), name) == 0


@pytest.mark.parametrize("name", AMOUNTS)
def test_negative_amount_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"^{name} must be at least 0, got -1$"):
        protocol_with(**{name: -1})


def test_protocol_does_not_differ_from_itself() -> None:
    assert Protocol().differs_from(Protocol()) is None


@pytest.mark.parametrize("name", SAME)
def test_setting_that_only_makes_a_figure_surer_is_no_other_protocol(name: str) -> None:
    assert Protocol().differs_from(protocol_with(**{name: 9})) is None


@pytest.mark.parametrize(("stored", "difference"), OTHERS)
def test_setting_that_moves_figures_is_named_with_both_values(
    stored: Protocol, difference: str
) -> None:
    assert Protocol().differs_from(stored) == difference


def test_every_setting_either_moves_figures_or_makes_them_surer() -> None:
    moving = {
        one.name
        for one in fields(Protocol)
        for other, _ in OTHERS
        if getattr(other, one.name) != getattr(Protocol(), one.name)
    }

    assert moving | set(SAME) == {one.name for one in fields(Protocol)}


def test_default_protocol_takes_enough_blocks_for_a_median() -> None:
    assert Protocol().blocks >= LEAST_BLOCKS


def test_three_processes_are_the_default() -> None:
    assert Protocol().sessions == 3
