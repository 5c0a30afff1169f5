"""What tests ask: the cases they need, and what their markers say of these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judge.ordering import OrderedFigure, Ordering
from pytest_rmsperf.questions import (
    Overrides,
    Question,
    asked_by,
    is_named,
    orderings_of,
    overrides_of,
    select,
)

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND, THIRD = FAULTY.cases()[:3]
LATENCY = frozenset({"rmsperf_report", "rmsperf_latency"})
STATIC = frozenset({"rmsperf_report", "rmsperf_static"})
ORDERING = Ordering(FIRST, SECOND)


def asks(case: Case, test: str = "test_a", **entries: object) -> Question:
    """A latency test of a case whose marker has these keywords."""
    return Question(case, LATENCY, test=test, overrides=Overrides.of(test, entries))


# ---- the selection ---------------------------------------------------------------------------


def test_selection_holds_each_case_once_in_the_order_of_the_tests() -> None:
    questions = [Question(one, frozenset()) for one in (SECOND, FIRST, SECOND)]

    assert select(questions).cases == (SECOND, FIRST)


@pytest.mark.parametrize(
    ("fixture", "numerics", "latency"),
    [
        ("rmsperf_residency", False, False),
        ("rmsperf_numerics", True, False),
        ("rmsperf_latency", False, True),
    ],
)
def test_selection_asks_for_what_the_fixtures_need(
    fixture: str, *, numerics: bool, latency: bool
) -> None:
    found = select([Question(FIRST, frozenset({fixture}))])

    assert (bool(found.with_numerics), bool(found.with_latency)) == (numerics, latency)


def test_selection_adds_up_what_several_tests_ask_of_a_case() -> None:
    questions = [Question(FIRST, frozenset({one})) for one in ("rmsperf_latency", "rmsperf_device")]

    assert select(questions).with_latency == {FIRST.id}


def test_cases_whose_static_cost_is_asked_for_are_known_and_not_timed() -> None:
    found = asked_by([Question(FIRST, STATIC), Question(SECOND, frozenset({"rmsperf_residency"}))])

    assert found.with_static == {FIRST.id}
    assert found.selection.timed == frozenset()
    assert found.selection.cases == (FIRST, SECOND)


def test_test_without_a_case_asks_for_no_static_cost() -> None:
    assert not Question(None, STATIC).asks_static


def test_everything_that_is_asked_is_added_up() -> None:
    found = asked_by([asks(FIRST, waive="new"), Question(None, frozenset(), ORDERING)])

    assert found.with_latency == {FIRST.id}
    assert found.orderings == (ORDERING,)
    assert found.said == {FIRST.id: Overrides(waive="new")}


def test_both_cases_of_an_ordering_are_timed_and_not_judged_by_themselves() -> None:
    found = select([Question(None, frozenset({"rmsperf_ordering"}), ORDERING)])

    assert found.cases == (FIRST, SECOND)
    assert found.with_latency == frozenset()
    assert found.timed == {FIRST.id, SECOND.id}


def test_case_of_an_ordering_whose_latency_is_asked_for_is_timed_once() -> None:
    found = select([Question(None, frozenset(), ORDERING), asks(FIRST)])

    assert found.cases == (FIRST, SECOND)
    assert found.with_latency == {FIRST.id}
    assert found.timed == {FIRST.id, SECOND.id}


def test_test_with_a_case_and_an_ordering_needs_all_their_cases() -> None:
    assert Question(THIRD, LATENCY, ORDERING).cases == (THIRD, FIRST, SECOND)


def test_test_with_an_ordering_alone_asks_for_no_latency() -> None:
    assert not Question(None, LATENCY, ORDERING).asks_latency


def test_two_operators_of_one_name_in_two_folders_are_refused() -> None:
    elsewhere = replace(FIRST, operator=replace(FAULTY, folder=Path("elsewhere")))

    with pytest.raises(SettingError, match=rf"^two operators have a case {FIRST.id}: .* rename"):
        select([Question(FIRST, LATENCY), Question(elsewhere, LATENCY)])


# ---- orderings -------------------------------------------------------------------------------


def test_each_ordering_is_judged_once_though_two_tests_state_it() -> None:
    questions = [Question(None, frozenset(), ORDERING)] * 2

    assert orderings_of(questions) == (ORDERING,)


def test_orderings_of_two_figures_are_two() -> None:
    device = replace(ORDERING, figure=OrderedFigure.DEVICE)

    found = orderings_of([Question(None, frozenset(), one) for one in (ORDERING, device)])

    assert found == (ORDERING, device)


def test_test_without_an_ordering_states_none() -> None:
    assert orderings_of([asks(FIRST)]) == ()


# ---- markers ---------------------------------------------------------------------------------


def test_marker_without_keywords_says_nothing() -> None:
    assert Overrides.of("test_a", {}) == Overrides()


def test_marker_gives_all_of_its_keywords() -> None:
    entries = {"threshold": 5, "floor": 0.2, "completion_threshold": 40.0, "waive": "why"}

    assert Overrides.of("test_a", {**entries}) == Overrides(5, 0.2, 40.0, "why")


@pytest.mark.parametrize("key", ["threshold", "floor", "completion_threshold"])
@pytest.mark.parametrize("value", [0, -1, "3", None, True, float("nan"), float("inf")])
def test_bad_value_of_a_marker_is_told_with_test_keyword_and_value(key: str, value: object) -> None:
    with pytest.raises(SettingError, match=rf"^test_a: {key}={value!r} of the marker rmsperf must"):
        Overrides.of("test_a", {key: value})


@pytest.mark.parametrize("value", ["", "  ", True, None, 3])
def test_waiver_without_a_reason_is_refused(value: object) -> None:
    with pytest.raises(SettingError, match=r"^test_a: waive=.* must be a reason, as text that is"):
        Overrides.of("test_a", {"waive": value})


def test_unknown_keyword_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        SettingError,
        match=r"^test_a: treshold=5 .*knows threshold, floor, completion_threshold, waive",
    ):
        Overrides.of("test_a", {"treshold": 5})


def test_what_a_marker_says_is_found_by_case() -> None:
    found = overrides_of([asks(FIRST, threshold=5), asks(SECOND)])

    assert found == {FIRST.id: Overrides(threshold=5), SECOND.id: Overrides()}


def test_two_tests_of_one_case_that_agree_are_one_word() -> None:
    found = overrides_of([asks(FIRST, "test_a", floor=1), asks(FIRST, "test_b", floor=1)])

    assert found == {FIRST.id: Overrides(floor=1)}


def test_two_tests_of_one_case_that_disagree_are_refused_by_name() -> None:
    with pytest.raises(
        SettingError, match=rf"^test_b and test_a give {FIRST.id} different settings by their"
    ):
        overrides_of([asks(FIRST, "test_a", floor=1), asks(FIRST, "test_b", floor=2)])


def test_marker_of_a_test_that_asks_for_no_latency_is_not_heard() -> None:
    silent = Question(FIRST, frozenset(), test="test_b", overrides=Overrides(floor=2))

    assert overrides_of([asks(FIRST, floor=1), silent]) == {FIRST.id: Overrides(floor=1)}


# ---- names on the command line ---------------------------------------------------------------


@pytest.mark.parametrize(
    "selector",
    [
        "sound",
        "sound-direct",
        "sound-direct/3",
        "faulty/sound",
        "faulty/sound-direct/3",
        "test_latency and (sound or other)",
        "tests/test_a.py::test_latency[faulty/sound-direct/3]",
    ],
)
def test_case_is_named_by_its_id_or_a_whole_part_of_it(selector: str) -> None:
    assert is_named(FIRST, selector)


@pytest.mark.parametrize(
    "selector",
    [
        "",
        "latency",
        "unsound",
        "sound_too",
        "sound-graph",
        "faulty/sound-graph/3",
        "faulty/sound-direct/33",
        "other/sound-direct/3",
        "tests/sound/test_a.py",
        "test_sound.py",
    ],
)
def test_case_is_not_named_by_what_only_looks_like_it(selector: str) -> None:
    assert not is_named(FIRST, selector)
