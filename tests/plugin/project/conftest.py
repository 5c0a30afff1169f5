"""An instrument that answers from script.json and writes down in calls.txt what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_rmsperf import Case, Precision, Problem
from pytest_rmsperf.accuracy import Comparison, Numerics
from pytest_rmsperf.campaign import Say
from pytest_rmsperf.checks import (
    CheckedCase,
    EmulatedMachine,
    Failure,
    Machine,
    SessionResult,
    Stage,
    TimedSession,
    Turn,
)
from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, StaticCheck, StaticCost
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.emulation import Emulation
from pytest_rmsperf.environment import DeviceChoice, DeviceIdentity, DeviceRecord, DeviceState
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.residency import check_residency
from pytest_rmsperf.resources import CompiledKernel, CompiledModule
from pytest_rmsperf.samples import Samples
from pytest_rmsperf.settings import Settings

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

Value = TypeVar("Value")

KERNEL = CompiledKernel("scale_rows", 40, 16, 0, 0, 0)
COMPILER = (("nvrtc", "13.0.88"),)
TABLES = ("blocks_per_sm", "registers", "violated", "not_meant")
USUAL_COSTS = {**{one: {} for one in TABLES}, "nvrtc": "13.0.88"}
IDENTITY = DeviceIdentity("NVIDIA H200", 132, "9.0", 143771)
COMPILED = CompiledModule("scalar.cu", COMPILER, "key", b"", (KERNEL,), from_cache=False)


class H200:
    """The capacity of an H200 for a kernel of which four blocks fit one SM."""

    device = "NVIDIA H200"
    sms = 132

    def blocks_per_sm(
        self,
        kernel: str,  # noqa: ARG002
        threads_per_block: int,  # noqa: ARG002
        dynamic_smem_bytes: int,  # noqa: ARG002
    ) -> int:
        return 4

    def active_clusters(self, launch: KernelLaunch) -> int | None:  # noqa: ARG002
        return None


class ScriptedInstrument:
    """Answers by the script; a key of one of its tables means every case id that it is part of."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._settings = settings
        self._script: dict[str, Any] = dict(USUAL_COSTS)
        for file in (folder / "script.json", folder / "costs.json"):
            if file.exists():
                self._script |= json.loads(file.read_text(encoding="utf-8"))
        self._calls = folder / "calls.txt"
        self._session = 0

    def machine(self) -> Machine:
        name = self._script["device"]
        if self._settings.usable_device is DeviceChoice.NONE:
            return Machine(None, "none is looked for", COMPILER)
        if name is None:
            return Machine(None, "none in the script", COMPILER, emulated=self._emulated())
        device = DeviceRecord(
            identity=replace(IDENTITY, name=name),
            uuid="GPU-of-the-script",
            cuda="13.0",
            state=DeviceState(driver="580.159"),
        )
        return Machine(device, None, COMPILER, packages=(("numpy", "2.4.6"),))

    def _emulated(self) -> EmulatedMachine | None:
        possible = self._script["emulated"]
        if not possible or self._settings.usable_device is DeviceChoice.CUDA:
            return None
        return EmulatedMachine(IDENTITY, "g++ 12.2.0", self._settings.schedules)

    def prepare(self, cases: Sequence[Case], say: Say) -> None:
        """There is nothing to do ahead."""

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:  # noqa: ARG002
        self._note(f"check {case.id}{' with numerics' if numerics else ''}")
        if self._entry("interrupted", case.id, ""):
            raise KeyboardInterrupt
        plan = case.variant.plan(case.problem, H200())
        residency = check_residency(plan, COMPILED, H200(), source="computed")
        answer = self._numerics(case.problem) if numerics else None
        stage, message = self._entry("failed", case.id, ("", ""))
        failure = Failure(Stage(stage), message) if stage else None
        if failure is not None and failure.stage is not Stage.NUMERICS:
            return CheckedCase(case.id, failure=failure)
        static = self._static(case, plan)
        return CheckedCase(case.id, COMPILED, plan, residency, answer, failure, static)

    def _static(self, case: Case, plan: LaunchPlan) -> tuple[StaticCheck, ...]:
        """Hold a case against the devices of interest."""
        if self._entry("not_meant", case.id, ""):
            return ()
        archs: dict[str, list[DeviceProfile]] = {}
        for one in self._settings.devices:
            archs.setdefault(one.arch, []).append(one)
        return tuple(self._check_arch(case, plan, arch, found) for arch, found in archs.items())

    def _check_arch(
        self, case: Case, plan: LaunchPlan, arch: str, devices: Sequence[DeviceProfile]
    ) -> StaticCheck:
        violated = {
            one.identity.name: message
            for one in devices
            if (message := self._entry("violated", f"{case.id} on {one.word}", ""))
        }
        registers = self._entry("registers", f"{case.id} for {arch}", 40)
        cost = StaticCost(
            case_id=case.id,
            arch=arch,
            compiler=(("nvrtc", self._script["nvrtc"]),),
            flags=case.variant.flags,
            kernels=(replace(KERNEL, registers_per_thread=registers),),
            fits=tuple(self._fit(case, plan, one) for one in devices),
        )
        return StaticCheck(arch, cost, violations=tuple(violated.items()))

    def _fit(self, case: Case, plan: LaunchPlan, device: DeviceProfile) -> DeviceFit:
        blocks_per_sm = self._entry("blocks_per_sm", f"{case.id} on {device.word}", 4)
        launches = tuple(
            PlannedLaunch(
                kernel=one.kernel,
                blocks=one.blocks,
                threads_per_block=one.threads_per_block,
                dynamic_smem_bytes=one.dynamic_smem_bytes,
                blocks_per_cluster=one.blocks_per_cluster,
                must_be_resident=one.must_be_resident,
                blocks_per_sm=blocks_per_sm,
            )
            for one in plan.launches
        )
        return DeviceFit(device.identity.name, device.identity.sms, launches, plan.facts)

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        self._session += 1
        say(f"timed by the script in session {self._session}")
        self._note(f"session {self._session}: {' '.join(case.id for case in cases)}")
        if self._entry("interrupted", f"session {self._session}", ""):
            raise KeyboardInterrupt
        lost = {
            case.id: Failure(Stage.TIME, message, fatal=True)
            for case in cases
            if (message := self._lost(case.id))
        }
        sound = [case.id for case in cases if case.id not in lost]
        state = DeviceState(driver="580.159", sm_mhz=1980, max_sm_mhz=1980, other_processes=())
        timed = TimedSession(
            samples={one: self._samples(one, protocol) for one in sound},
            order=tuple(sound),
            turns=tuple(Turn(0, backwards=bool(block % 2)) for block in range(protocol.blocks)),
            during=(state,) * protocol.blocks,
        )
        before = replace(state, sm_mhz=345, utilization_percent=0)
        return SessionResult(timed, lost, before=before, after=state)

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:
        self._note(f"launch {case.id} on {problem.label}")
        return case.operator.reference(inputs, Precision.FLOAT32)

    def close(self) -> None:
        self._note("close")

    def _samples(self, case_id: str, protocol: Protocol) -> Samples:
        usual_ns = {"probe/null": 1000, "probe/copy": 7000}.get(case_id.partition("-")[0], 8000)
        device_ns = self._now("device_ns", case_id, usual_ns) + self._session % 3
        completion_ns = self._now("completion_ns", case_id, usual_ns + 5000) + self._session % 3
        completions = protocol.blocks * protocol.completions_per_block
        return Samples(case_id, 120, (device_ns,) * protocol.blocks, (completion_ns,) * completions)

    def _lost(self, case_id: str) -> str:
        found: str | list[str] = self._entry("lost", case_id, "")
        return found if isinstance(found, str) else found[min(self._session, len(found)) - 1]

    def _now(self, table: str, case_id: str, default: int) -> int:
        """Return an entry that may be a list with one value per session; the last one stays."""
        found: int | list[int] = self._entry(table, case_id, default)
        if isinstance(found, int):
            return found
        return found[min(self._session, len(found)) - 1]

    def _numerics(self, problem: Problem) -> Numerics | None:
        machine = self.machine()
        if machine.device is None and machine.emulated is None:
            return None
        right = Comparison(
            "counting", "y", Precision.FLOAT64, 1e-8, (0, 1), 2.0, 2.0, 1e-6, 0, 16384, None
        )
        schedules = self._settings.schedules
        emulation = Emulation(problem.label, schedules) if machine.emulated else None
        return Numerics((right,), launches=51, reference_error=1e-8, emulation=emulation)

    def _entry(self, table: str, case_id: str, default: Value) -> Value:
        entries: dict[str, Value] = self._script[table]
        return next((value for key, value in entries.items() if key in case_id), default)

    def _note(self, line: str) -> None:
        with self._calls.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def pytest_rmsperf_instrument(
    config: pytest.Config, settings: Settings
) -> ScriptedInstrument | None:
    """Answer from the script; a project without one is measured for real."""
    folder = config.rootpath
    is_scripted = (folder / "script.json").exists()
    return ScriptedInstrument(folder, settings) if is_scripted else None
