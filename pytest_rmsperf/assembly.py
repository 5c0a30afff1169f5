"""From a campaign's sessions to the measurements of its cases, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import CheckedCase, SessionResult
from pytest_rmsperf.costs import Resources, fit_of, launched_kernels
from pytest_rmsperf.environment import Provenance
from pytest_rmsperf.judge.evidence import paired_shares
from pytest_rmsperf.judge.health import conditions_of
from pytest_rmsperf.judge.verdict import Round
from pytest_rmsperf.measurement import (
    Measurement,
    Run,
    SessionFigures,
    figures,
    probe_figures,
)
from pytest_rmsperf.probes import probe_of
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import impossible


@dataclass(frozen=True, slots=True)
class Assembler:
    """Reduces sessions to measurements, each with the run that it came from."""

    campaign: Campaign
    protocol: Protocol
    provenance: Provenance

    def rounds(self, case: Case, other: Case | None = None) -> tuple[Round, ...]:
        """Return the rounds in which a case was timed, with its pairs where it has another."""
        found = []
        for sessions in self.campaign.rounds:
            ids = [one.id for one in (case, other) if one is not None]
            timed = [one for one in sessions if all(each in one.samples for each in ids)]
            if timed:
                found.append(self._round(case, other, timed))
        return tuple(found)

    def measurement(self, case: Case) -> Measurement | None:
        """Return all sessions of a case as one measurement; None when it was not timed."""
        sessions = [one for one in self.campaign.sessions if case.id in one.samples]
        return self._measurement(case, sessions) if sessions else None

    def _round(self, case: Case, other: Case | None, sessions: Sequence[SessionResult]) -> Round:
        pairs = (
            tuple(paired_shares(one.samples[case.id], one.samples[other.id]) for one in sessions)
            if other is not None
            else ()
        )
        reasons = (one.why_unfit(case.id) for one in sessions)
        unfit = next((text for text in reasons if text), None)
        return Round(self._measurement(case, sessions), pairs, unfit)

    def _measurement(self, case: Case, sessions: Sequence[SessionResult]) -> Measurement:
        return Measurement(
            case_id=case.id,
            run=self._run(sessions),
            inputs=case.operator.input_sets[0].name,
            flags=case.variant.flags,
            sessions=tuple(session_figures(case, one) for one in sessions),
            resources=resources_of(self.campaign.checked.get(case.id)),
        )

    def _run(self, sessions: Sequence[SessionResult]) -> Run:
        machine = self.campaign.machine
        device = machine.device
        assert device is not None
        return Run(
            device=device.identity,
            driver=device.state.driver,
            cuda=device.cuda,
            compiler=machine.compiler,
            protocol=self.protocol,
            provenance=self.provenance,
            power_limit_mw=device.state.power_limit_mw,
            conditions=tuple(conditions_of(one) for one in sessions),
        )


def session_figures(case: Case, session: SessionResult) -> SessionFigures:
    """Return one session's figures of a case with those of its probes."""
    null, copy = (
        probe_figures(samples) if samples is not None and impossible(samples) is None else None
        for samples in (
            session.samples.get(probe_of(case, variant).id) for variant in ("null", "copy")
        )
    )
    return figures(session.samples[case.id], null=null, copy=copy)


def resources_of(checked: CheckedCase | None) -> Resources | None:
    """Return what a case costs on this run's device; None when it was not held against it."""
    if checked is None or not checked.compiled or not checked.plan or not checked.residency:
        return None
    return Resources(
        kernels=launched_kernels(checked.compiled, checked.plan),
        fit=fit_of(checked.residency, checked.plan),
    )
