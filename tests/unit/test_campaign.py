"""The campaign: what it asks of an instrument, in which order, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rmsperf.campaign import Campaign, Selection, run_campaign
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase, Failure, Machine, SessionResult, Stage
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState, Provenance
from pytest_rmsperf.measurement import Protocol
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.samples import Samples

if TYPE_CHECKING:
    from pytest_rmsperf.campaign import Say
    from pytest_rmsperf.cases import Arrays

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
H200 = DeviceRecord(
    DeviceIdentity("NVIDIA H200", 132, "9.0", 143_771), "GPU-1", "13.0", DeviceState("580.159")
)
PROVENANCE = Provenance("2026-11-30T12:00:00Z", "1a2b3c4", None, "3.11.9", "0.1.0", ())
FIRST, SECOND, THIRD = FAULTY.cases()[:3]


@dataclass
class Fake:
    """An instrument that writes down what it is asked."""

    device: DeviceRecord | None = H200
    failing: frozenset[str] = frozenset()
    lost_in_session: tuple[int, str] = (0, "")
    stopped_clock: str = ""
    asked: list[str] = field(default_factory=list)

    def machine(self) -> Machine:
        why = None if self.device else "none"
        return Machine(self.device, why, compiler=(("nvrtc", "13.0.88"),))

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:  # noqa: ARG002
        self.asked.append(f"check {case.id}{' numerics' if numerics else ''}")
        failure = Failure(Stage.PLAN, "no") if case.id in self.failing else None
        return CheckedCase(case.id, failure=failure)

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        say("working")
        ids = [case.id for case in cases]
        self.asked.append(f"measure {' '.join(ids)}")
        number = sum(one.startswith("measure") for one in self.asked)
        at, lost = self.lost_in_session
        failures = {lost: Failure(Stage.TIME, "lost", fatal=True)} if number == at else {}
        blocks = (1000 * number,) * protocol.blocks
        samples = {one: Samples(one, 10, blocks, blocks) for one in ids if one not in failures}
        if self.stopped_clock in samples:
            samples[self.stopped_clock] = Samples(self.stopped_clock, 10, blocks, (0,))
        return SessionResult(samples, failures)

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def selection(
    *cases: Case, numerics: Sequence[Case] = (), latency: Sequence[Case] = ()
) -> Selection:
    return Selection(
        cases, frozenset(one.id for one in numerics), frozenset(one.id for one in latency)
    )


def run(
    instrument: Fake,
    chosen: Selection,
    *,
    sessions: int = 2,
    said: list[str] | None = None,
    kept: list[Campaign] | None = None,
) -> Campaign:
    return run_campaign(
        chosen,
        instrument,
        protocol=Protocol(sessions=sessions, blocks=1),
        provenance=PROVENANCE,
        say=(said if said is not None else []).append,
        keep=(kept if kept is not None else []).append,
    )


def test_every_case_is_checked_before_any_is_timed() -> None:
    instrument = Fake()
    cases = (FIRST, SECOND)

    run(instrument, selection(*cases, numerics=[FIRST], latency=cases), sessions=1)

    assert [one.split()[0] for one in instrument.asked] == ["check", "check", "measure"]


def test_numerics_are_asked_for_only_where_a_test_asks() -> None:
    instrument = Fake()

    run(instrument, selection(FIRST, SECOND, numerics=[SECOND]))

    assert instrument.asked == [f"check {FIRST.id}", f"check {SECOND.id} numerics"]


def test_numerics_are_checked_of_what_will_be_timed() -> None:
    instrument = Fake()

    run(instrument, selection(FIRST, latency=[FIRST]), sessions=1)

    assert instrument.asked[0] == f"check {FIRST.id} numerics"


def test_only_cases_whose_latency_is_asked_for_are_timed_each_beside_its_probes() -> None:
    instrument = Fake()

    run(instrument, selection(FIRST, SECOND, latency=[SECOND]), sessions=1)

    probes = "probe/null-graph/1 probe/copy-graph/768"
    assert instrument.asked[-1] == f"measure {probes} {SECOND.id}"


def test_cases_of_the_same_bytes_share_their_probes() -> None:
    instrument = Fake()
    cases = (FIRST, THIRD)

    run(instrument, selection(*cases, latency=cases), sessions=1)

    probes = "probe/null-direct/1 probe/copy-direct/768"
    assert instrument.asked[-1] == f"measure {probes} {FIRST.id} {THIRD.id}"


def test_nothing_is_timed_without_a_device() -> None:
    instrument = Fake(device=None)

    campaign = run(instrument, selection(FIRST, latency=[FIRST]))

    assert instrument.asked == [f"check {FIRST.id}"]
    assert (campaign.sessions, campaign.measurements) == ((), {})


def test_failed_case_is_not_timed_and_its_failure_is_kept() -> None:
    instrument = Fake(failing=frozenset({FIRST.id}))
    cases = (FIRST, SECOND)

    campaign = run(instrument, selection(*cases, latency=cases), sessions=1)

    assert FIRST.id not in instrument.asked[-1]
    assert campaign.failures == {FIRST.id: Failure(Stage.PLAN, "no")}


def test_case_lost_in_one_session_is_left_out_of_the_next_and_has_no_measurement() -> None:
    instrument = Fake(lost_in_session=(1, FIRST.id))
    cases = (FIRST, SECOND)

    campaign = run(instrument, selection(*cases, latency=cases), sessions=3)

    measured = [one for one in instrument.asked if one.startswith("measure")]
    assert [FIRST.id in one for one in measured] == [True, False, False]
    assert list(campaign.measurements) == [SECOND.id]


def test_case_with_a_sample_of_no_time_is_invalid_and_costs_no_other() -> None:
    instrument = Fake(stopped_clock=FIRST.id)

    campaign = run(instrument, selection(FIRST, SECOND, latency=[FIRST, SECOND]))

    assert list(campaign.measurements) == [SECOND.id]
    assert campaign.failures[FIRST.id].stage is Stage.TIME
    assert campaign.failures[FIRST.id].message.startswith("invalid: a completion sample of 0 ns")


def test_sessions_end_when_no_case_is_left() -> None:
    instrument = Fake(lost_in_session=(1, FIRST.id))

    campaign = run(instrument, selection(FIRST, latency=[FIRST]), sessions=3)

    assert len(campaign.sessions) == 1


def test_lost_probe_costs_no_case() -> None:
    instrument = Fake(lost_in_session=(1, "probe/copy-direct/768"))

    campaign = run(instrument, selection(FIRST, latency=[FIRST]))

    figures = campaign.measurements[FIRST.id].sessions
    assert [one.copy is None for one in figures] == [True, False]


def test_measurement_holds_the_medians_of_each_session_with_its_probes() -> None:
    campaign = run(Fake(), selection(FIRST, latency=[FIRST]), sessions=3)

    sessions = campaign.measurements[FIRST.id].sessions
    assert [one.device.median_ns for one in sessions if one.device] == [1000, 2000, 3000]
    assert [one.null.completion_ns for one in sessions if one.null] == [1000, 2000, 3000]


def test_measurement_says_what_was_measured_where_and_how() -> None:
    measurement = run(Fake(), selection(FIRST, latency=[FIRST])).measurements[FIRST.id]

    assert (measurement.inputs, measurement.flags, measurement.resources) == ("ones", (), None)
    assert measurement.run.device == H200.identity
    assert (measurement.run.driver, measurement.run.cuda) == ("580.159", "13.0")
    assert measurement.run.protocol == Protocol(sessions=2, blocks=1)
    assert measurement.run.provenance == PROVENANCE


def test_what_is_known_is_kept_after_every_check_and_every_session() -> None:
    kept: list[Campaign] = []
    cases = (FIRST, SECOND)

    run(Fake(), selection(*cases, latency=cases), sessions=2, kept=kept)

    grown = [(len(one.checked), len(one.sessions)) for one in kept]
    assert grown == [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2)]


def test_instrument_that_breaks_down_leaves_what_was_known_before() -> None:
    class BreaksDown(Fake):
        def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:
            if case is SECOND:
                raise KeyboardInterrupt
            return super().check(case, say, numerics=numerics)

    kept: list[Campaign] = []

    with pytest.raises(KeyboardInterrupt):
        run(BreaksDown(), selection(FIRST, SECOND), kept=kept)

    assert list(kept[-1].checked) == [FIRST.id]


def test_progress_names_the_case_or_the_session_and_how_many_there_are() -> None:
    said: list[str] = []

    run(Fake(), selection(FIRST, latency=[FIRST]), sessions=1, said=said)

    assert said == [
        f"check 1 of 1: {FIRST.id}",
        "session 1 of 1: 1 cases",
        "session 1 of 1, working",
    ]
