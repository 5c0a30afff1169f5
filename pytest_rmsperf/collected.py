"""What pytest collected, read: which tests are the gate's, what each asks, what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from pytest_rmsperf.fixtures import GATE, case_of, ordering_of

if TYPE_CHECKING:
    from pytest_rmsperf.accounting import Ran
    from pytest_rmsperf.questions import Question
    from pytest_rmsperf.report.records import Finding

# The fixtures whose answer decides of a test.
FINDINGS = {
    "rmsperf_residency",
    "rmsperf_static",
    "rmsperf_numerics",
    "rmsperf_ordering",
    "rmsperf_latency",
}
# What a static run has no answer for: these launch or time something, or ask about a device.
BEYOND_STATIC = {
    "rmsperf_numerics",
    "rmsperf_ordering",
    "rmsperf_latency",
    "rmsperf_benchmark",
    "rmsperf_device",
    "rmsperf_launch",
}

LEFT_OUT: pytest.StashKey[LeftOut] = pytest.StashKey()
PASSED: pytest.StashKey[bool] = pytest.StashKey()  # of an item: its call came to an end, and well


@dataclass(slots=True)
class LeftOut:
    """What the selection left out of the marked tests.

    `static_cases` are the ids of those a test of whose static cost is among them.
    """

    latencies: int = 0
    static_cases: set[str] = field(default_factory=set)
    beyond_static: int = 0

    def note(self, item: pytest.Item) -> None:
        """Take note of one test."""
        case = case_of(item)
        if case is None:
            return
        self.latencies += asks(item, "rmsperf_latency")
        if asks(item, "rmsperf_static"):
            self.static_cases.add(case.id)


def deselect(
    config: pytest.Config, items: list[pytest.Item], unwanted: Callable[[pytest.Item], bool]
) -> int:
    """Take tests out of those that pytest will run, and return how many."""
    others, kept = partition(items, unwanted)
    if others:
        items[:] = kept
        config.hook.pytest_deselected(items=others)
    return len(others)


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


def asks(item: pytest.Item, *fixtures: str) -> bool:
    """Say whether a test asks for one of these fixtures, be it through another one."""
    return not set(fixtures).isdisjoint(getattr(item, "fixturenames", ()))


def is_static(item: pytest.Item) -> bool:
    """Say whether a static run can answer all that a test asks."""
    return not asks(item, *BEYOND_STATIC)


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


def passed_cases(
    session: pytest.Session, counts: Callable[[pytest.Item], bool] = lambda _: True
) -> frozenset[str]:
    """Return the ids of the cases every test of which, of those that count, ran and passed."""
    found = [
        (case.id, item.stash.get(PASSED, False))
        for item in session.items
        if (case := case_of(item)) is not None and counts(item)
    ]
    refused = {case_id for case_id, passed in found if not passed}
    return frozenset(case_id for case_id, _ in found) - refused


def ran(session: pytest.Session) -> Ran:
    """Return what became of the collected tests.

    A static test of a case that no device of interest is meant for has nothing to say of the case.
    """
    from pytest_rmsperf.accounting import Ran

    left_out, moot = session.config.stash[LEFT_OUT], session.config.stash[GATE].inapplicable

    def asks_static(item: pytest.Item) -> bool:
        return asks(item, "rmsperf_static")

    def counts(item: pytest.Item) -> bool:
        case = case_of(item)
        return case is None or case.id not in moot or not (asks_static(item) and is_static(item))

    return Ran(
        passed=passed_cases(session, counts),
        static_passed=passed_cases(session, asks_static),
        not_passed=session.testsfailed,
        deselected=left_out.latencies,
        static_deselected=frozenset(left_out.static_cases),
        beyond_static=left_out.beyond_static,
    )
