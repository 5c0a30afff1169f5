"""The stages of a case, on an emulated device that a few lines of Python stand for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_device import ADDRESSES, Fake, FakeModule
from pytest_rmsperf.cases import Case, Operator, Submission, load_operator
from pytest_rmsperf.checking import Checker
from pytest_rmsperf.checks import CheckedCase, Stage
from pytest_rmsperf.emulation import AddressCheck
from pytest_rmsperf.errors import DeviceError, PlanError
from pytest_rmsperf.launch import LaunchPlan
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity
from pytest_rmsperf.supervisor import PATIENT_STEPS

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
FAULT = "data race in twice: thread 1 of block 0 reads\n  schedule   seed 0\nmend the line"


def reduced(problem: Problem) -> Problem:
    return problem.resized(rows=2)


REDUCED = replace(FAULTY, emulate_as=reduced)


def case_of(operator: Operator, variant: str = "sound") -> Case:
    return Case(operator, operator.variant(variant), Submission.DIRECT, operator.problems[0])


@pytest.fixture(autouse=True)
def _cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cubins"))


def checker_on(device: Any) -> Checker:
    return Checker(device, "sm_90")


def check(
    device: Any,
    operator: Operator = REDUCED,
    *,
    numerics: bool = True,
    said: list[str] | None = None,
) -> CheckedCase:
    steps = [] if said is None else said
    return checker_on(device).check(
        case_of(operator), lambda _, step: steps.append(step), numerics=numerics
    )


def message(checked: CheckedCase) -> str:
    """Return why the numerics failed, which must not have cost the worker."""
    assert checked.failure is not None
    assert (checked.failure.stage, checked.failure.fatal) == (Stage.NUMERICS, False)
    return checked.failure.message


# ---- the problem that stands for another -----------------------------------------------------


def test_numerics_are_of_the_problem_that_stands_for_the_cases() -> None:
    fake = Fake()

    check(fake)

    assert fake.asked[:2] == ["load sound", "prepare 2 blocks for 2x32"]


def test_plan_and_residency_are_of_the_cases_own_problem() -> None:
    checked = check(Fake())

    assert checked.plan is not None
    assert checked.residency is not None
    assert checked.plan.launches[0].blocks == checked.residency.launches[0].launch.blocks == 3
    assert checked.residency.device == "NVIDIA H100 80GB HBM3"


def test_an_operator_that_says_nothing_is_emulated_as_it_is() -> None:
    fake = Fake()

    check(fake, FAULTY)

    assert "prepare 3 blocks for 3x32" in fake.asked


@pytest.mark.parametrize(("factor", "verdict"), [(2.0, "right: "), (3.0, "wrong: 64 elements ")])
def test_numerics_say_what_was_emulated(factor: float, verdict: str) -> None:
    headline = str(check(Fake(factor=factor)).numerics).splitlines()[0]

    assert headline.startswith(verdict)
    assert headline.endswith(" (emulated at 2, 2 schedules, seeds 7 to 8)")


def test_a_fault_says_what_was_emulated_between_its_verdict_and_its_evidence() -> None:
    assert message(check(Fake(fault=FAULT))).splitlines() == [
        "data race in twice: thread 1 of block 0 reads",
        "  emulated   at 2, 2 schedules, seeds 7 to 8",
        "  schedule   seed 0",
        "mend the line",
    ]


def test_a_stand_in_that_cannot_be_planned_is_named() -> None:
    def only_three(problem: Problem, capacity: Capacity) -> LaunchPlan:
        if problem["rows"] != 3:
            raise PlanError(f"rows must be 3, got {problem['rows']}")
        return FAULTY.variant("sound").plan(problem, capacity)

    variant = replace(FAULTY.variant("sound"), plan=only_three)

    checked = check(Fake(), replace(REDUCED, variants=(variant,)))

    assert message(checked).splitlines()[:2] == [
        "rows must be 3, got 2",
        "  emulated   at 2, 2 schedules, seeds 7 to 8",
    ]


# ---- addresses -------------------------------------------------------------------------------

LARGE = replace(REDUCED, address_problems=(Problem.of(rows=70_000),))


def test_checked_addresses_are_said_with_the_numerics() -> None:
    numerics = check(Fake(), LARGE).numerics

    assert numerics is not None
    assert numerics.emulation is not None
    assert numerics.emulation.addresses == ADDRESSES


@pytest.mark.parametrize("wrong_address", ["", "wrong address at 70000"])
def test_addresses_are_checked_once_for_all_cases_of_a_variant(wrong_address: str) -> None:
    fake = Fake(wrong_address=wrong_address)
    checker = checker_on(fake)

    found = [checker.check(case_of(LARGE), lambda *_: None, numerics=True) for _ in range(3)]

    assert fake.asked.count("addresses of sound") == 1
    assert [(one.failure.message if one.failure else "") for one in found] == [wrong_address] * 3


def test_a_wrong_address_leaves_the_numerics_that_were_right() -> None:
    numerics = check(Fake(wrong_address="wrong address"), LARGE).numerics

    assert numerics is not None
    assert numerics.passed


class Picky(Fake):
    """A device on which the plan refuses the problems whose addresses are to be checked."""

    def check_addresses(self, case: Case, loaded: FakeModule) -> AddressCheck | None:  # noqa: ARG002
        raise PlanError("rows must be at most 9, got 70000")


def test_a_plan_that_refuses_an_address_problem_is_told_with_where_that_comes_from() -> None:
    assert message(check(Picky(), LARGE)) == (
        "rows must be at most 9, got 70000\n  addresses  at 70000: address_problems of faulty"
    )


def test_addresses_of_wrong_numerics_are_not_looked_at() -> None:
    fake = Fake(factor=3.0)

    check(fake, LARGE)

    assert "addresses of sound" not in fake.asked


# ---- what is done, and when ------------------------------------------------------------------


def test_nothing_is_emulated_where_nobody_asks_for_numerics() -> None:
    fake = Fake()

    checked = check(fake, numerics=False)

    assert (fake.asked, checked.numerics, checked.failure) == ([], None, None)


def test_a_source_that_only_the_emulated_device_refuses_keeps_its_residency() -> None:
    checked = check(Fake(refuses_source=True))

    assert message(checked) == "does not compile: twice.cu for the emulated device"
    assert checked.residency is not None


def test_a_refused_source_is_compiled_once() -> None:
    fake = Fake(refuses_source=True)
    checker = checker_on(fake)

    for _ in range(3):
        checker.check(case_of(FAULTY), lambda *_: None, numerics=True)

    assert fake.asked == ["load sound"]


def test_the_build_of_a_kernel_is_a_step_that_may_take_long() -> None:
    said: list[str] = []

    check(Fake(), said=said)

    build = said[said.index("numerics") + 1]
    assert build == "compile for the emulated device"
    assert build.split()[0] in PATIENT_STEPS


def test_a_launch_that_does_not_fit_is_not_emulated() -> None:
    fake = Fake()

    checked = checker_on(fake).check(case_of(FAULTY, "too_big"), lambda *_: None, numerics=True)

    assert checked.failure is not None
    assert (checked.failure.stage, fake.asked) == (Stage.RESIDENCY, [])


def test_an_emulated_module_is_never_timed() -> None:
    with pytest.raises(DeviceError, match=r"^nothing can be timed here: the device is emulated$"):
        checker_on(Fake()).on_cuda(FAULTY.variant("sound"))
