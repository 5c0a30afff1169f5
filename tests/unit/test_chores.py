"""What can be made ahead of the checks: what is found to be missing, and how it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.cases import Case, Operator, load_operator
from pytest_rmsperf.checking import Checker, recipe_of
from pytest_rmsperf.chores import do_chore, outstanding
from pytest_rmsperf.device.compiler import compiled_before
from pytest_rmsperf.device.disassembler import InstructionCounter
from pytest_rmsperf.device.profiles import DeviceProfile, profiles_named
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.messages import Compile, Disassemble
from tiny_cubin import calls_in, fake_disassembler

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
L4, T4, H100, H200 = profiles_named("l4, t4, h100-sxm, h200")


def cases_of(operator: Operator, *variants: str) -> list[Case]:
    """Both submissions of some variants."""
    return [one for one in operator.cases() if one.variant.name in variants]


SOUND = cases_of(FAULTY, "sound")


@pytest.fixture(autouse=True)
def _empty_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> InstructionCounter:
    """What counts instructions on this machine."""
    made = InstructionCounter(fake_disassembler(tmp_path), tmp_path / "counts")
    monkeypatch.setattr(InstructionCounter, "found", lambda: made)
    return made


@pytest.fixture
def without_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InstructionCounter, "found", lambda: None)


def found(cases: Sequence[Case], *devices: DeviceProfile) -> list[tuple[str, str]]:
    """Return each chore that is outstanding as its kind and its arch."""
    chores = outstanding(cases, Checker(None, "sm_90", devices))
    return [(type(one).__name__, one.arch) for one in chores]


# ---- what is missing -------------------------------------------------------------------------


def test_a_cubin_is_missing_for_the_runs_arch_and_for_each_of_a_device(
    without_disassembler: None,
) -> None:
    assert found(SOUND, L4, H100, H200) == [("Compile", "sm_90"), ("Compile", "sm_89")]


def test_a_source_of_several_variants_and_cases_is_compiled_once_for_an_arch(
    without_disassembler: None,
) -> None:
    assert found(cases_of(FAULTY, "sound", "too_big", "refuses")) == [("Compile", "sm_90")]


def test_the_same_source_of_another_commit_is_compiled_once(
    without_disassembler: None, tmp_path: Path
) -> None:
    copy = tmp_path / "twice.cu"
    copy.write_bytes(SOUND[0].variant.source.read_bytes())
    variant = replace(SOUND[0].variant, source=copy)
    twin = replace(SOUND[0], variant=variant, origin="1a2b3c4")

    assert found([*SOUND, twin]) == [("Compile", "sm_90")]


def test_a_device_that_a_variant_is_not_meant_for_needs_no_cubin(
    without_disassembler: None,
) -> None:
    variant = replace(SOUND[0].variant, least_compute_capability="9.0")

    assert found([replace(SOUND[0], variant=variant)], T4, H100) == [("Compile", "sm_90")]


def test_what_cannot_be_compiled_is_left_to_the_check_that_tells_it(
    without_disassembler: None,
) -> None:
    absent = replace(SOUND[0].variant, source=Path("none.cu"))

    assert found([replace(SOUND[0], variant=absent), *SOUND]) == [("Compile", "sm_90")]


def test_each_arch_is_disassembled_once_after_all_compiles(counter: InstructionCounter) -> None:
    assert found(SOUND, L4) == [
        ("Compile", "sm_90"),
        ("Compile", "sm_89"),
        ("Disassemble", "sm_90"),
        ("Disassemble", "sm_89"),
    ]


def test_a_cubin_whose_instructions_were_never_counted_is_disassembled(
    counter: InstructionCounter,
) -> None:
    do_chore(Compile(SOUND[0].reference, "sm_90"))

    assert found(SOUND) == [("Disassemble", "sm_90")]


def test_nothing_is_missing_when_the_chores_are_done(counter: InstructionCounter) -> None:
    for chore in outstanding(SOUND, Checker(None, "sm_90", (L4,))):
        do_chore(chore)

    assert found(SOUND, L4) == []


def test_a_broken_disassembler_is_left_to_the_check_that_tells_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> InstructionCounter:
        raise CompileError("broken")

    monkeypatch.setattr(InstructionCounter, "found", broken)

    assert found(SOUND) == [("Compile", "sm_90")]


# ---- making it -------------------------------------------------------------------------------


def test_a_compiled_variant_is_in_the_cache() -> None:
    do_chore(Compile(SOUND[0].reference, "sm_89"))

    assert compiled_before(recipe_of(SOUND[0].variant, "sm_89")) is not None


def test_a_source_that_does_not_compile_is_a_compile_error() -> None:
    (case, _) = cases_of(FAULTY, "does_not_compile")

    with pytest.raises(CompileError, match=r"^does not compile"):
        do_chore(Compile(case.reference, "sm_90"))


def test_the_variants_of_an_arch_are_disassembled_by_one_call_without_those_not_compiled(
    counter: InstructionCounter, tmp_path: Path
) -> None:
    do_chore(Compile(SOUND[0].reference, "sm_90"))
    both = (*SOUND, *cases_of(FAULTY, "does_not_compile"))

    do_chore(Disassemble(tuple(one.reference for one in both), "sm_90"))

    assert len(calls_in(tmp_path)) == 1
    assert found(SOUND) == []


def test_nothing_is_disassembled_where_nothing_was_compiled(
    counter: InstructionCounter, tmp_path: Path
) -> None:
    do_chore(Disassemble((SOUND[0].reference,), "sm_90"))

    assert calls_in(tmp_path) == []
