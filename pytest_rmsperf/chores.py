"""What can be made ahead of the checks, side by side in several workers: cubins and counts.

Whatever is at fault on the way is left to the check of its case, which tells it by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checking import Checker, recipe_of
from pytest_rmsperf.device.compiler import Recipe, cache_key, compile_recipe, compiled_before
from pytest_rmsperf.device.disassembler import InstructionCounter
from pytest_rmsperf.errors import CompileError
from pytest_rmsperf.messages import Chore, Compile, Disassemble
from pytest_rmsperf.static_checks import devices_by_arch


@dataclass(frozen=True, slots=True)
class _Build:
    """A recipe, and a case that needs it."""

    case: Case
    recipe: Recipe


def outstanding(cases: Sequence[Case], checker: Checker) -> tuple[Chore, ...]:
    """Return what is not in the caches: a Compile for each cubin, then a Disassemble per arch.

    Those of one arch stand together, so that it can be disassembled while others are compiled.
    """
    builds = _builds(cases, checker)
    made = [compiled_before(one.recipe) for one in builds]
    counter = _counter(checker)
    archs = dict.fromkeys(one.recipe.arch for one in builds)
    missing = [
        Compile(one.case.reference, arch)
        for arch in archs
        for one, module in zip(builds, made, strict=True)
        if one.recipe.arch == arch and module is None
    ]
    if counter is None:
        return tuple(missing)
    uncounted = {
        one.recipe.arch
        for one, module in zip(builds, made, strict=True)
        if module is None or counter.lacks(module)
    }
    return (*missing, *(_disassemble(builds, arch) for arch in archs if arch in uncounted))


def do_chore(chore: Chore) -> None:
    """Compile or disassemble into the caches; CompileError where that cannot be done."""
    if isinstance(chore, Compile):
        compile_recipe(recipe_of(chore.case.resolve().variant, chore.arch))
        return
    counter = InstructionCounter.found()
    variants = [case.resolve().variant for case in chore.cases]
    found = [compiled_before(recipe_of(one, chore.arch)) for one in variants]
    modules = [one for one in found if one is not None]
    if counter is not None and modules:
        counter.counted(modules)


def _disassemble(builds: Sequence[_Build], arch: str) -> Disassemble:
    mine = (one.case.reference for one in builds if one.recipe.arch == arch)
    return Disassemble(tuple(mine), arch)


def _builds(cases: Sequence[Case], checker: Checker) -> list[_Build]:
    """Return each cubin that the checks of these cases need, once, in the order of the cases."""
    recipes: dict[Recipe, Case] = {}
    for case in cases:
        for arch in (checker.arch, *devices_by_arch(case.variant, checker.devices)):
            recipes.setdefault(recipe_of(case.variant, arch), case)
    builds: dict[str, _Build] = {}
    for recipe, case in recipes.items():
        with suppress(CompileError):
            builds.setdefault(cache_key(recipe), _Build(case, recipe))
    return list(builds.values())


def _counter(checker: Checker) -> InstructionCounter | None:
    try:
        return checker.counter
    except CompileError:
        return None
