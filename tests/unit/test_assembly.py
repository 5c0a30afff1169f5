"""From sessions to measurements: figures with their probes, rounds, pairs and the run of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_instrument import BUSY, CUDA, H200, FakeInstrument
from pytest_rmsperf.assembly import Assembler, resources_of, session_figures
from pytest_rmsperf.campaign import Campaign, Selection, Surveyor
from pytest_rmsperf.cases import Case, load_operator
from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.environment import Provenance
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.probes import probe_of
from pytest_rmsperf.protocol import Protocol

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
TWIN = replace(FIRST, origin="1a2b3c4")
PROTOCOL = Protocol(sessions=2, blocks=3, completions_per_block=2)
PROVENANCE = Provenance("2026-11-30T12:00:00Z", "1a2b3c4", None, "3.11.9", "0.1.0", ())
Check = Callable[..., CheckedCase]
NULL, COPY = (probe_of(FIRST, name) for name in ("null", "copy"))


def assembled(
    instrument: FakeInstrument, *rounds: Sequence[Case], twin: Case | None = None
) -> Assembler:
    """The assembler of a campaign that timed these cases in these rounds of two sessions."""
    surveyor = Surveyor(instrument, PROTOCOL, lambda _: None, lambda _: None)
    others = {FIRST.id: twin} if twin is not None else {}
    ids = frozenset({FIRST.id, SECOND.id})
    campaign = surveyor.check(Selection((FIRST, SECOND), frozenset(), ids, others=others))
    for cases in rounds:
        campaign = surveyor.time(campaign, cases, others)
    return Assembler(campaign, PROTOCOL, PROVENANCE)


def test_case_that_was_not_timed_has_neither_measurement_nor_rounds() -> None:
    assembler = assembled(FakeInstrument(), [FIRST])

    assert (assembler.measurement(SECOND), assembler.rounds(SECOND)) == (None, ())


def test_measurement_has_the_medians_of_every_session_of_every_round() -> None:
    instrument = FakeInstrument(device_ns={FIRST.id: (1000, 2000, 3000, 4000)})

    measurement = assembled(instrument, [FIRST], [FIRST]).measurement(FIRST)

    assert measurement is not None
    assert measurement.device_medians == (1000, 2000, 3000, 4000)


def test_measurement_has_the_probes_of_every_session() -> None:
    instrument = FakeInstrument(completion_ns={NULL.id: (6000, 6100)})

    measurement = assembled(instrument, [FIRST]).measurement(FIRST)

    assert measurement is not None
    assert [one.null.completion_ns for one in measurement.sessions if one.null] == [6000, 6100]


def test_measurement_says_what_was_measured_where_and_how() -> None:
    measurement = assembled(FakeInstrument(), [FIRST]).measurement(FIRST)

    assert measurement is not None
    run = measurement.run
    assert (measurement.inputs, measurement.flags, measurement.resources) == ("ones", (), None)
    assert (run.device, run.driver, run.cuda) == (H200.identity, "580.159", "13.0")
    assert (run.protocol, run.provenance, run.compiler) == (PROTOCOL, PROVENANCE, CUDA.compiler)


def test_run_has_the_power_limit_and_the_conditions_of_each_session() -> None:
    state = replace(H200.state, power_limit_mw=700_000)
    instrument = FakeInstrument(found=replace(CUDA, device=replace(H200, state=state)))

    measurement = assembled(instrument, [FIRST]).measurement(FIRST)

    assert measurement is not None
    assert measurement.run.power_limit_mw == 700_000
    assert [one.median_sm_mhz for one in measurement.run.conditions] == [1980, 1980]


def test_rounds_are_told_apart() -> None:
    instrument = FakeInstrument(device_ns={FIRST.id: (1000, 2000, 3000, 4000)})

    rounds = assembled(instrument, [FIRST], [FIRST]).rounds(FIRST)

    assert [one.measurement.device_medians for one in rounds] == [(1000, 2000), (3000, 4000)]


def test_round_that_did_not_time_a_case_is_none_of_its_own() -> None:
    assembler = assembled(FakeInstrument(), [FIRST, SECOND], [SECOND])

    assert [len(assembler.rounds(one)) for one in (FIRST, SECOND)] == [1, 2]


def test_pairs_are_the_changes_of_both_figures_in_each_session() -> None:
    instrument = FakeInstrument(
        device_ns={FIRST.id: (1100, 1200), TWIN.id: (1000,)},
        completion_ns={FIRST.id: (3000,), TWIN.id: (2000,)},
    )

    (one,) = assembled(instrument, [FIRST], twin=TWIN).rounds(FIRST, TWIN)

    assert [found for pair in one.pairs for found in pair] == pytest.approx([0.1, 0.5, 0.2, 0.5])


def test_without_another_build_there_are_no_pairs() -> None:
    (one,) = assembled(FakeInstrument(), [FIRST]).rounds(FIRST)

    assert one.pairs == ()


def test_session_without_the_other_build_is_no_part_of_a_paired_round() -> None:
    instrument = FakeInstrument(lost={2: TWIN.id})

    (one,) = assembled(instrument, [FIRST], twin=TWIN).rounds(FIRST, TWIN)

    assert (len(one.pairs), len(one.measurement.sessions)) == (1, 1)


def test_round_says_what_was_wrong_with_the_machine() -> None:
    instrument = FakeInstrument(before={2: BUSY, 3: BUSY})

    (one,) = assembled(instrument, [FIRST]).rounds(FIRST)

    assert (one.unfit or "").startswith("the device was 90 % busy")


def test_drift_of_one_case_is_no_fault_of_another() -> None:
    assembler = assembled(FakeInstrument(), [FIRST, SECOND])
    drifted = [
        replace(one, drifting={FIRST.id: "figures drift"}) for one in assembler.campaign.sessions
    ]
    assembler = replace(assembler, campaign=replace(assembler.campaign, rounds=(tuple(drifted),)))

    found = [assembler.rounds(one)[0].unfit for one in (FIRST, SECOND)]

    assert found == ["figures drift", None]


def test_lost_probe_costs_no_case() -> None:
    measurement = assembled(FakeInstrument(lost={1: COPY.id}), [FIRST]).measurement(FIRST)

    assert measurement is not None
    assert [one.copy is None for one in measurement.sessions] == [True, False]


@pytest.mark.parametrize("impossible_ns", [0, -1])
def test_probe_that_took_no_time_is_none(impossible_ns: int) -> None:
    assembler = assembled(FakeInstrument(device_ns={NULL.id: (impossible_ns,)}), [FIRST])

    found = session_figures(FIRST, assembler.campaign.sessions[0])

    assert (found.null, found.copy is None) == (None, False)


# ---- resources -------------------------------------------------------------------------------


def test_resources_are_the_launched_kernels_and_the_plan_on_the_device(checked: Check) -> None:
    found = resources_of(checked(FIRST.id, 4, KernelLaunch("row", 500, 256, (), cooperative=True)))

    assert found is not None
    assert [one.name for one in found.kernels] == ["row"]
    assert (found.fit.launches[0].blocks_per_sm, found.fit.headroom_blocks) == (4, 28)


@pytest.mark.parametrize("missing", ["compiled", "plan", "residency"])
def test_what_came_less_far_than_its_residency_has_no_resources(
    checked: Check, missing: str
) -> None:
    whole = checked(FIRST.id, 4, KernelLaunch("row", 8, 256, ()))
    less: dict[str, Any] = {missing: None}

    assert resources_of(replace(whole, **less)) is None


def test_what_was_not_checked_has_no_resources() -> None:
    assert resources_of(None) is None


def test_resources_stand_in_the_measurement(checked: Check) -> None:
    assembler = assembled(FakeInstrument(), [FIRST])
    found = {FIRST.id: checked(FIRST.id, 4, KernelLaunch("row", 8, 256, ()))}
    campaign: Campaign = replace(assembler.campaign, checked=found)

    measurement = replace(assembler, campaign=campaign).measurement(FIRST)

    assert measurement is not None
    assert measurement.resources == resources_of(found[FIRST.id]) is not None
