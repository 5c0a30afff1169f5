"""The campaign: what it asks of an instrument, in which order, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from fake_instrument import NO_DEVICE, FakeInstrument
from pytest_rmsperf.campaign import Campaign, Say, Selection, Surveyor, impossible_in
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase, Failure, SessionResult, Stage, TimedSession
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Samples

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND, THIRD = FAULTY.cases()[:3]
BOTH = (FIRST, SECOND)
TWIN = replace(FIRST, origin="1a2b3c4")
REFUSED = Failure(Stage.PLAN, "no")
BLOCKS = 6


@dataclass
class Notes:
    """What a surveyor said, and the campaigns it handed over."""

    said: list[str] = field(default_factory=list)
    kept: list[Campaign] = field(default_factory=list)


def surveyor(
    instrument: FakeInstrument,
    *,
    sessions: int = 1,
    notes: Notes | None = None,
    power_limit_mw: int | None = None,
) -> Surveyor:
    """A surveyor of sessions of six blocks."""
    notes = notes or Notes()
    protocol = Protocol(sessions=sessions, blocks=BLOCKS, completions_per_block=2)
    return Surveyor(instrument, protocol, notes.said.append, notes.kept.append, power_limit_mw)


def selection(*cases: Case, latency: Sequence[Case] = (), order: Sequence[Case] = ()) -> Selection:
    return Selection(
        cases,
        frozenset(),
        frozenset(one.id for one in latency),
        frozenset(one.id for one in order),
    )


def timed(
    instrument: FakeInstrument, *cases: Case, sessions: int = 1, notes: Notes | None = None
) -> Campaign:
    """The campaign after the checks of `cases` and one round of sessions."""
    one = surveyor(instrument, sessions=sessions, notes=notes)
    return one.time(one.check(selection(*cases, latency=cases)), cases)


# ---- checks ----------------------------------------------------------------------------------


def test_every_case_is_checked_in_the_order_of_the_selection() -> None:
    instrument = FakeInstrument()

    surveyor(instrument).check(selection(SECOND, FIRST))

    assert instrument.asked == [f"check {SECOND.id}", f"check {FIRST.id}"]


def test_numerics_are_asked_for_where_a_test_asks() -> None:
    instrument = FakeInstrument()

    surveyor(instrument).check(replace(selection(*BOTH), with_numerics=frozenset({SECOND.id})))

    assert instrument.asked == [f"check {FIRST.id}", f"check {SECOND.id} numerics"]


@pytest.mark.parametrize("asks", ["latency", "order"])
def test_numerics_are_checked_of_what_will_be_timed(asks: str) -> None:
    instrument = FakeInstrument()
    chosen = {
        "latency": selection(FIRST, latency=[FIRST]),
        "order": selection(FIRST, order=[FIRST]),
    }

    surveyor(instrument).check(chosen[asks])

    assert instrument.asked == [f"check {FIRST.id} numerics"]


def test_numerics_of_what_cannot_be_timed_are_not_checked_for_that() -> None:
    instrument = FakeInstrument(found=NO_DEVICE)

    surveyor(instrument).check(selection(FIRST, latency=[FIRST]))

    assert instrument.asked == [f"check {FIRST.id}"]


def test_case_of_another_commit_is_checked_after_those_of_the_tree() -> None:
    instrument = FakeInstrument()
    chosen = replace(selection(FIRST, latency=[FIRST]), others={FIRST.id: TWIN})

    campaign = surveyor(instrument).check(chosen)

    assert list(campaign.checked) == [FIRST.id, TWIN.id]


def test_all_cases_are_prepared_at_once_before_the_first_is_checked() -> None:
    class Preparing(FakeInstrument):
        def prepare(self, cases: Sequence[Case], say: Say) -> None:
            assert self.asked == []
            super().prepare(cases, say)

    instrument = Preparing()
    chosen = replace(selection(*BOTH), others={FIRST.id: TWIN})

    surveyor(instrument).check(chosen)

    assert instrument.prepared == [[FIRST.id, SECOND.id, TWIN.id]]


def test_failure_of_a_check_is_kept() -> None:
    campaign = surveyor(FakeInstrument(refused={FIRST.id: REFUSED})).check(selection(*BOTH))

    assert campaign.failures == {FIRST.id: REFUSED}


# ---- sessions --------------------------------------------------------------------------------


def test_a_session_times_the_cases_each_beside_its_probes() -> None:
    instrument = FakeInstrument()

    timed(instrument, SECOND)

    assert instrument.sessions == [["probe/null-graph/1", "probe/copy-graph/768", SECOND.id]]


def test_cases_of_the_same_bytes_share_their_probes() -> None:
    instrument = FakeInstrument()

    timed(instrument, FIRST, THIRD)

    probes = ["probe/null-direct/1", "probe/copy-direct/768"]
    assert instrument.sessions == [[*probes, FIRST.id, THIRD.id]]


def test_a_case_of_another_commit_stands_behind_its_own() -> None:
    instrument = FakeInstrument()
    one = surveyor(instrument)

    one.time(one.check(selection(*BOTH)), BOTH, {FIRST.id: TWIN})

    cases = [found for found in instrument.sessions[0] if not found.startswith("probe")]
    assert cases == [FIRST.id, TWIN.id, SECOND.id]


def test_a_case_of_another_commit_that_failed_is_not_timed() -> None:
    instrument = FakeInstrument(refused={TWIN.id: REFUSED})
    one = surveyor(instrument)
    chosen = replace(selection(FIRST), others={FIRST.id: TWIN})

    one.time(one.check(chosen), [FIRST], chosen.others)

    assert TWIN.id not in instrument.sessions[0]


def test_a_round_has_as_many_sessions_as_the_protocol_says() -> None:
    campaign = timed(FakeInstrument(), FIRST, sessions=3)

    assert [len(one) for one in campaign.rounds] == [3]


def test_a_second_round_has_as_many_sessions_as_asked_for_over_the_cases_asked_for() -> None:
    instrument = FakeInstrument()
    one = surveyor(instrument, sessions=2)
    campaign = one.time(one.check(selection(*BOTH)), BOTH)

    campaign = one.time(campaign, [SECOND], sessions=5)

    assert [len(sessions) for sessions in campaign.rounds] == [2, 5]
    assert [FIRST.id in session.samples for session in campaign.rounds[1]] == [False] * 5


def test_sessions_of_all_rounds_are_in_order() -> None:
    one = surveyor(FakeInstrument(device_ns={FIRST.id: (1000, 2000, 3000)}), sessions=2)
    campaign = one.time(one.check(selection(FIRST)), [FIRST])

    campaign = one.time(campaign, [FIRST], sessions=1)

    medians = [session.samples[FIRST.id].device_ns[0] for session in campaign.sessions]
    assert medians == [1000, 2000, 3000]


def test_nothing_is_timed_without_a_device() -> None:
    instrument = FakeInstrument(found=NO_DEVICE)

    campaign = timed(instrument, FIRST)

    assert (instrument.sessions, campaign.rounds) == ([], ())


def test_failed_case_is_not_timed() -> None:
    instrument = FakeInstrument(refused={FIRST.id: REFUSED})

    timed(instrument, *BOTH)

    assert FIRST.id not in instrument.sessions[0]


def test_case_lost_in_one_session_is_left_out_of_the_next() -> None:
    instrument = FakeInstrument(lost={1: FIRST.id})

    campaign = timed(instrument, *BOTH, sessions=3)

    assert [FIRST.id in ids for ids in instrument.sessions] == [True, False, False]
    assert campaign.failures[FIRST.id].message == "lost"


def test_case_lost_in_the_second_round_has_failed() -> None:
    one = surveyor(FakeInstrument(lost={2: FIRST.id}))
    campaign = one.time(one.check(selection(FIRST)), [FIRST])

    campaign = one.time(campaign, [FIRST])

    assert campaign.failures[FIRST.id].message == "lost"


def test_sessions_end_when_no_case_is_left() -> None:
    campaign = timed(FakeInstrument(lost={1: FIRST.id}), FIRST, sessions=3)

    assert len(campaign.sessions) == 1


def test_case_with_a_sample_of_no_time_is_invalid_and_costs_no_other() -> None:
    instrument = FakeInstrument(completion_ns={FIRST.id: (0,)})

    campaign = timed(instrument, *BOTH, sessions=2)

    assert campaign.failures[FIRST.id].stage is Stage.TIME
    assert [SECOND.id in ids for ids in instrument.sessions] == [True, True]
    assert [FIRST.id in ids for ids in instrument.sessions] == [True, False]


def test_a_sample_of_no_time_is_told_with_its_case() -> None:
    samples = Samples(FIRST.id, 10, (8000,), (20_000, 0))

    failure = impossible_in(SessionResult(TimedSession({FIRST.id: samples})))[FIRST.id]

    assert failure.message.startswith(f"invalid: a completion sample of 0 ns of {FIRST.id}\n")


# ---- what is kept and said -------------------------------------------------------------------


def test_what_is_known_is_kept_after_every_check_and_every_session() -> None:
    notes = Notes()

    timed(FakeInstrument(), *BOTH, sessions=2, notes=notes)

    grown = [(len(one.checked), len(one.sessions)) for one in notes.kept]
    assert grown == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)]


def test_instrument_that_breaks_down_leaves_what_was_known_before() -> None:
    class BreaksDown(FakeInstrument):
        def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:
            if case is SECOND:
                raise KeyboardInterrupt
            return super().check(case, say, numerics=numerics)

    notes = Notes()

    with pytest.raises(KeyboardInterrupt):
        surveyor(BreaksDown(), notes=notes).check(selection(*BOTH))

    assert list(notes.kept[-1].checked) == [FIRST.id]


def test_progress_names_the_case_or_the_session_and_how_many_there_are() -> None:
    notes = Notes()

    timed(FakeInstrument(), FIRST, notes=notes)

    assert notes.said == [
        f"check 1 of 1: {FIRST.id}",
        "session 1 of 1: 1 cases",
        "session 1 of 1, working",
    ]
