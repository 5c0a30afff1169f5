"""The stages of a case before timing: compile, plan, residency, static costs, numerics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Generic, TypeVar

from pytest_rmsperf.cases import Case, Variant
from pytest_rmsperf.checks import CheckedCase, Failure, Stage
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.disassembler import InstructionCounter
from pytest_rmsperf.device.launcher import LoadedModule
from pytest_rmsperf.device.occupancy import ProfileCapacity
from pytest_rmsperf.device.profiles import DeviceProfile, profile_for_arch
from pytest_rmsperf.emulated.device import EmulatedDevice
from pytest_rmsperf.emulated.launcher import EmulatedModule
from pytest_rmsperf.emulation import AddressCheck, Emulation
from pytest_rmsperf.errors import CompileError, DeviceError, GateFailure, PlanError, RmsperfError
from pytest_rmsperf.numerics import Known, References, check_numerics
from pytest_rmsperf.residency import check_residency
from pytest_rmsperf.resources import Capacity, CompiledModule
from pytest_rmsperf.static_checks import static_checks

Notify = Callable[[str, str], None]  # case id, what is about to be done
Step = Callable[[Case, CheckedCase], CheckedCase]
Target = CudaContext | EmulatedDevice
Key = TypeVar("Key")
Made = TypeVar("Made")


class Once(Generic[Key, Made]):
    """What was made for each key, or the refusal to make it: each is asked for once."""

    def __init__(self) -> None:
        self._made: dict[Key, Made] = {}
        self._refused: dict[Key, CompileError | GateFailure] = {}

    def __contains__(self, key: Key) -> bool:
        """Say whether a key was asked for before."""
        return key in self._made or key in self._refused

    def get(self, key: Key, make: Callable[[], Made]) -> Made:
        """Return what `make` gave for a key the first time, or raise again what it raised."""
        if key in self._refused:
            raise self._refused[key]
        if key not in self._made:
            try:
                self._made[key] = make()
            except (CompileError, GateFailure) as refusal:
                self._refused[key] = refusal
                raise
        return self._made[key]


class Checker:
    """Takes cases through the stages; what cases share is compiled, loaded and computed once.

    Numerics need a `target`. Without one, and on the emulated device, whether a launch fits is
    computed from the profile of `arch`. Each case is held against the `devices` of interest too,
    whatever its own device says of it.
    """

    def __init__(
        self, target: Target | None, arch: str, devices: Sequence[DeviceProfile] = ()
    ) -> None:
        self.target = target
        self.arch = arch
        self.devices = tuple(devices)
        self._compiled = Once[Recipe, CompiledModule]()
        self._counted = Once[Recipe, CompiledModule]()
        self._loaded = Once[Recipe, LoadedModule | EmulatedModule]()
        self._addresses = Once[Variant, AddressCheck | None]()
        self._references = References()
        self._emulated: Known = {}  # several problems have the same stand-in

    def check(self, case: Case, notify: Notify, *, numerics: bool) -> CheckedCase:
        """Return how far the case came; a failed stage is recorded and ends the way."""
        steps: list[tuple[Stage, Step]] = [
            (Stage.COMPILE, self._compile),
            (Stage.PLAN, self._plan),
            (Stage.RESIDENCY, self._residency),
        ]
        checked = self._taken(case, CheckedCase(case.id), steps, notify)
        if checked.residency is not None:  # also of one that does not fit here
            checked = replace(checked, static=self._static(case, notify))
        if numerics and checked.failure is None:
            steps = [(Stage.NUMERICS, step) for step in self._numerics_steps(notify)]
            checked = self._taken(case, checked, steps, notify)
        return checked

    def _taken(
        self,
        case: Case,
        checked: CheckedCase,
        steps: Iterable[tuple[Stage, Step]],
        notify: Notify,
    ) -> CheckedCase:
        """Take a case through some stages, as far as it comes."""
        for stage, step in steps:
            notify(case.id, stage.value)
            try:
                checked = step(case, checked)
            except (RmsperfError, GateFailure) as error:
                fatal = isinstance(error, DeviceError)
                return replace(checked, failure=Failure(stage, str(error), fatal))
            if checked.failure is not None:
                return checked
        return checked

    def _numerics_steps(self, notify: Notify) -> tuple[Step, ...]:
        if self.target is None:
            return ()
        if isinstance(self.target, CudaContext):
            return (partial(self._numerics, notify=notify),)
        return (
            partial(self._emulate, self.target, notify=notify),
            partial(self._check_addresses, self.target, notify=notify),
        )

    # ---- what cases share -------------------------------------------------------------------

    def compiled(self, variant: Variant) -> CompiledModule:
        """Compile a variant for the arch; once, error or not."""
        return self._compiled_by(self._recipe(variant))

    def counted(self, variant: Variant, arch: str) -> CompiledModule:
        """Compile a variant for any arch, and count its instructions if that can be done here."""
        recipe = recipe_of(variant, arch)

        def count() -> CompiledModule:
            compiled = self._compiled_by(recipe)
            return self.counter.counted([compiled])[0] if self.counter is not None else compiled

        return self._counted.get(recipe, count)

    @cached_property
    def counter(self) -> InstructionCounter | None:
        """What counts instructions here; CompileError where it is broken."""
        return InstructionCounter.found()

    def loaded(self, variant: Variant) -> LoadedModule | EmulatedModule:
        """Return the variant on the target; DeviceError where there is none.

        Raises CompileError where the emulated device's compiler refuses what nvcc would take.
        """
        compiled = self.compiled(variant)

        def load() -> LoadedModule | EmulatedModule:
            if self.target is None:
                raise DeviceError("nothing can be launched here: there is no CUDA device")
            if isinstance(self.target, CudaContext):
                return LoadedModule(compiled, self.target)
            return self.target.load(compiled, variant)

        return self._loaded.get(self._recipe(variant), load)

    def on_cuda(self, variant: Variant) -> LoadedModule:
        """Return the variant on the CUDA device; DeviceError where there is none."""
        loaded = self.loaded(variant)
        if not isinstance(loaded, LoadedModule):
            raise DeviceError("nothing can be timed here: the device is emulated")
        return loaded

    @property
    def cuda_context(self) -> CudaContext:
        """The CUDA device's context; DeviceError where there is none."""
        if isinstance(self.target, CudaContext):
            return self.target
        why = "the device is emulated" if self.target else "there is no CUDA device"
        raise DeviceError(f"nothing can be timed here: {why}")

    def emulated(self, variant: Variant) -> EmulatedModule:
        """Return the variant on the emulated device; only where that is the target."""
        loaded = self.loaded(variant)
        assert not isinstance(loaded, LoadedModule)
        return loaded

    def loaded_for(self, case: Case, notify: Notify) -> LoadedModule | EmulatedModule:
        """Return the case's variant on the target; `notify` is told of launches that take long."""
        loaded = self.loaded(case.variant)
        if not isinstance(loaded, LoadedModule):
            loaded.progress = lambda done, blocks: notify(
                case.id, f"launch, {done} of {blocks} blocks"
            )
        return loaded

    def capacity(self, variant: Variant) -> Capacity:
        """Return what the CUDA driver says of a variant, else what its arch's profile does.

        Not the emulated module's own word, which is the same: a source that only the emulated
        device refuses can still be planned and held against the device it is meant for.
        """
        if isinstance(self.target, CudaContext):
            return self.on_cuda(variant)
        return ProfileCapacity(profile_for_arch(self.arch), self.compiled(variant))

    def _compiled_by(self, recipe: Recipe) -> CompiledModule:
        return self._compiled.get(recipe, lambda: compile_recipe(recipe))

    def _recipe(self, variant: Variant) -> Recipe:
        return recipe_of(variant, self.arch)

    # ---- the stages -------------------------------------------------------------------------

    def _compile(self, case: Case, checked: CheckedCase) -> CheckedCase:
        self.capacity(case.variant)  # what the driver does not load is not compiled
        compiled = self.counted(case.variant, self.arch)
        return replace(checked, compiled=replace(compiled, cubin=b""))  # nobody asks for its bytes

    def _plan(self, case: Case, checked: CheckedCase) -> CheckedCase:
        plan = case.variant.plan(case.problem, self.capacity(case.variant))
        return replace(checked, plan=plan)

    def _residency(self, case: Case, checked: CheckedCase) -> CheckedCase:
        assert checked.plan is not None
        source = "driver" if isinstance(self.target, CudaContext) else "computed"
        residency = check_residency(
            checked.plan, self.compiled(case.variant), self.capacity(case.variant), source=source
        )
        failure = None if residency.fits else Failure(Stage.RESIDENCY, str(residency))
        return replace(checked, residency=residency, failure=failure)

    def _static(self, case: Case, notify: Notify) -> tuple[StaticCheck, ...]:
        def compiled(arch: str) -> CompiledModule:
            if recipe_of(case.variant, arch) not in self._counted:
                notify(case.id, f"compile for {arch}")
            return self.counted(case.variant, arch)

        return static_checks(case, self.devices, compiled)

    def _numerics(self, case: Case, checked: CheckedCase, *, notify: Notify) -> CheckedCase:
        module = self.on_cuda(case.variant)
        found = check_numerics(case, module, self._references, partial(notify, case.id))
        failure = None if found.passed else Failure(Stage.NUMERICS, str(found))
        return replace(checked, numerics=found, failure=failure)

    def _emulate(
        self, device: EmulatedDevice, case: Case, checked: CheckedCase, *, notify: Notify
    ) -> CheckedCase:
        """Check the numerics of the problem that stands for the case's, and say which it was."""
        announce = partial(notify, case.id)
        announce("compile for the emulated device")
        module = self.loaded_for(case, notify)
        stand_in = case.operator.emulate_as
        emulation = Emulation(stand_in(case.problem).label, device.schedules)
        try:
            found = check_numerics(
                case, module, self._references, announce, stand_in=stand_in, known=self._emulated
            )
        except (GateFailure, PlanError) as error:
            raise type(error)(_with_evidence(str(error), emulation)) from error
        found = replace(found, emulation=emulation)
        failure = None if found.passed else Failure(Stage.NUMERICS, str(found))
        return replace(checked, numerics=found, failure=failure)

    def _check_addresses(
        self, device: EmulatedDevice, case: Case, checked: CheckedCase, *, notify: Notify
    ) -> CheckedCase:
        """Check the addresses of the case's variant, which are the same for all its cases."""
        problems = case.operator.address_problems
        if not problems:
            return checked
        notify(case.id, "launch at address_problems")
        numerics = checked.numerics
        assert numerics is not None
        assert numerics.emulation is not None
        try:
            addresses = self._addresses.get(
                case.variant, lambda: device.check_addresses(case, self.emulated(case.variant))
            )
        except PlanError as error:
            labels = ", ".join(problem.label for problem in problems)
            raise PlanError(
                f"{error}\n  addresses  at {labels}: address_problems of {case.operator.name}"
            ) from error
        emulation = replace(numerics.emulation, addresses=addresses)
        return replace(checked, numerics=replace(numerics, emulation=emulation))


def recipe_of(variant: Variant, arch: str) -> Recipe:
    """Return what to compile of a variant for an arch."""
    return Recipe(variant.source, arch, variant.constants, variant.flags)


def _with_evidence(message: str, emulation: Emulation) -> str:
    """Say behind the verdict what was emulated."""
    verdict, *rest = message.splitlines()
    return "\n".join((verdict, f"  emulated   {emulation.how}", *rest))
