"""How many launches the timed graph holds, by scripted estimates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from typing import cast

import pytest

from pytest_rmsperf.device.clock import ESTIMATES, MOST_LAUNCHES, UnrolledLaunches
from pytest_rmsperf.device.launcher import Invocation


class Captured:
    """Stands for an invocation of which graphs can be captured."""

    def capture(self, repeats: int) -> int:
        return repeats


def launches_for(
    monkeypatch: pytest.MonkeyPatch, estimates_ns: Iterator[int], graph_us: int = 1000
) -> int:
    monkeypatch.setattr(UnrolledLaunches, "time_ns", lambda _: next(estimates_ns))
    return UnrolledLaunches.lasting(cast("Invocation", Captured()), graph_us).launches


@pytest.mark.parametrize(
    ("estimate_ns", "launches"),
    [
        (7813, 64),  # 127.99 fit
        (7812, 128),  # 128.008 fit
        (1_000_000, 1),
        (2_000_000, 1),
        (1, MOST_LAUNCHES),
        (0, MOST_LAUNCHES),
    ],
)
def test_graph_holds_the_power_of_two_that_lasts_at_most_as_long(
    monkeypatch: pytest.MonkeyPatch, estimate_ns: int, launches: int
) -> None:
    assert launches_for(monkeypatch, repeat(estimate_ns)) == launches


@pytest.mark.parametrize("slow", range(1, ESTIMATES))
def test_slow_first_estimates_do_not_shorten_the_graph(
    monkeypatch: pytest.MonkeyPatch, slow: int
) -> None:
    estimates_ns = chain(repeat(15_000, slow), repeat(7812))

    assert launches_for(monkeypatch, estimates_ns) == 128
