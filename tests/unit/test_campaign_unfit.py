"""Sessions on an unfit machine: measured again once, set aside, and kept with their reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fake_instrument import BUSY, FakeInstrument
from pytest_rmsperf.campaign import Campaign, Say, Selection, Surveyor
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import SessionResult
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Samples

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = BOTH = FAULTY.cases()[:2]


def timed(
    instrument: FakeInstrument,
    *cases: Case,
    sessions: int = 1,
    power_limit_mw: int | None = None,
    said: list[str] | None = None,
) -> Campaign:
    """The campaign after the checks of `cases` and one round of sessions of six blocks."""
    protocol = Protocol(sessions=sessions, blocks=6, completions_per_block=2)
    say = (said if said is not None else []).append
    one = Surveyor(instrument, protocol, say, lambda _: None, power_limit_mw)
    return one.time(one.check(Selection(cases, frozenset(), frozenset())), cases)


def test_session_on_a_busy_device_is_measured_again_and_set_aside() -> None:
    instrument = FakeInstrument(before={1: BUSY})

    campaign = timed(instrument, FIRST)

    assert [session.unfit is None for session in campaign.sessions] == [True]
    (aside,) = campaign.set_aside
    assert (aside.unfit or "").startswith("the device was 90 % busy before a session")


def test_session_that_stays_unfit_is_measured_again_once_and_keeps_its_reason() -> None:
    instrument = FakeInstrument(before={1: BUSY, 2: BUSY})

    campaign = timed(instrument, FIRST)

    assert len(instrument.sessions) == 2
    assert [session.unfit is None for session in campaign.sessions] == [False]


def test_every_session_may_be_measured_again() -> None:
    campaign = timed(FakeInstrument(before={1: BUSY, 3: BUSY}), FIRST, sessions=2)

    assert (len(campaign.sessions), len(campaign.set_aside)) == (2, 2)


def test_fit_session_is_measured_once() -> None:
    instrument = FakeInstrument()

    campaign = timed(instrument, FIRST)

    assert (len(instrument.sessions), campaign.set_aside) == (1, ())


def test_session_in_which_a_case_drifts_is_measured_again() -> None:
    class Drifts(FakeInstrument):
        def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
            session = super().measure(cases, protocol, say)
            rising = tuple(8000 + 200 * block for block in range(protocol.blocks))
            session.samples[FIRST.id] = Samples(FIRST.id, 10, rising, rising)
            return session

    campaign = timed(Drifts(), FIRST)

    (aside,) = campaign.set_aside
    assert list(aside.drifting) == list(campaign.sessions[0].drifting) == [FIRST.id]


def test_capped_device_is_fit_where_the_limit_is_the_one_that_is_meant() -> None:
    capped = replace(BUSY, utilization_percent=0, power_limit_mw=500, default_power_limit_mw=700)
    verdicts = []

    for meant in (None, 500):
        instrument = FakeInstrument(before={1: capped, 2: capped})
        campaign = timed(instrument, FIRST, power_limit_mw=meant)
        verdicts.append(campaign.sessions[0].unfit is None)

    assert verdicts == [False, True]


def test_case_lost_in_a_session_that_was_set_aside_has_failed_all_the_same() -> None:
    instrument = FakeInstrument(before={1: BUSY}, lost={1: FIRST.id})

    campaign = timed(instrument, *BOTH)

    assert campaign.failures[FIRST.id].message == "lost"
    assert [FIRST.id in ids for ids in instrument.sessions] == [True, False]


def test_unfit_session_that_lost_every_case_is_not_measured_again() -> None:
    instrument = FakeInstrument(before={1: BUSY}, lost={1: FIRST.id})

    timed(instrument, FIRST)

    assert len(instrument.sessions) == 1


def test_progress_says_why_a_session_is_measured_again() -> None:
    said: list[str] = []

    timed(FakeInstrument(before={1: BUSY}), FIRST, said=said)

    again = [one for one in said if "again" in one]
    assert again[0].startswith("session 1 of 1 again: the device was 90 % busy")
