"""What a run stores: accepted measurements and costs, or the noise of unchanged cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pytest_rmsperf.accounting import MOST_NAMED
from pytest_rmsperf.cases import Case
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.inquiry import Results
from pytest_rmsperf.judge.health import why_unfit_to_store
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.calibration import noise_of, store_noise, warnings
from pytest_rmsperf.storing.refusals import refusals
from pytest_rmsperf.storing.saving import Candidate, Rules, save_baselines
from pytest_rmsperf.storing.static_admission import cost_refusals
from pytest_rmsperf.storing.static_saving import CostCandidate, save_costs
from pytest_rmsperf.storing.static_store import StaticStore


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the tests of a run leave to store.

    `latencies` and `costs` are the cases whose tests passed, of those whose latency or static cost
    is asked for. `named` are the ids that the command line names, `not_passed` counts the tests
    that did not pass.
    """

    latencies: tuple[Case, ...]
    costs: tuple[Case, ...]
    named: frozenset[str]
    not_passed: int


def store_results(
    results: Results, accepted: Accepted, settings: Settings, store: BaselineStore
) -> list[str]:
    """Store what this run is to store, and return what there is to say.

    Raises RmsperfError with every reason when it is refused: then nothing is written, for a refused
    latency keeps the costs back and the reverse.
    """
    machine, asked = results.campaign.machine, results.asked
    if not asked.with_latency:
        if settings.save and asked.with_static:
            return _save_costs(results, accepted, settings)
        what = "a static cost" if settings.static else "a latency"
        return [f"nothing to save: no selected test asks for {what}: pytest {_option(settings)}"]
    if machine.device is None:
        option = _option(settings)
        raise RmsperfError(f"{machine.why_not_timed}; run it on the GPU: pytest {option}")
    if settings.calibrate:
        return _calibrate(results, accepted.latencies, store)
    return _save_both(results, accepted, settings, store)


def broken_off(settings: Settings) -> str:
    """Say that a run which was to store something did not come to its end."""
    return (
        "NOT SAVED: the run was broken off before its end\n"
        f"run it again: pytest {_option(settings)}"
    )


def left_as_they_were(unstored: Sequence[str], asked: Collection[str]) -> str | None:
    """Return the line that turns a run red which was to store cases and left some out, or None."""
    if not unstored:
        return None
    named = ", ".join(unstored[:MOST_NAMED]) + (" ..." if unstored[MOST_NAMED:] else "")
    return (
        f"failed: {len(unstored)} of {len(asked)} cases were not saved: {named}; a test of each "
        "was skipped or not reached: run it, or leave the case out with -k"
    )


def _option(settings: Settings) -> str:
    if settings.static:
        return "--rmsperf-static --rmsperf-save"
    return "--rmsperf-save" if settings.save else "--rmsperf-calibrate"


def _save_both(
    results: Results, accepted: Accepted, settings: Settings, store: BaselineStore
) -> list[str]:
    """Store latencies and costs."""
    rules = Rules(
        accept_slower=settings.accept_slower,
        accept_dirty=settings.accept_dirty,
        named=accepted.named,
        not_passed=accepted.not_passed,
    )
    latencies = tuple(_latency_candidates(results, accepted))
    costs = tuple(_cost_candidates(results, accepted, settings))
    unfit = why_unfit_to_store(results.campaign.sessions)
    refused = [*refusals(latencies, rules, unfit), *cost_refusals(costs)]
    if refused:
        raise RmsperfError("\n".join(refused))
    # Should a file fail after all: a cost that is stored alone is right all the same.
    saved = save_costs(StaticStore(settings.baselines), costs)
    return [*save_baselines(store, latencies, rules, unfit), *saved]


def _save_costs(results: Results, accepted: Accepted, settings: Settings) -> list[str]:
    """Store costs alone: no device and no commit is needed for them."""
    costs = tuple(_cost_candidates(results, accepted, settings))
    count = accepted.not_passed
    if count:
        reason = (
            f"{count} test{'' if count == 1 else 's'} did not pass\n"
            f"mend what failed, or leave it out with -k, then: pytest {_option(settings)}"
        )
        raise RmsperfError("\n".join([reason, *cost_refusals(costs)]))
    return save_costs(StaticStore(settings.baselines), costs)


def _latency_candidates(results: Results, accepted: Accepted) -> Iterator[Candidate]:
    verdicts = results.findings.verdicts
    for case in accepted.latencies:
        measured = results.assembler.measurement(case)
        if measured is not None and case.id in verdicts:
            yield Candidate(case, measured, verdicts[case.id], _drift(results, case))


def _cost_candidates(
    results: Results, accepted: Accepted, settings: Settings
) -> Iterator[CostCandidate]:
    """Yield costs as they were computed.

    What a device once said of its clusters is stored with its measurements: here it would make the
    file depend on which of the two was saved first.
    """
    verdicts = results.findings.costs
    for case in accepted.costs:
        found = (one.cost for one in results.campaign.checked[case.id].static)
        costs = tuple(one for one in found if one is not None)
        if case.id in verdicts:
            may_loosen = settings.accept_slower or case.id in accepted.named
            yield CostCandidate(case.id, case.operator.name, costs, verdicts[case.id], may_loosen)


def _calibrate(results: Results, cases: Sequence[Case], store: BaselineStore) -> list[str]:
    """Store the noise of each case beside its figures, and warn of thresholds that lie below it.

    It is that of the gate's usual rounds: the many sessions of this run are no round of the gate.
    """
    device = results.campaign.machine.device
    assert device is not None
    unfit = why_unfit_to_store(results.campaign.sessions)
    if unfit is not None:
        raise RmsperfError(f"{unfit}; calibrate when it is idle: pytest --rmsperf-calibrate")
    verdicts = results.findings.verdicts
    calibrated = []
    for case in cases:
        measured = results.assembler.measurement(case)
        if measured is not None and case.id in verdicts:
            noise = noise_of(
                measured.device_medians,
                measured.completion_medians,
                thresholds=results.thresholds[case.id],
            )
            calibrated.append((measured, noise))
    told = store_noise(store, device.identity.key, calibrated)
    return [*told, *(f"WARNING: {one}" for one in warnings(calibrated, results.thresholds))]


def _drift(results: Results, case: Case) -> str | None:
    """Return what was wrong with the samples of one case alone in a session, if anything was."""
    found = (one.drifting.get(case.id) for one in results.campaign.sessions)
    return next((reason for reason in found if reason is not None), None)
