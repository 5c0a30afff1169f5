"""The figures of docs/trust.md, computed again from the recordings: the judge on real sessions."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from pytest_rmsperf.judge.policy import Status

STUDY = Path(__file__).parents[2] / "docs" / "study"


@pytest.fixture(scope="module")
def power() -> ModuleType:
    """The program that computes them; its neighbours are imported by their own names."""
    sys.path.insert(0, str(STUDY))
    try:
        return import_module("power")
    finally:
        sys.path.remove(str(STUDY))


@pytest.fixture(scope="module")
def study(power: ModuleType) -> object:
    return power.study()


def test_the_page_says_what_the_recordings_say(power: ModuleType, study: object) -> None:
    page = power.PAGE.read_text(encoding="utf-8")

    assert power.filled(page, study) == page


def test_over_1000_checks_of_unchanged_cases_none_is_called_slower(study: object) -> None:
    counts = study.false_alarms  # type: ignore[attr-defined]

    assert len(study.unchanged.sessions) >= 10  # type: ignore[attr-defined]
    assert counts.total >= 1000
    assert counts.verdicts[Status.SLOWER] == 0


@pytest.mark.parametrize(
    ("mode", "variant", "least"),
    [("stored", "delay_1_5", 0.99), ("paired", "delay_0_5", 0.99)],
)
def test_planted_delays_of_the_promised_size_are_found(
    study: object, mode: str, variant: str, least: float
) -> None:
    counts = getattr(study, mode)[variant]

    assert counts.slower / counts.total >= least


@pytest.mark.parametrize(("mode", "smallest"), [("stored", "delay_1_5"), ("paired", "delay_0_25")])
def test_the_gate_finds_no_less_than_any_peer_from_the_size_that_it_promises(
    power: ModuleType, study: object, mode: str, smallest: str
) -> None:
    variants = study.variants  # type: ignore[attr-defined]
    counts = getattr(study, mode)
    # Two builds in one process stand against the paired mode alone; so do processes on their own.
    peers = {
        name: row
        for name, row in study.compared.items()  # type: ignore[attr-defined]
        if not name.startswith("pytest-rmsperf")
        and (mode == "paired" or not name.endswith(power.IN_ONE_PROCESS))
    }

    behind = [
        (variant, name)
        for variant in variants[variants.index(smallest) :]
        for name, row in peers.items()
        if counts[variant].slower / counts[variant].total < row.found[variant]
    ]

    assert len(peers) >= 6
    assert behind == []


def test_a_peer_is_compared_within_its_processes_by_the_twin_that_they_timed(
    power: ModuleType,
) -> None:
    figures = {"sound": [10.0, 20.0], "twin": [10.1, 19.8], "late": [10.3, 20.1]}

    found = power.within_processes(figures["sound"], power.inside(figures))

    assert found.threshold == pytest.approx(0.01)
    assert found.found["late"] == 0.5
