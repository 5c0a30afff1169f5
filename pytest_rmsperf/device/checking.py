"""The stages of a case before timing: compile, plan, residency, numerics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from pytest_rmsperf.cases import Case, Variant
from pytest_rmsperf.checks import CheckedCase, Failure, Stage
from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import LoadedModule
from pytest_rmsperf.device.numerics import References, check_numerics
from pytest_rmsperf.device.occupancy import ProfileCapacity
from pytest_rmsperf.device.profiles import profile_for_arch
from pytest_rmsperf.errors import CompileError, DeviceError, GateFailure, RmsperfError
from pytest_rmsperf.resources import Capacity, CompiledModule, check_residency

Notify = Callable[[str, str], None]  # case id, what is about to be done
Step = Callable[[Case, CheckedCase], CheckedCase]


@dataclass(frozen=True, slots=True)
class Built:
    """A variant compiled, and the capacity of the device it is meant for."""

    compiled: CompiledModule
    capacity: Capacity
    loaded: LoadedModule | None


class Checker:
    """Takes cases through the stages; what cases share is compiled, loaded and computed once."""

    def __init__(self, context: CudaContext | None, arch: str) -> None:
        self.context = context
        self.arch = arch
        self._built: dict[Recipe, Built | CompileError] = {}
        self._references = References()

    def check(self, case: Case, notify: Notify, *, numerics: bool) -> CheckedCase:
        """Return how far the case came; a failed stage is recorded and ends the way."""
        steps: dict[Stage, Step] = {
            Stage.COMPILE: self._compile,
            Stage.PLAN: self._plan,
            Stage.RESIDENCY: self._residency,
            Stage.NUMERICS: partial(self._numerics, notify=notify),
        }
        if not numerics or self.context is None:
            del steps[Stage.NUMERICS]
        checked = CheckedCase(case.id)
        for stage, step in steps.items():
            notify(case.id, stage.value)
            try:
                checked = step(case, checked)
            except (RmsperfError, GateFailure) as error:
                fatal = isinstance(error, DeviceError)
                return replace(checked, failure=Failure(stage, str(error), fatal))
        return checked

    def build(self, variant: Variant) -> Built:
        """Compile a variant and load it where there is a device; once, error or not."""
        recipe = Recipe(variant.source, self.arch, variant.constants, variant.flags)
        if recipe not in self._built:
            self._built[recipe] = self._build(recipe)
        built = self._built[recipe]
        if isinstance(built, CompileError):
            raise built
        return built

    def _build(self, recipe: Recipe) -> Built | CompileError:
        try:
            compiled = compile_recipe(recipe)
        except CompileError as error:
            return error
        if self.context is None:
            return Built(compiled, ProfileCapacity(profile_for_arch(self.arch), compiled), None)
        loaded = LoadedModule(compiled, self.context)
        return Built(compiled, loaded, loaded)

    def loaded(self, variant: Variant) -> LoadedModule:
        """Return the variant on the device; DeviceError where there is none."""
        built = self.build(variant)
        if built.loaded is None:
            raise DeviceError("nothing can be launched here: there is no CUDA device")
        return built.loaded

    def _compile(self, case: Case, checked: CheckedCase) -> CheckedCase:
        compiled = self.build(case.variant).compiled
        return replace(checked, compiled=replace(compiled, cubin=b""))  # nobody asks for its bytes

    def _plan(self, case: Case, checked: CheckedCase) -> CheckedCase:
        plan = case.variant.plan(case.problem, self.build(case.variant).capacity)
        return replace(checked, plan=plan)

    def _residency(self, case: Case, checked: CheckedCase) -> CheckedCase:
        built = self.build(case.variant)
        assert checked.plan is not None
        source = "computed" if built.loaded is None else "driver"
        residency = check_residency(checked.plan, built.compiled, built.capacity, source=source)
        failure = None if residency.fits else Failure(Stage.RESIDENCY, str(residency))
        return replace(checked, residency=residency, failure=failure)

    def _numerics(self, case: Case, checked: CheckedCase, *, notify: Notify) -> CheckedCase:
        if checked.failure is not None:
            return checked
        found = check_numerics(
            case,
            self.loaded(case.variant),
            self._references,
            lambda step: notify(case.id, step),
        )
        failure = None if found.passed else Failure(Stage.NUMERICS, str(found))
        return replace(checked, numerics=found, failure=failure)
