"""What static costs are held against, and the verdicts on the costs of a campaign's cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_rmsperf.against import OtherBuild
from pytest_rmsperf.assembly import resources_of
from pytest_rmsperf.campaign import Campaign
from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.costs import DeviceFit, StaticCheck, StaticCost
from pytest_rmsperf.judge.clusters import with_known_clusters
from pytest_rmsperf.judge.cost import CostLimits, CostVerdict, judge_cost

Checks = tuple[StaticCheck, ...]
CostsByArch = Mapping[str, StaticCost]


@dataclass(frozen=True, slots=True)
class Costing:
    """Stored costs by case id and arch, or another build, and by how much a cost may grow.

    `measured` are stored plans of measurements, by case id and device: their devices said how many
    clusters they hold, which nobody can compute.
    """

    limits: CostLimits = field(default_factory=CostLimits)
    stored: Mapping[str, CostsByArch] = field(default_factory=dict)
    measured: Mapping[str, Mapping[str, DeviceFit]] = field(default_factory=dict)
    other: OtherBuild | None = None

    def checks(self, campaign: Campaign, cases: Iterable[Case]) -> dict[str, Checks]:
        """Return what was found of each case that was held against devices of interest."""
        found = (campaign.checked.get(one.id) for one in cases)
        return {one.case_id: self._checks(one, campaign) for one in found if one and one.static}

    def judge(self, campaign: Campaign, checks: Mapping[str, Checks]) -> dict[str, CostVerdict]:
        """Judge what was found of each case."""
        is_paired = self.other is not None
        return {
            case_id: judge_cost(
                case_id, found, self._baselines(case_id, campaign), self.limits, is_paired=is_paired
            )
            for case_id, found in checks.items()
        }

    def _checks(self, checked: CheckedCase, campaign: Campaign) -> Checks:
        measured = dict(self.measured.get(checked.case_id, {}))
        mine = resources_of(checked) if campaign.machine.device is not None else None
        if mine is not None:
            measured[mine.fit.device] = mine.fit
        return tuple(with_known_clusters(one, measured) for one in checked.static)

    def _baselines(self, case_id: str, campaign: Campaign) -> CostsByArch:
        if self.other is None:
            return self.stored.get(case_id, {})
        other = self.other.cases.get(case_id)
        theirs = campaign.checked.get(other.id) if other is not None else None
        found = (one.cost for one in theirs.static) if theirs is not None else ()
        return {cost.arch: cost for cost in found if cost is not None}
