"""What a static cost is held against: stored ones, another build, and what devices once said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from costs import H100, H200, check_of, cost_of, fit_of_device, launch_of
from fake_instrument import CUDA, NO_DEVICE
from pytest_rmsperf.against import OtherBuild
from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.cases import load_operator
from pytest_rmsperf.checks import CheckedCase, Machine
from pytest_rmsperf.costing import Costing
from pytest_rmsperf.costs import StaticCheck, StaticCost
from pytest_rmsperf.judge.cost import CostLimits, CostVerdict
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.launch import KernelLaunch

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FIRST, SECOND = FAULTY.cases()[:2]
TWIN = replace(FIRST, origin="1a2b3c4")
OTHER = OtherBuild("HEAD~1", "1a2b3c4", {FIRST.id: TWIN}, {SECOND.id: "it has no such"}, ())
FEWER = cost_of(fit_of_device(blocks_per_sm=5), case_id=FIRST.id)
MORE = cost_of(fit_of_device(blocks_per_sm=6), case_id=FIRST.id)


def campaign_of(static: Mapping[str, StaticCost], machine: Machine = NO_DEVICE) -> Campaign:
    """A campaign that found these costs."""
    checked = {k: CheckedCase(k, static=(check_of(one),)) for k, one in static.items()}
    return Campaign(machine, {SECOND.id: CheckedCase(SECOND.id), **checked})


def judge(costing: Costing, campaign: Campaign) -> dict[str, CostVerdict]:
    return costing.judge(campaign, costing.checks(campaign, (FIRST, SECOND)))


# ---- stored costs ----------------------------------------------------------------------------


def test_case_that_was_held_against_no_device_has_no_verdict() -> None:
    assert judge(Costing(), campaign_of({FIRST.id: MORE})).keys() == {FIRST.id}


def test_cost_is_held_against_the_stored_one_of_its_arch() -> None:
    costing = Costing(stored={FIRST.id: {"sm_90": MORE, "sm_89": replace(FEWER, arch="sm_89")}})

    verdict = judge(costing, campaign_of({FIRST.id: FEWER}))[FIRST.id]

    assert (verdict.status, verdict.archs[0].baseline) == (Status.COSTLIER, MORE)


def test_cost_of_which_none_is_stored_is_missing() -> None:
    verdict = judge(Costing(stored={SECOND.id: {"sm_90": MORE}}), campaign_of({FIRST.id: MORE}))

    assert verdict[FIRST.id].status is Status.MISSING


@pytest.mark.parametrize(("loss", "status"), [(0.1, Status.CHANGED), (0.01, Status.COSTLIER)])
def test_limits_are_those_that_are_given(loss: float, status: Status) -> None:
    larger = cost_of(fit_of_device(blocks=530), case_id=FIRST.id)
    costing = Costing(CostLimits(loss), {FIRST.id: {"sm_90": MORE}})

    assert judge(costing, campaign_of({FIRST.id: larger}))[FIRST.id].status is status


# ---- another build ---------------------------------------------------------------------------


def test_cost_is_held_against_that_of_the_other_build() -> None:
    campaign = campaign_of({FIRST.id: FEWER, TWIN.id: replace(MORE, case_id=TWIN.id)})

    verdict = judge(Costing(other=OTHER), campaign)[FIRST.id]

    assert (verdict.status, verdict.is_paired) == (Status.COSTLIER, True)


def test_other_build_outweighs_what_is_stored() -> None:
    costing = Costing(stored={FIRST.id: {"sm_90": MORE}}, other=OTHER)
    campaign = campaign_of({FIRST.id: FEWER, TWIN.id: replace(FEWER, case_id=TWIN.id)})

    assert judge(costing, campaign)[FIRST.id].status is Status.UNCHANGED


@pytest.mark.parametrize("theirs", [CheckedCase(TWIN.id), None, "no cost"])
def test_cost_that_the_other_build_has_not_is_missing(theirs: CheckedCase | str | None) -> None:
    campaign = campaign_of({FIRST.id: MORE})
    if theirs == "no cost":
        theirs = CheckedCase(TWIN.id, static=(StaticCheck("sm_90", None, "does not compile"),))
    if isinstance(theirs, CheckedCase):
        campaign = replace(campaign, checked={**campaign.checked, TWIN.id: theirs})

    verdict = judge(Costing(other=OTHER), campaign)[FIRST.id]

    assert (verdict.status, verdict.is_paired) == (Status.MISSING, True)


# ---- clusters --------------------------------------------------------------------------------

CLUSTERS = launch_of(blocks=512, cluster=8)
ASKED = replace(CLUSTERS, active_clusters=63)  # and 64 are wanted
CLUSTERED = {FIRST.id: cost_of(fit_of_device(H200, CLUSTERS), case_id=FIRST.id)}


def test_clusters_that_a_stored_measurement_says_do_not_fit_are_a_violation() -> None:
    measured = {FIRST.id: {H200: fit_of_device(H200, ASKED)}}

    verdict = judge(Costing(measured=measured), campaign_of(CLUSTERED))[FIRST.id]

    assert verdict.status is Status.VIOLATED
    assert "64 clusters of 8 blocks; 63 are resident" in verdict.violations[0][1]


@pytest.mark.parametrize(("case_id", "device"), [(SECOND.id, H200), (FIRST.id, H100)])
def test_measurement_of_another_case_or_device_says_nothing(case_id: str, device: str) -> None:
    measured = {case_id: {device: fit_of_device(device, ASKED)}}

    verdict = judge(Costing(measured=measured), campaign_of(CLUSTERED))[FIRST.id]

    assert verdict.violations == ()


@pytest.mark.parametrize(("machine", "count"), [(CUDA, 1), (NO_DEVICE, 0)])
def test_clusters_that_the_driver_of_this_run_says_do_not_fit_are_a_violation(
    checked: Callable[..., CheckedCase], machine: Machine, count: int
) -> None:
    launch = KernelLaunch("row", 512, 256, (), cooperative=True, blocks_per_cluster=8)
    own = checked(FIRST.id, 6, launch)
    assert own.residency is not None
    (found,) = own.residency.launches
    asked = replace(found, active_clusters=63)
    own = replace(own, residency=replace(own.residency, launches=(asked,), device=H200))
    here = launch_of(blocks=512, cluster=8, smem=0)
    static = (check_of(cost_of(fit_of_device(H200, here), case_id=FIRST.id)),)
    campaign = Campaign(machine, {FIRST.id: replace(own, static=static)})

    verdict = judge(Costing(), campaign)[FIRST.id]

    assert len(verdict.violations) == count
