"""What would become a static baseline, what outlives it, and why it may not be stored. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_rmsperf.costs import DeviceFit, StaticCost
from pytest_rmsperf.judge.cost import ArchVerdict, CostVerdict
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.report.messages import selector
from pytest_rmsperf.resources import CompiledKernel
from pytest_rmsperf.storing.refusals import listed
from pytest_rmsperf.storing.static_store import SAVE


@dataclass(frozen=True, slots=True)
class CostCandidate:
    """The costs that might become the baselines of one case: one of each arch.

    `verdict` holds them against what is stored now. `may_loosen` says that the command line accepts
    a case that costs more, by its name or all of them.
    """

    case_id: str
    operator: str
    costs: tuple[StaticCost, ...]
    verdict: CostVerdict
    may_loosen: bool

    def of_arch(self, arch: str) -> ArchVerdict | None:
        """Return what the judge says of one arch; None where it was not looked at."""
        return next((one for one in self.verdict.archs if one.arch == arch), None)

    def findings(self, status: Status) -> tuple[str, ...]:
        """Return what the verdicts of this status rest on."""
        archs = (one for one in self.verdict.archs if one.status is status)
        return tuple(str(finding) for one in archs for finding in one.findings)


def cost_refusals(candidates: Sequence[CostCandidate]) -> list[str]:
    """Return why nothing of this run may be stored, each with its remedy; empty when all may be."""
    return [*_violated(candidates), *_costlier(candidates)]


def accepted(cost: StaticCost, old: StaticCost | None) -> StaticCost:
    """Return what is stored of a cost, sorted by device.

    The plan on a device that was not looked at stays, as long as it launches the same machine code.
    So do instruction counts, where nothing is installed that counts them.
    """
    counted = {one.name: one for one in old.kernels} if old is not None else {}
    kernels = tuple(_with_counts(one, counted.get(one.name)) for one in cost.kernels)
    fits = [*cost.fits, *(one for one in _others(cost, old) if _still_holds(one, cost, old))]
    by_device = sorted(fits, key=lambda one: one.device)
    return replace(cost, kernels=kernels, fits=tuple(by_device))


def dropped(cost: StaticCost, old: StaticCost | None) -> tuple[str, ...]:
    """Return the devices whose stored plans are given up: they are of other machine code."""
    others = _others(cost, old)
    return tuple(one.device for one in others if not _still_holds(one, cost, old))


def _violated(candidates: Sequence[CostCandidate]) -> Iterator[str]:
    found = [one for one in candidates if one.verdict.status is Status.VIOLATED]
    yield from listed(
        [f"{one.case_id}: {'; '.join(one.findings(Status.VIOLATED))}" for one in found],
        "violated on a device of interest",
        f"mend it, or leave the device out of --rmsperf-devices, then: {SAVE}",
    )


def _costlier(candidates: Sequence[CostCandidate]) -> Iterator[str]:
    losses = [(one, one.findings(Status.COSTLIER)) for one in candidates if not one.may_loosen]
    found = [(one.case_id, why) for one, why in losses if why]
    if found:
        yield from listed(
            [f"{case_id}: {'; '.join(why)}" for case_id, why in found],
            "costlier than what was accepted before",
            f'name the case to accept it: {SAVE} -k "{selector(found[0][0])}"; '
            f"or accept all with: {SAVE} --rmsperf-accept-slower",
        )


def _others(cost: StaticCost, old: StaticCost | None) -> list[DeviceFit]:
    """Return the stored plans on devices that were not looked at."""
    if old is None:
        return []
    return [one for one in old.fits if cost.fit_on(one.device) is None]


def _still_holds(fit: DeviceFit, cost: StaticCost, old: StaticCost | None) -> bool:
    """Say whether a stored plan launches kernels that are still the same."""
    if old is None or (cost.compiler, cost.flags) != (old.compiler, old.flags):
        return False
    names = {launch.kernel for launch in fit.launches}
    before, after = (
        [_uncounted(kernel) for kernel in one.kernels if kernel.name in names]
        for one in (old, cost)
    )
    return before == after


def _with_counts(kernel: CompiledKernel, old: CompiledKernel | None) -> CompiledKernel:
    is_counted = kernel.code is not None and kernel.code.instructions is not None
    if is_counted or old is None or _uncounted(kernel) != _uncounted(old):
        return kernel
    return old


def _uncounted(kernel: CompiledKernel) -> CompiledKernel:
    if kernel.code is None:
        return kernel
    return replace(kernel, code=replace(kernel.code, instructions=None, counts=()))
