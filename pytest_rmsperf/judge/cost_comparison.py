"""One cost of a case held against another of the same arch, device by device."""

from __future__ import annotations

from dataclasses import replace

from pytest_rmsperf.costs import DeviceFit, Resources, StaticCost
from pytest_rmsperf.judge.cost_differences import (
    headroom_difference,
    kernel_differences,
    launch_differences,
    limits_of,
)
from pytest_rmsperf.judge.difference import NOTE, Difference
from pytest_rmsperf.judge.policy import Status


def cost_differences(
    cost: StaticCost, baseline: StaticCost | None, headroom_loss: float, *, is_paired: bool
) -> list[tuple[str, Difference]]:
    """Return everything that differs, each with the device or the arch that it holds for.

    What another compiler made is no loss of ours: then all that differs is noted and no more.
    Another commit has its own flags, which are part of what is compared.
    """
    if baseline is None:
        why = "the other commit has no cost of it" if is_paired else "no cost is stored"
        return [(cost.arch, Difference(Status.MISSING, why))]
    found: list[tuple[str, Difference]] = []
    for fit in cost.fits:
        found += [(fit.device, one) for one in _on_device(cost, baseline, fit, headroom_loss)]
    found += [(cost.arch, one) for one in _of_arch(cost, baseline)]
    other = _other_build(cost, baseline)
    if is_paired or not other:
        return [*found, *((cost.arch, replace(one, status=NOTE)) for one in other)]
    return [
        *((cost.arch, one) for one in other),
        *((subject, replace(one, status=NOTE)) for subject, one in found),
    ]


def _on_device(
    cost: StaticCost, baseline: StaticCost, fit: DeviceFit, headroom_loss: float
) -> list[Difference]:
    """Return how the plan on one device differs, by computation on both sides."""
    before = baseline.fit_on(fit.device)
    if before is None:
        return [Difference(Status.MISSING, "no cost is stored")]
    if fit.why_not is not None:
        return []
    if before.why_not is not None:
        return [Difference(Status.CHEAPER, "has a plan where there was none")]
    before, after = map(_computed, (before, fit))
    found = launch_differences(
        Resources(baseline.kernels, before),
        Resources(cost.kernels, after),
        limits_of(cost.arch),
    )
    headroom = headroom_difference(before, after, headroom_loss)
    return [*found, headroom] if headroom is not None else found


def _of_arch(cost: StaticCost, baseline: StaticCost) -> list[Difference]:
    """Return how the kernels differ that are launched on devices with a plan on both sides."""
    pairs = [(fit, baseline.fit_on(fit.device)) for fit in cost.fits if fit.launches]
    both = [(after, before) for after, before in pairs if before is not None and before.launches]
    new, old = ({one.kernel for fits in both for one in fits[side].launches} for side in (0, 1))
    return kernel_differences(
        [one for one in baseline.kernels if one.name in old],
        [one for one in cost.kernels if one.name in new],
    )


def _computed(fit: DeviceFit) -> DeviceFit:
    """Return a plan without what a driver once said of it: that is not known everywhere."""
    launches = tuple(replace(one, active_clusters=None) for one in fit.launches)
    return replace(fit, launches=launches)


def _other_build(cost: StaticCost, baseline: StaticCost) -> list[Difference]:
    """Return what else than the source went into the machine code, if it differs."""
    before, after = dict(baseline.compiler), dict(cost.compiler)
    entries = [
        f"{key} {before.get(key, 'none')} -> {after.get(key, 'none')}"
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key)
    ]
    found = []
    if entries:
        found.append(Difference(Status.INCOMPARABLE, f"other compiler: {', '.join(entries)}"))
    if cost.flags != baseline.flags:
        old, new = (" ".join(one.flags) or "none" for one in (baseline, cost))
        found.append(Difference(Status.INCOMPARABLE, f"other compiler flags: {old} -> {new}"))
    return found
