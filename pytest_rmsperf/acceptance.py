"""What a run stores: accepted measurements as baselines, or the noise of unchanged cases."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pytest_rmsperf.accounting import MOST_NAMED
from pytest_rmsperf.cases import Case
from pytest_rmsperf.errors import RmsperfError
from pytest_rmsperf.inquiry import Results
from pytest_rmsperf.judge.health import why_unfit_to_store
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.calibration import noise_of, store_noise, warnings
from pytest_rmsperf.storing.saving import Candidate, Rules, save_baselines


def store_results(
    results: Results,
    cases: Sequence[Case],
    settings: Settings,
    store: BaselineStore,
    named: frozenset[str],
    *,
    not_passed: int,
) -> list[str]:
    """Store what this run is to store of `cases`, and return what there is to say.

    `named` are the ids that the command line names, `not_passed` the tests that did not pass.
    Raises RmsperfError when it is refused as a whole; then nothing is written.
    """
    machine = results.campaign.machine
    if not results.selection.with_latency:
        return [f"nothing to save: no selected test asks for a latency: pytest {_option(settings)}"]
    if machine.device is None:
        option = _option(settings)
        raise RmsperfError(f"{machine.why_not_timed}; run it on the GPU: pytest {option}")
    if settings.calibrate:
        return _calibrate(results, cases, store)
    rules = Rules(
        accept_slower=settings.accept_slower,
        accept_dirty=settings.accept_dirty,
        named=named,
        not_passed=not_passed,
    )
    verdicts = results.findings.verdicts
    candidates = [
        Candidate(case, measured, verdicts[case.id], _drift(results, case))
        for case in cases
        if case.id in verdicts and (measured := results.assembler.measurement(case)) is not None
    ]
    return save_baselines(store, candidates, rules, why_unfit_to_store(results.campaign.sessions))


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
    return "--rmsperf-save" if settings.save else "--rmsperf-calibrate"


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
