"""The emulated device: a profile of a real one, and this machine's C++ compiler to stand for it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rmsperf.cases import Case, Variant
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.emulated import addresses
from pytest_rmsperf.emulated.build import EmulatedRecipe, build_kernels
from pytest_rmsperf.emulated.launcher import EmulatedModule
from pytest_rmsperf.emulated.library import KernelLibrary
from pytest_rmsperf.emulated.toolchain import HostCompiler, find_host_compiler
from pytest_rmsperf.emulation import AddressCheck, Schedules
from pytest_rmsperf.environment import DeviceIdentity
from pytest_rmsperf.errors import DeviceError
from pytest_rmsperf.resources import CompiledModule


def why_no_emulation() -> str | None:
    """Say why kernels cannot be emulated on this machine, or return None when they can."""
    try:
        find_host_compiler()
    except DeviceError as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class EmulatedDevice:
    """Runs kernels on the CPU as the profile's device would, but for time."""

    profile: DeviceProfile
    schedules: Schedules
    host: HostCompiler

    @classmethod
    def open(cls, profile: DeviceProfile, schedules: Schedules) -> EmulatedDevice:
        """Return the device; DeviceError says why kernels cannot be emulated here."""
        return cls(profile, schedules, find_host_compiler())

    @property
    def identity(self) -> DeviceIdentity:
        return self.profile.identity

    @property
    def compiler(self) -> str:
        return self.host.name

    def load(self, compiled: CompiledModule, variant: Variant) -> EmulatedModule:
        """Compile the variant's source for this CPU and load it.

        Raises CompileError when it uses what is not emulated.
        """
        kernels = (kernel.name for kernel in compiled.kernels)
        recipe = EmulatedRecipe.of(variant, kernels, self.profile.arch)
        library = KernelLibrary(build_kernels(recipe, self.host), variant.source.parent)
        return EmulatedModule(compiled, library, self.profile, self.schedules)

    def check_addresses(self, case: Case, loaded: EmulatedModule) -> AddressCheck | None:
        """Check the addresses of the operator's largest problems; see `addresses`."""
        return addresses.check_addresses(case, loaded)
