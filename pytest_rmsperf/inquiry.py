"""One run's work from the selection to its results: read, check, time, judge, time again, judge."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from pytest_rmsperf.against import OtherBuild, other_build
from pytest_rmsperf.assembly import Assembler
from pytest_rmsperf.campaign import Campaign, Instrument, Selection, Surveyor
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import Machine
from pytest_rmsperf.costing import Costing
from pytest_rmsperf.costs import DeviceFit, StaticCost
from pytest_rmsperf.judge.cost import CostLimits
from pytest_rmsperf.judge.thresholds import Thresholds
from pytest_rmsperf.judging import Findings, Judging
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Cache
from pytest_rmsperf.provenance import current_provenance
from pytest_rmsperf.questions import Asked, Overrides
from pytest_rmsperf.report.run_file import RunFile, run_folder
from pytest_rmsperf.settings import Settings, override
from pytest_rmsperf.storing.baselines import BaselineStore
from pytest_rmsperf.storing.case_store import CaseStore, Entry
from pytest_rmsperf.storing.static_store import StaticStore

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured, and what it amounts to.

    `thresholds` are those in force by case id, before a case's noise raises them.
    `other_cache_ns` are the device times that are stored by case id for the kind of cache that this
    run does not measure with.
    """

    asked: Asked
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

    @property
    def static_store(self) -> StaticStore:
        return StaticStore(self.settings.baselines)

    def answer(self, asked: Asked, say: Say) -> Results:
        """Measure everything the selected tests ask about, and judge it.

        A baseline or another commit that cannot be read stops the run before anything is measured.
        """
        judging = self._judging(asked)
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
            asked,
            campaign,
            findings,
            judging.assembler(campaign),
            judging.other,
            judging.thresholds,
            self._other_cache_ns(asked.selection, campaign.machine),
        )

    def _judging(self, asked: Asked) -> Judging:
        machine, settings, selection = self.instrument.machine(), self.settings, asked.selection
        other = self._other(asked)
        sources = tuple({one.operator.folder for one in selection.cases})
        return Judging(
            selection=selection if other is None else replace(selection, others=other.cases),
            protocol=settings.protocol,
            provenance=current_provenance(
                self.root, machine.packages, baselines=settings.baselines, sources=sources
            ),
            thresholds={
                one.id: _thresholds(settings, asked.said.get(one.id)) for one in selection.cases
            },
            baselines={} if other else _stored(self.store, selection, machine),
            costing=self._costing(selection.cases, other),
            other=other,
            orderings=asked.orderings,
        )

    def _costing(self, cases: Sequence[Case], other: OtherBuild | None) -> Costing:
        limits = CostLimits(self.settings.headroom_loss)
        if other is not None:  # stored figures are not looked at
            return Costing(limits, other=other)
        operators = {one.operator.name for one in cases}
        return Costing(limits, self._stored_costs(operators), self._measured_fits(operators))

    def _stored_costs(self, operators: Collection[str]) -> dict[str, dict[str, StaticCost]]:
        """Return what is stored for the archs of the devices of interest, by case id and arch."""
        found: dict[str, dict[str, StaticCost]] = {}
        archs = {one.arch for one in self.settings.devices}
        for one in _entries(self.static_store, archs, operators):
            found.setdefault(one.case_id, {})[one.arch] = one
        return found

    def _measured_fits(self, operators: Collection[str]) -> dict[str, dict[str, DeviceFit]]:
        """Return the plans stored with measurements of devices of interest, by case and device."""
        found: dict[str, dict[str, DeviceFit]] = {}
        keys = {one.identity.key for one in self.settings.devices}
        for one in _entries(self.store, keys, operators):
            if one.resources is not None:
                fit = one.resources.fit
                found.setdefault(one.case_id, {})[fit.device] = fit
        return found

    def _other(self, asked: Asked) -> OtherBuild | None:
        if self.settings.against is None:
            return None
        ids = asked.with_latency | asked.with_static
        cases = [one for one in asked.selection.cases if one.id in ids]
        return other_build(self.settings.against, cases, run_folder(self.root) / "against")

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
        if campaign.machine.device is None:
            return campaign, findings
        cases, sessions = judging.unsettled(findings)
        if self.settings.save:  # what is accepted was seen twice
            cases, sessions = timed, max(sessions, self.settings.protocol.sessions)
        if not cases:
            return campaign, findings
        surveyor.say(f"second round: {len(cases)} cases")
        campaign = surveyor.time(campaign, cases, selection.others, sessions=sessions)
        return campaign, judging.judge(campaign)


def _entries(
    store: CaseStore[Entry], targets: Collection[str], operators: Collection[str]
) -> Iterator[Entry]:
    """Yield what is stored of some operators for some targets."""
    for target, operator in product(sorted(targets), sorted(operators)):
        yield from store.read(target, operator).values()


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
