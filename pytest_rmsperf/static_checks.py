"""One case held against the devices of interest: compiled for each arch and planned for each part.

Nothing here needs a device, and nothing is launched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pytest_rmsperf.cases import Case, Variant
from pytest_rmsperf.costs import DeviceFit, StaticCheck, StaticCost, fit_of, launched_kernels
from pytest_rmsperf.device.clusters import cluster_refusal
from pytest_rmsperf.device.occupancy import ProfileCapacity
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.environment import capability_number
from pytest_rmsperf.errors import CompileError, GateFailure, PlanError
from pytest_rmsperf.launch import LaunchPlan
from pytest_rmsperf.residency import check_residency
from pytest_rmsperf.resources import CompiledModule

Compiled = Callable[[str], CompiledModule]  # for an arch
OWN = ("arch", "flags")  # what a module's identity says beside the compiler


def static_checks(
    case: Case, devices: Iterable[DeviceProfile], compiled: Compiled
) -> tuple[StaticCheck, ...]:
    """Return what the case costs on the devices that its variant is meant for, one entry per arch.

    A device that cannot run it is a violation, and so is an arch it does not compile for.
    """
    return tuple(
        _check_arch(case, arch, profiles, compiled)
        for arch, profiles in devices_by_arch(case.variant, devices).items()
    )


def devices_by_arch(
    variant: Variant, devices: Iterable[DeviceProfile]
) -> dict[str, list[DeviceProfile]]:
    """Return the devices that a variant is meant for by their arch, in the order given."""
    least = capability_number(variant.least_compute_capability or "0.0")
    found: dict[str, list[DeviceProfile]] = {}
    for one in devices:
        if capability_number(one.identity.compute_capability) >= least:
            found.setdefault(one.arch, []).append(one)
    return found


@dataclass(frozen=True, slots=True)
class _Held:
    """What came of one device: the plan and its fit, or the whole message that refuses it."""

    fit: DeviceFit
    plan: LaunchPlan | None = None
    violation: str | None = None


def _check_arch(
    case: Case, arch: str, devices: Sequence[DeviceProfile], compiled: Compiled
) -> StaticCheck:
    try:
        module = compiled(arch)
    except CompileError as refusal:
        return StaticCheck(arch, None, failure=str(refusal))
    held = [_hold(case, module, one) for one in devices]
    plans = [one.plan for one in held if one.plan is not None]
    cost = StaticCost(
        case_id=case.id,
        arch=arch,
        compiler=tuple((name, value) for name, value in module.identity if name not in OWN),
        flags=case.variant.flags,
        kernels=launched_kernels(module, *plans),
        fits=tuple(one.fit for one in held),
    )
    violations = ((one.fit.device, one.violation) for one in held)
    return StaticCheck(
        arch, cost, violations=tuple((device, why) for device, why in violations if why is not None)
    )


def _hold(case: Case, module: CompiledModule, device: DeviceProfile) -> _Held:
    """Plan the case for one device and hold each launch against it."""
    capacity = ProfileCapacity(device, module)
    try:
        plan = case.variant.plan(case.problem, capacity)
        residency = check_residency(plan, module, capacity, source="computed")
    except (PlanError, GateFailure) as refusal:
        return _refused(device, str(refusal))
    why_never = _cluster_refusal(plan, device)
    if why_never is not None:
        return _refused(device, why_never)
    fit = fit_of(residency, plan)
    return _Held(fit, plan, violation=None if residency.fits else str(residency))


def _cluster_refusal(plan: LaunchPlan, device: DeviceProfile) -> str | None:
    """Return the whole message on clusters that can never be launched on a device."""
    one = device.identity
    refusals = (cluster_refusal(one.compute_capability, launch) for launch in plan.launches)
    why = next((found for found in refusals if found is not None), None)
    if why is None:
        return None
    return (
        f"does not fit {one.name}: {why}\n"
        "give the variant its least_compute_capability if it is not meant for this device, or "
        "make the clusters smaller, then: pytest --rmsperf --lf"
    )


def _refused(device: DeviceProfile, message: str) -> _Held:
    one = device.identity
    why_not = message.partition("\n")[0]
    return _Held(DeviceFit(one.name, one.sms, (), (), why_not=why_not), violation=message)
