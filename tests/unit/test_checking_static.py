"""The static step of a check: on devices of interest, beside what the run's own device says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fake_device import Fake
from pytest_rmsperf.cases import Case, Submission, load_operator
from pytest_rmsperf.checking import Checker, Target
from pytest_rmsperf.checks import CheckedCase, Stage
from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.disassembler import InstructionCounter
from pytest_rmsperf.device.profiles import DeviceProfile, profiles_named
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.launch import LaunchPlan
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity, CompiledModule
from pytest_rmsperf.supervisor import PATIENT_STEPS
from tiny_cubin import calls_in, fake_disassembler

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
L4, H100, H200 = profiles_named("l4, h100-sxm, h200")


def case_of(variant: str) -> Case:
    return Case(FAULTY, FAULTY.variant(variant), Submission.DIRECT, FAULTY.problems[0])


def filling(blocks: int) -> Case:
    """A case whose blocks wait for one another: an H100 holds 4224 of them, and an L4 1392."""
    sound = case_of("sound")

    def plan(problem: Problem, capacity: Capacity) -> LaunchPlan:
        found = sound.variant.plan(problem, capacity)
        (launch,) = found.launches
        return replace(found, launches=(replace(launch, blocks=blocks, waits_on_blocks=True),))

    return replace(sound, variant=replace(sound.variant, plan=plan))


@pytest.fixture(autouse=True)
def _cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))


def check(
    case: Case | str = "sound",
    *,
    devices: Sequence[DeviceProfile] = (L4, H100),
    target: Target | None = None,
    numerics: bool = False,
    said: list[str] | None = None,
) -> CheckedCase:
    steps = [] if said is None else said
    asked = case_of(case) if isinstance(case, str) else case
    checker = Checker(target, "sm_90", devices)
    return checker.check(asked, lambda _, step: steps.append(step), numerics=numerics)


def archs(checked: CheckedCase) -> list[str]:
    return [one.arch for one in checked.static]


def test_a_case_is_held_against_every_device_of_interest() -> None:
    checked = check()

    devices = [[fit.device for fit in one.cost.fits] for one in checked.static if one.cost]
    assert devices == [["NVIDIA L4"], ["NVIDIA H100 80GB HBM3"]]


def test_a_case_without_devices_of_interest_has_no_static_checks() -> None:
    assert check(devices=()).static == ()


@pytest.mark.parametrize("numerics", [False, True])
def test_static_costs_are_found_on_the_emulated_device_too(*, numerics: bool) -> None:
    checked = check(target=Fake(), numerics=numerics)  # type: ignore[arg-type]

    assert archs(checked) == ["sm_89", "sm_90"]
    assert (checked.numerics is not None) is numerics


def test_static_costs_come_before_the_numerics() -> None:
    said: list[str] = []

    check(target=Fake(), numerics=True, said=said)  # type: ignore[arg-type]

    assert said[:5] == ["compile", "plan", "residency", "compile for sm_89", "numerics"]


def test_another_arch_is_a_step_that_may_take_long_and_is_said_once() -> None:
    said: list[str] = []
    checker = Checker(None, "sm_90", (L4, H100))

    for variant in ("sound", "too_big"):
        checker.check(case_of(variant), lambda _, step: said.append(step), numerics=False)

    steps = ["compile", "plan", "residency"]
    assert said == [*steps, "compile for sm_89", *steps]
    assert ["compile", "for", "sm_89"][0] in PATIENT_STEPS


def test_a_launch_that_does_not_fit_here_is_held_against_the_devices_of_interest_all_the_same() -> (
    None
):
    checked = check("too_big")

    assert checked.failure is not None
    assert checked.failure.stage is Stage.RESIDENCY
    violated = [device for one in checked.static for device, _ in one.violations]
    assert violated == ["NVIDIA L4", "NVIDIA H100 80GB HBM3"]


@pytest.mark.parametrize(("blocks", "violated"), [(1392, []), (1393, ["NVIDIA L4"])])
def test_a_violation_on_a_device_of_interest_is_no_failure_of_the_case(
    blocks: int, violated: list[str]
) -> None:
    checked = check(filling(blocks))

    assert checked.failure is None
    assert [device for one in checked.static for device, _ in one.violations] == violated


@pytest.mark.parametrize("variant", ["does_not_compile", "refuses"])
def test_a_case_that_has_no_plan_here_is_not_looked_at_elsewhere(variant: str) -> None:
    checked = check(variant)

    assert checked.failure is not None
    assert checked.static == ()


def test_a_source_is_compiled_once_for_all_cases_devices_and_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def compile_it(recipe: Recipe) -> CompiledModule:
        asked.append(recipe.arch)
        return compile_recipe(recipe)

    monkeypatch.setattr("pytest_rmsperf.checking.compile_recipe", compile_it)
    checker = Checker(None, "sm_90", (L4, H100, H200))

    for _ in range(2):
        checker.check(case_of("sound"), lambda *_: None, numerics=False)

    assert asked == ["sm_90", "sm_89"]


# ---- instructions ----------------------------------------------------------------------------


def broken() -> InstructionCounter:
    raise CompileError("instructions cannot be counted: nvdisasm ended with exit code 1\nmend it")


@pytest.fixture
def without_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InstructionCounter, "found", lambda: None)


def test_without_a_disassembler_the_machine_code_is_known_and_its_instructions_are_not(
    without_disassembler: None,
) -> None:
    checked = check()

    codes = [kernel.code for one in checked.static if one.cost for kernel in one.cost.kernels]
    assert [(one.code_bytes > 0, one.instructions, one.counts) for one in codes if one] == [
        (True, None, ())
    ] * 2


def test_a_disassembler_that_is_broken_fails_the_case_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(InstructionCounter, "found", broken)

    failure = check().failure

    assert failure is not None
    assert (failure.stage, failure.fatal) == (Stage.COMPILE, False)
    assert failure.message.startswith("instructions cannot be counted: nvdisasm ended with")


def test_the_run_and_the_devices_of_interest_tell_the_same_kernels() -> None:
    checked = check(devices=(H100,))

    assert checked.compiled is not None
    (found,) = checked.static
    assert found.cost is not None
    assert found.cost.kernels == checked.compiled.kernels


def test_counts_are_found_where_a_disassembler_is_installed_later(
    without_disassembler: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check()
    counter = InstructionCounter(fake_disassembler(tmp_path), tmp_path / "counts")
    monkeypatch.setattr(InstructionCounter, "found", lambda: counter)

    checked = check()

    assert checked.compiled is not None
    code = checked.compiled.kernels[0].code
    assert code is not None
    assert code.instructions == code.code_bytes / 16


def test_the_kernels_of_one_module_are_counted_by_one_call_for_all_cases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counter = InstructionCounter(fake_disassembler(tmp_path), tmp_path / "counts")
    monkeypatch.setattr(InstructionCounter, "found", lambda: counter)
    checker = Checker(None, "sm_90", (H100, H200))

    for variant in ("sound", "too_big"):
        checker.check(case_of(variant), lambda *_: None, numerics=False)

    assert len(calls_in(tmp_path)) == 1
