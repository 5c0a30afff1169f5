"""What pytest collected, read: which tests are the gate's, what each asks, what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import pytest

from pytest_rmsperf.fixtures import case_of, ordering_of

if TYPE_CHECKING:
    from pytest_rmsperf.questions import Question
    from pytest_rmsperf.report.records import Finding

# The fixtures whose answer decides of a test.
FINDINGS = {"rmsperf_residency", "rmsperf_numerics", "rmsperf_ordering", "rmsperf_latency"}

PASSED: pytest.StashKey[bool] = pytest.StashKey()  # of an item: its call came to an end, and well


def partition(
    items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the wanted items and the others, each in order."""
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for one in items:
        (kept if wanted(one) else others).append(one)
    return kept, others


def is_marked(item: pytest.Item) -> bool:
    """Say whether a test belongs to the gate."""
    return item.get_closest_marker("rmsperf") is not None


def asks_latency(item: pytest.Item) -> bool:
    """Say whether a test asks for the latency of a case."""
    from pytest_rmsperf.questions import LATENCY_FIXTURE

    return case_of(item) is not None and LATENCY_FIXTURE in getattr(item, "fixturenames", ())


def note_outcome(item: pytest.Item, report: pytest.TestReport) -> None:
    """Note what one phase of a test came to; one that never ended its call has not passed.

    An expected failure is a waiver, written down by its author.
    """
    is_expected = hasattr(report, "wasxfail")
    well = report.passed or is_expected
    if report.when == "call" or is_expected or not well:
        item.stash[PASSED] = well and item.stash.get(PASSED, True)


def hold_to_findings(item: pytest.Function) -> None:
    """Raise what a finding of the gate says against a test that came to a good end without asking.

    A test that forgets `.require()`, or catches what it raises, would be green whatever was found.
    """
    for name in sorted(FINDINGS & item.funcargs.keys()):
        cast("Finding[object]", item.funcargs[name]).require()


def question_of(item: pytest.Item) -> Question:
    """Return what a test asks; SettingError when its marker cannot be read."""
    from pytest_rmsperf.errors import SettingError
    from pytest_rmsperf.questions import Overrides, Question

    entries: dict[str, object] = {}
    for mark in item.iter_markers("rmsperf"):  # the closest first, and it wins
        if mark.args:
            raise SettingError(
                f"{item.nodeid}: {mark.args[0]!r} of the marker rmsperf has no keyword; give it "
                "one: @pytest.mark.rmsperf(waive=...)"
            )
        entries = {**mark.kwargs, **entries}
    return Question(
        case_of(item),
        frozenset(getattr(item, "fixturenames", ())),
        ordering_of(item),
        item.nodeid,
        Overrides.of(item.nodeid, entries),
    )


def passed_cases(session: pytest.Session) -> list[str]:
    """Return the ids of the cases every test of which ran and passed."""
    asked = [
        (case.id, item.stash.get(PASSED, False))
        for item in session.items
        if (case := case_of(item)) is not None
    ]
    refused = {case_id for case_id, passed in asked if not passed}
    return [case_id for case_id, _ in asked if case_id not in refused]
