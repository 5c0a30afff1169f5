"""From a campaign to verdicts and orderings, and to what a second round is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fake_instrument import NO_DEVICE, FakeInstrument
from pytest_rmsperf.against import OtherBuild
from pytest_rmsperf.campaign import Campaign, Selection, Surveyor
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import Failure, Stage
from pytest_rmsperf.environment import Provenance
from pytest_rmsperf.judge.ordering import Ordering, OrderStatus
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import PAIRED, STORED, Limit, Thresholds
from pytest_rmsperf.judging import Findings, Judging
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Protocol

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND, THIRD = FAULTY.cases()[:3]
EVERY = (FIRST, SECOND, THIRD)
TWIN = replace(FIRST, origin="1a2b3c4")
PROTOCOL = Protocol(sessions=3, blocks=3, completions_per_block=2)
PROVENANCE = Provenance("2026-11-30T12:00:00Z", "1a2b3c4", None, "3.11.9", "0.1.0", ())
OTHER = OtherBuild("HEAD", "1a2b3c4", {FIRST.id: TWIN}, {SECOND.id: "1a2b3c4 has no such"}, ())
FASTER_THAN = Ordering(FIRST, SECOND)


def surveyor(instrument: FakeInstrument) -> Surveyor:
    return Surveyor(instrument, PROTOCOL, lambda _: None, lambda _: None)


def campaign_of(
    instrument: FakeInstrument, *, rounds: int = 1, twin: Case | None = None
) -> Campaign:
    """A campaign over every case, by so many rounds of three sessions."""
    others = {} if twin is None else {FIRST.id: twin}
    one = surveyor(instrument)
    ids = frozenset(case.id for case in EVERY)
    campaign = one.check(Selection(EVERY, frozenset(), ids, others=others))
    for _ in range(rounds):
        campaign = one.time(campaign, EVERY, others)
    return campaign


def stored() -> dict[str, Measurement]:
    """The baselines of every case, as the fake instrument measures them unless told otherwise."""
    assembler = judging().assembler(campaign_of(FakeInstrument()))
    found = {one.id: assembler.measurement(one) for one in EVERY}
    return {case_id: one for case_id, one in found.items() if one is not None}


def judging(
    *,
    latency: Sequence[Case] = EVERY,
    baselines: dict[str, Measurement] | None = None,
    other: OtherBuild | None = None,
    orderings: Sequence[Ordering] = (),
    thresholds: Thresholds = STORED,
) -> Judging:
    return Judging(
        selection=Selection(EVERY, frozenset(), frozenset(one.id for one in latency)),
        protocol=PROTOCOL,
        provenance=PROVENANCE,
        thresholds={one.id: thresholds for one in EVERY},
        baselines=baselines or {},
        other=other,
        orderings=orderings,
    )


# ---- stored figures --------------------------------------------------------------------------


def test_a_case_is_held_against_its_own_baseline() -> None:
    instrument = FakeInstrument(device_ns={FIRST.id: (9000,)})

    verdicts = judging(baselines=stored()).judge(campaign_of(instrument)).verdicts

    assert {case_id: one.status for case_id, one in verdicts.items()} == {
        FIRST.id: Status.SLOWER,
        SECOND.id: Status.UNCHANGED,
        THIRD.id: Status.UNCHANGED,
    }


def test_a_case_without_a_baseline_is_missing() -> None:
    baselines = stored()
    del baselines[FIRST.id]

    verdicts = judging(baselines=baselines).judge(campaign_of(FakeInstrument())).verdicts

    assert [one.status for one in verdicts.values()].count(Status.MISSING) == 1
    assert verdicts[FIRST.id].status is Status.MISSING


def test_only_cases_whose_latency_is_asked_for_are_judged() -> None:
    found = judging(latency=[SECOND]).judge(campaign_of(FakeInstrument()))

    assert list(found.verdicts) == [SECOND.id]


def test_a_case_that_failed_has_no_verdict() -> None:
    lost = FakeInstrument(lost={3: FIRST.id})

    assert FIRST.id not in judging(baselines=stored()).judge(campaign_of(lost)).verdicts


def test_a_case_that_was_lost_in_the_second_round_has_no_verdict() -> None:
    lost = FakeInstrument(lost={4: FIRST.id})

    found = judging(baselines=stored()).judge(campaign_of(lost, rounds=2))

    assert FIRST.id not in found.verdicts


def test_nothing_is_judged_without_a_device() -> None:
    without = campaign_of(FakeInstrument(found=NO_DEVICE))

    assert judging(orderings=[FASTER_THAN]).judge(without) == Findings()


def test_each_case_has_thresholds_of_its_own() -> None:
    instrument = FakeInstrument(device_ns={one.id: (8400,) for one in EVERY})
    one = judging(baselines=stored())
    wide = Thresholds(Limit(0.1, 50), STORED.completion)

    found = replace(one, thresholds={**one.thresholds, FIRST.id: wide}).judge(
        campaign_of(instrument)
    )

    assert found.verdicts[FIRST.id].status is Status.UNCHANGED
    assert found.verdicts[SECOND.id].status is Status.SLOWER


# ---- another build ---------------------------------------------------------------------------


def test_a_case_is_held_against_the_other_build_and_needs_no_baseline() -> None:
    instrument = FakeInstrument(device_ns={FIRST.id: (8100,), TWIN.id: (8000,)})
    one = judging(other=OTHER, thresholds=PAIRED, latency=[FIRST])

    verdict = one.judge(campaign_of(instrument, twin=TWIN)).verdicts[FIRST.id]

    assert verdict.is_paired
    assert verdict.change == pytest.approx(0.0125)


def test_a_case_that_the_other_commit_lacks_is_missing_for_its_reason() -> None:
    one = judging(other=OTHER)

    verdict = one.judge(campaign_of(FakeInstrument(), twin=TWIN)).verdicts[SECOND.id]

    assert (verdict.status, verdict.reason) == (Status.MISSING, "1a2b3c4 has no such")


def test_a_case_whose_other_build_fails_here_is_missing_for_that_reason() -> None:
    failure = Failure(Stage.COMPILE, "does not compile: a.cu\nline 7")
    instrument = FakeInstrument(refused={TWIN.id: failure})
    one = surveyor(instrument)
    selection = Selection(EVERY, frozenset(), frozenset({FIRST.id}), others={FIRST.id: TWIN})
    campaign = one.time(one.check(selection), EVERY, selection.others)

    verdict = judging(other=OTHER, latency=[FIRST]).judge(campaign).verdicts[FIRST.id]

    assert verdict.reason == "the one of 1a2b3c4 fails here: does not compile: a.cu"


# ---- orderings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slow_ns", "status"), [(20_000, OrderStatus.HOLDS), (19_000, OrderStatus.VIOLATED)]
)
def test_an_ordering_is_judged_by_both_cases_of_each_session(
    slow_ns: int, status: OrderStatus
) -> None:
    instrument = FakeInstrument(completion_ns={SECOND.id: (slow_ns,)})
    one = judging(orderings=[FASTER_THAN])

    ordered = one.judge(campaign_of(instrument, rounds=2)).ordered[FASTER_THAN.id]

    assert (ordered.status, len(ordered.ratios)) == (status, 6)


def test_an_ordering_of_which_a_case_was_not_timed_has_no_answer() -> None:
    instrument = FakeInstrument()
    one = surveyor(instrument)
    campaign = one.time(one.check(Selection(EVERY, frozenset(), frozenset({FIRST.id}))), [FIRST])

    assert judging(orderings=[FASTER_THAN]).judge(campaign).ordered == {}


@pytest.mark.parametrize("slow_ns", [20_000, 19_000], ids=["holds", "does not"])
@pytest.mark.parametrize("number", [0, 5], ids=["first", "last"])
def test_an_ordering_timed_on_an_unfit_machine_is_invalid_whatever_the_ratios_say(
    slow_ns: int, number: int
) -> None:
    instrument = FakeInstrument(completion_ns={SECOND.id: (slow_ns,)})
    campaign = campaign_of(instrument, rounds=2)
    flat = list(campaign.sessions)
    flat[number] = replace(flat[number], unfit="the device was 97 % busy")

    found = judging(orderings=[FASTER_THAN]).judge(
        replace(campaign, rounds=(tuple(flat[:3]), tuple(flat[3:])))
    )

    ordered = found.ordered[FASTER_THAN.id]
    assert (ordered.status, ordered.unfit) == (OrderStatus.INVALID, "the device was 97 % busy")
    assert judging(orderings=[FASTER_THAN]).unsettled(found) == ((), 0)


@pytest.mark.parametrize(
    ("case", "status"), [(SECOND, OrderStatus.INVALID), (THIRD, OrderStatus.HOLDS)]
)
def test_an_ordering_of_a_case_that_drifts_is_invalid(case: Case, status: OrderStatus) -> None:
    campaign = campaign_of(FakeInstrument(completion_ns={SECOND.id: (20_000,)}))
    drifts = tuple(replace(one, drifting={case.id: "figures drift"}) for one in campaign.sessions)

    found = judging(orderings=[FASTER_THAN]).judge(replace(campaign, rounds=(drifts,)))

    assert found.ordered[FASTER_THAN.id].status is status


def test_an_ordering_of_which_a_case_was_lost_has_no_answer() -> None:
    campaign = campaign_of(FakeInstrument(lost={3: FIRST.id}))

    assert judging(orderings=[FASTER_THAN]).judge(campaign).ordered == {}


# ---- what a second round would settle --------------------------------------------------------


def test_what_is_settled_needs_no_second_round() -> None:
    one = judging(baselines=stored())

    assert one.unsettled(one.judge(campaign_of(FakeInstrument()))) == ((), 0)


@pytest.mark.parametrize("device_ns", [9000, 7000])
def test_a_change_is_seen_again_by_as_many_sessions(device_ns: int) -> None:
    one = judging(baselines=stored())
    instrument = FakeInstrument(device_ns={FIRST.id: (device_ns,)})

    assert one.unsettled(one.judge(campaign_of(instrument))) == ((FIRST,), 3)


def test_a_second_round_settles() -> None:
    one = judging(baselines=stored())
    instrument = FakeInstrument(device_ns={FIRST.id: (9000,)})

    found = one.judge(campaign_of(instrument, rounds=2))

    assert (one.unsettled(found), found.verdicts[FIRST.id].confirming) == (((), 0), 3)


def test_a_violated_ordering_is_seen_again_with_both_its_cases() -> None:
    one = judging(latency=[THIRD], baselines=stored(), orderings=[FASTER_THAN])
    instrument = FakeInstrument(completion_ns={FIRST.id: (30_000,)})

    cases, sessions = one.unsettled(one.judge(campaign_of(instrument)))

    assert (cases, sessions >= 3) == ((FIRST, SECOND), True)


def test_the_case_that_needs_most_sessions_gives_their_number() -> None:
    short = campaign_of(FakeInstrument()).sessions[:2]  # two stored sessions prove less than three
    one = judging(baselines=stored())
    assembler = one.assembler(replace(campaign_of(FakeInstrument()), rounds=(short,)))
    few = assembler.measurement(FIRST)
    assert few is not None
    one = judging(baselines={**stored(), FIRST.id: few})
    both = FakeInstrument(device_ns={FIRST.id: (9000,), SECOND.id: (9000,)})
    second = FakeInstrument(device_ns={SECOND.id: (9000,)})

    counts = [one.unsettled(one.judge(campaign_of(found)))[1] for found in (both, second)]

    assert counts[0] > counts[1] == 3
