"""One run's work from the selection to its results: read, check, time, judge, time again, judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_rmsperf.against import OtherBuild, other_build
from pytest_rmsperf.assembly import Assembler
from pytest_rmsperf.campaign import Campaign, Instrument, Selection, Surveyor
from pytest_rmsperf.checks import Machine
from pytest_rmsperf.judge.ordering import Ordering
from pytest_rmsperf.judge.thresholds import Thresholds
from pytest_rmsperf.judging import Findings, Judging
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.provenance import current_provenance
from pytest_rmsperf.questions import Overrides
from pytest_rmsperf.report.run_file import RunFile, run_folder
from pytest_rmsperf.settings import Settings, override
from pytest_rmsperf.storing.baselines import BaselineStore

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured, and what it amounts to.

    `thresholds` are those in force by case id, before a case's noise raises them.
    `other_cache_ns` are the device times that are stored by case id for the kind of cache that this
    run does not measure with.
    """

    selection: Selection
    campaign: Campaign
    findings: Findings
    assembler: Assembler
    other: OtherBuild | None
    thresholds: Mapping[str, Thresholds]
    other_cache_ns: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """How a run is carried out: by which settings and instrument, and where its files lie."""

    settings: Settings
    instrument: Instrument
    store: BaselineStore
    root: Path
    run_file: RunFile

    def answer(
        self,
        selection: Selection,
        orderings: Sequence[Ordering],
        said: Mapping[str, Overrides],
        say: Say,
    ) -> Results:
        """Measure everything the selected tests ask about, and judge it.

        A baseline or another commit that cannot be read stops the run before anything is measured.
        """
        judging = self._judging(selection, orderings, said)
        surveyor = Surveyor(
            self.instrument,
            self.settings.protocol,
            say,
            self.run_file.keep,
            self.settings.power_limit_mw,
        )
        try:
            campaign, findings = self._measured(surveyor, judging)
        except KeyboardInterrupt:
            self.run_file.write_latest()
            raise
        self.run_file.write(campaign, findings)
        return Results(
            selection,
            campaign,
            findings,
            judging.assembler(campaign),
            judging.other,
            judging.thresholds,
            self._other_cache_ns(selection, campaign.machine),
        )

    def _judging(
        self,
        selection: Selection,
        orderings: Sequence[Ordering],
        said: Mapping[str, Overrides],
    ) -> Judging:
        machine, settings = self.instrument.machine(), self.settings
        other = self._other(selection)
        sources = tuple({one.operator.folder for one in selection.cases})
        return Judging(
            selection=selection if other is None else replace(selection, others=other.cases),
            protocol=settings.protocol,
            provenance=current_provenance(
                self.root, machine.packages, baselines=settings.baselines, sources=sources
            ),
            thresholds={one.id: _thresholds(settings, said.get(one.id)) for one in selection.cases},
            baselines={} if other else _stored(self.store, selection, machine),
            other=other,
            orderings=orderings,
        )

    def _other(self, selection: Selection) -> OtherBuild | None:
        if self.settings.against is None:
            return None
        asked = [one for one in selection.cases if one.id in selection.with_latency]
        return other_build(self.settings.against, asked, run_folder(self.root) / "against")

    def _other_cache_ns(self, selection: Selection, machine: Machine) -> dict[str, int]:
        """Return what is stored for the other kind of cache: which of two is faster may depend."""
        if self.settings.against is not None:
            return {}
        other = Cache.COLD if self.store.cache is Cache.WARM else Cache.WARM
        found = _stored(replace(self.store, cache=other), selection, machine)
        return {k: one.device_ns for k, one in found.items() if one.device_ns is not None}

    def _measured(self, surveyor: Surveyor, judging: Judging) -> tuple[Campaign, Findings]:
        """Check, time a round and judge it, and again where a second round would settle more."""
        selection = judging.selection
        timed = tuple(one for one in selection.cases if one.id in selection.timed)
        campaign = surveyor.check(selection)
        campaign = surveyor.time(campaign, timed, selection.others)
        findings = judging.judge(campaign)
        cases, sessions = judging.unsettled(findings)
        if self.settings.save:  # what is accepted was seen twice
            cases, sessions = timed, max(sessions, self.settings.protocol.sessions)
        if not cases:
            return campaign, findings
        surveyor.say(f"second round: {len(cases)} cases")
        campaign = surveyor.time(campaign, cases, selection.others, sessions=sessions)
        return campaign, judging.judge(campaign)


def _stored(store: BaselineStore, selection: Selection, machine: Machine) -> dict[str, Measurement]:
    """Return what is stored for this device under the operators of the selected cases."""
    if machine.device is None:
        return {}
    stored: dict[str, Measurement] = {}
    for operator in {case.operator.name for case in selection.cases}:
        stored |= store.read(machine.device.identity.key, operator)
    return stored


def _thresholds(settings: Settings, said: Overrides | None) -> Thresholds:
    """Return the thresholds of a case: its marker's over those in force."""
    if said is None:
        return settings.thresholds
    return override(
        settings.thresholds,
        percent=said.threshold,
        floor_us=said.floor,
        completion_percent=said.completion_threshold,
    )
