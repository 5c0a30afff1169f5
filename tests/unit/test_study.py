"""The figures of docs/trust.md, computed again from the recordings: the judge on real sessions."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from pytest_rmsperf.policy import Status

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


@pytest.mark.parametrize("mode", ["stored", "paired"])
def test_the_gate_finds_more_than_any_peer_at_every_size(study: object, mode: str) -> None:
    counts = getattr(study, mode)
    peers = [
        row
        for name, row in study.compared.items()  # type: ignore[attr-defined]
        if not name.startswith("pytest-rmsperf")
    ]

    behind = [
        (variant, row)
        for variant in ("delay_1_5", "delay_2", "delay_3", "delay_5", "delay_10")
        for row in peers
        if counts[variant].slower / counts[variant].total < row.found[variant]
    ]

    assert behind == []
