"""Saving is stricter than checking: what refuses the whole save, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from candidates import DIRECT, GRAPH, NOW, OLD_RUN, RUN, candidate, judged, measurement, stored
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.measurement import Anchor, Conditions, ProbeFigures, Run
from pytest_rmsperf.protocol import Protocol, StopReason
from pytest_rmsperf.storing.admission import Candidate, Rules
from pytest_rmsperf.storing.refusals import LEAST_SESSIONS, MOST_LISTED, refusals

STRICT = Rules(accept_slower=False, accept_dirty=False, named=frozenset(), not_passed=0)
LENIENT = replace(STRICT, accept_slower=True)
SCATTERED = measurement((7000, 7100, 8000, 8050, 9000, 9100), run=OLD_RUN)


def clocked(run: Run, sm_mhz: int | None, memory_mhz: int | None = 3201) -> Run:
    """The run at these clocks."""
    one = Conditions(15, StopReason.BLOCKS, median_sm_mhz=sm_mhz, memory_mhz=memory_mhz)
    return replace(run, conditions=(one,) * 3)


def at_clocks(now: Run, then: Run) -> Candidate:
    """An unchanged case, measured at other clocks than its baseline."""
    return candidate(replace(stored(), run=then), run=now)


# ---- nothing speaks against it ---------------------------------------------------------------


@pytest.mark.parametrize(
    "one",
    [
        candidate(None),
        candidate(stored()),
        candidate(stored(), 7200),
        candidate(stored(), 7200, rounds=1),
        candidate(replace(stored(), run=replace(OLD_RUN, protocol=Protocol(version=1))), 9000),
    ],
    ids=["missing", "unchanged", "faster", "faster once", "incomparable"],
)
def test_sound_case_is_not_refused(one: Candidate) -> None:
    assert refusals([one], STRICT, None) == []


# ---- the run ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 test did not pass"), (2, "2 tests did not pass")]
)
def test_test_that_did_not_pass_refuses_everything(count: int, words: str) -> None:
    found = refusals([candidate(stored())], replace(STRICT, not_passed=count), None)

    assert found == [
        f"{words}\nmend what failed, or leave it out with -k, then: pytest --rmsperf-save"
    ]


def test_machine_in_a_bad_state_refuses_everything() -> None:
    (found,) = refusals([candidate(stored())], LENIENT, "the device was 40 % busy before a session")

    assert found == (
        "the device was 40 % busy before a session\n"
        "save again when the machine is idle and cool: pytest --rmsperf-save"
    )


def test_all_reasons_are_given_at_once() -> None:
    found = refusals([candidate(stored(), 8800)], replace(STRICT, not_passed=1), "throttled")

    assert len(found) == 3


# ---- the sources -----------------------------------------------------------------------------


def test_uncommitted_changes_refuse_with_the_option_that_accepts_them() -> None:
    dirty = replace(RUN, provenance=replace(NOW, dirty=True))

    (found,) = refusals([candidate(None, run=dirty)], STRICT, None)

    assert found.startswith("there are uncommitted changes")
    assert found.endswith("pytest --rmsperf-save --rmsperf-accept-dirty")


@pytest.mark.parametrize("dirty", [True, None])
def test_uncommitted_changes_may_be_accepted_and_may_be_unknown(dirty: bool | None) -> None:  # noqa: FBT001
    run = replace(RUN, provenance=replace(NOW, dirty=dirty))
    rules = replace(STRICT, accept_dirty=dirty is True)

    assert refusals([candidate(None, run=run)], rules, None) == []


def test_unknown_commit_refuses_with_the_variable_that_names_it() -> None:
    nameless = replace(RUN, provenance=replace(NOW, commit=None))

    (found,) = refusals([candidate(None, run=nameless)], LENIENT, None)

    assert found.endswith("name the commit with: RMSPERF_COMMIT=... pytest --rmsperf-save")


def test_unknown_driver_refuses_with_the_package_that_asks_it() -> None:
    (found,) = refusals([candidate(None, run=replace(RUN, driver=None))], LENIENT, None)

    assert found.endswith("install its binding with: pip install nvidia-ml-py")


# ---- the figures -----------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0, 1])
def test_case_of_too_few_sessions_is_refused(missing: int) -> None:
    one = candidate(None)
    few = replace(one.measurement, sessions=one.measurement.sessions[: LEAST_SESSIONS - missing])

    found = refusals([replace(one, measured=few)], LENIENT, None)

    words = (
        f"measured in too few sessions: 1 case\n  {GRAPH}: 2 of 3\n"
        "measure more with: pytest --rmsperf-save --rmsperf-sessions=3"
    )
    assert found == [words] * missing


def test_invalid_verdict_is_refused_with_its_reason_even_if_losses_are_accepted() -> None:
    one = candidate(stored())
    invalid = replace(one.verdict, status=Status.INVALID, reason="the clocks were lowered")

    (found,) = refusals([replace(one, verdict=invalid)], LENIENT, None)

    assert found.startswith(f"invalid: 1 case\n  {GRAPH}: the clocks were lowered\n")


def test_case_whose_own_samples_were_unfit_is_refused() -> None:
    (found,) = refusals([replace(candidate(None), unfit="drifted by 9 %")], LENIENT, None)

    assert found.startswith(f"invalid: 1 case\n  {GRAPH}: drifted by 9 %\n")


def test_impossible_first_figure_is_refused_though_there_is_nothing_to_compare_it_with() -> None:
    one = candidate(None)
    too_fast = replace(one.measurement.sessions[0], copy=ProbeFigures(90_000, 95_000))
    figures = replace(one.measurement, sessions=(too_fast, *one.measurement.sessions[1:]))

    (found,) = refusals([replace(one, measured=figures)], LENIENT, None)

    assert "implausibly fast" in found


def test_inconclusive_case_is_refused_with_its_reason() -> None:
    one = candidate(SCATTERED)

    (found,) = refusals([one], STRICT, None)

    assert one.verdict.status is Status.INCONCLUSIVE
    assert found.split("\n")[1] == f"  {GRAPH}: {one.verdict.reason}"


@pytest.mark.parametrize(
    ("device_ns", "completion_ns", "figure"),
    [
        ((6000,) * 3 + (8000,) * 3, None, "device time"),
        ((8000,) * 6, (13_000,) * 3 + (130_000,) * 3, "host completion"),
    ],
)
def test_first_figures_of_which_two_rounds_disagree_are_refused(
    device_ns: tuple[int, ...], completion_ns: tuple[int, ...] | None, figure: str
) -> None:
    (found,) = refusals([judged(None, measurement(device_ns, completion_ns))], STRICT, None)

    assert found.startswith("inconclusive, and may be slower: 1 case\n")
    assert f"  {GRAPH}: the sessions of {figure} scatter by " in found


def test_first_figures_with_one_session_in_another_state_are_not_refused() -> None:
    one = measurement((8001, 8000, 8010, 8003, 8800, 7999))

    assert refusals([judged(None, one)], STRICT, None) == []


def test_inconclusive_case_is_refused_though_it_is_named() -> None:
    rules = replace(STRICT, named=frozenset({GRAPH}))

    assert len(refusals([candidate(SCATTERED)], rules, None)) == 1


def test_inconclusive_case_may_be_accepted_as_slower() -> None:
    assert refusals([candidate(SCATTERED)], LENIENT, None) == []


# ---- clocks ----------------------------------------------------------------------------------


def test_lower_clock_than_at_the_last_save_is_refused_though_no_figure_moved() -> None:
    one = at_clocks(clocked(RUN, 1200), clocked(OLD_RUN, 1980))

    (found,) = refusals([one], STRICT, None)

    assert found.startswith(
        f"measured at a lower clock than the baseline: 1 case\n  {GRAPH}: SM clock 1980 -> 1200 MHz"
    )


def test_lower_memory_clock_is_refused_too() -> None:
    one = at_clocks(clocked(RUN, 1980, 1600), clocked(OLD_RUN, 1980, 3201))

    (found,) = refusals([one], STRICT, None)

    assert "memory clock 3201 -> 1600 MHz" in found


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (clocked(RUN, 1950), clocked(OLD_RUN, 1980)),
        (clocked(RUN, 1980), clocked(OLD_RUN, 1200)),
        (clocked(RUN, None, None), clocked(OLD_RUN, 1980)),
        (clocked(RUN, 1200, 1600), OLD_RUN),
    ],
    ids=["as good as the same", "higher", "now unknown", "then unknown"],
)
def test_clock_that_is_not_known_to_be_lower_is_not_refused(now: Run, then: Run) -> None:
    assert refusals([at_clocks(now, then)], STRICT, None) == []


def test_lower_clock_may_be_accepted_as_a_loss() -> None:
    assert refusals([at_clocks(clocked(RUN, 1200), clocked(OLD_RUN, 1980))], LENIENT, None) == []


# ---- losses ----------------------------------------------------------------------------------


def test_slower_case_is_refused_with_both_ways_to_accept_it() -> None:
    (found,) = refusals([candidate(stored(), 8800)], STRICT, None)

    assert found == (
        "slower than what was accepted before: 1 case\n"
        f"  {GRAPH} 8.00 -> 8.80 us (+10.0 %)\n"
        f'accept one by its name: pytest --rmsperf-save -k "{GRAPH}"; '
        "or all with: pytest --rmsperf-save --rmsperf-accept-slower"
    )


def test_case_that_got_slower_in_small_steps_is_refused() -> None:
    anchor = Anchor(7900, 13_000, "2026-10-01T12:00:00Z", None)

    (found,) = refusals([candidate(replace(stored(8100), anchor=anchor), 8200)], STRICT, None)

    assert found.startswith("slower than what was accepted before: 1 case\n")


@pytest.mark.parametrize(
    "rules", [LENIENT, replace(STRICT, named=frozenset({GRAPH}))], ids=["all", "named"]
)
def test_slower_case_may_be_accepted(rules: Rules) -> None:
    assert refusals([candidate(stored(), 8800)], rules, None) == []


def test_naming_another_case_does_not_accept_this_one() -> None:
    rules = replace(STRICT, named=frozenset({DIRECT}))

    assert len(refusals([candidate(stored(), 8800)], rules, None)) == 1


@pytest.mark.parametrize(
    ("count", "last"), [(MOST_LISTED, "(+10.0 %)"), (MOST_LISTED + 2, "  and 2 more")]
)
def test_long_list_is_cut_and_counted(
    count: int, last: str, many: Callable[[int], list[Candidate]]
) -> None:
    (found,) = refusals(many(count), STRICT, None)

    assert found.split("\n")[0].endswith(f": {count} cases")
    assert found.split("\n")[-2].endswith(last)


@pytest.fixture
def many() -> Callable[[int], list[Candidate]]:
    """Makes so many slower cases."""

    def build(count: int) -> list[Candidate]:
        ids = [f"softmax/online-graph/{rows}x1024" for rows in range(1, count + 1)]
        return [candidate(replace(stored(), case_id=one), 8800, case_id=one) for one in ids]

    return build
