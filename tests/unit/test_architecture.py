"""The shape of the code itself: the one-way order of its modules, and the bands of its files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_rmsperf.cases import Variant
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR

ROOT = Path(__file__).parents[2]
PACKAGE = "pytest_rmsperf"
BUNDLED = "kernels.rms_scaled_softmax"

# A module imports only from lines above its own. The root only names what others define.
ORDER = f"""
    errors judge storing
    problem launch samples environment emulation judge.policy judge.scatter
    storing.baseline_json storing.baseline_files
    accuracy resources protocol judge.thresholds storing.baseline_migration storing.record_json
    residency device device.parts device.clusters
    device.profiles
    costs device.occupancy device.table
    judge.difference judge.clusters
    judge.cost_differences
    judge.cost_comparison
    judge.cost
    cases storing.cost_json
    kernels {BUNDLED}.common {BUNDLED}.inputs
    {BUNDLED}.reference {BUNDLED}.retained_tile
    {BUNDLED}.unfused {BUNDLED}.local_fusion {BUNDLED}.megakernel_row {BUNDLED}.megakernel_grid
    {BUNDLED} probes
    measurement execution buffers judge.evidence static_checks
    checks provenance commits messages numerics
    storing.baseline_format storing.static_format storing.case_store
    judge.comparability judge.validity judge.ordering
    storing.baselines storing.static_store judge.verdict judge.host schedule
    judge.health
    against storing.renaming
    report report.because report.tipping
    report.messages report.records report.progress report.header
    report.devices report.cost_messages
    report.terminal report.benchmark report.conditions
    device.nvml_binding device.toolchain device.build_lock device._clock device.instructions
    device.compiler_cache device.cubin device.ptxas_log device.tenants
    device.compiler device.disassembler device.nvml
    device.context
    device.memory
    device.scratch
    device.launcher
    device.rotation device.blocker
    device.clock
    emulated emulated.toolchain
    emulated.build
    emulated.runtime emulated.faults
    emulated.library emulated.memory
    emulated.launcher
    emulated.addresses
    emulated.device
    checking
    device.session chores
    worker supervisor
    crew
    instrument
    campaign
    assembly
    costing
    judging
    hookspecs options
    settings storing.admission storing.calibration storing.stale
    storing.refusals
    storing.saving storing.static_admission
    storing.static_saving
    report.run_file accounting questions
    inquiry cost_accounting
    acceptance reporting report.static_summary
    report.summary
    ending
    selftest selftest.faults selftest.rows
    selftest.mistakes selftest.delays
    selftest.runner
    errands equipment
    gate
    fixtures
    collected undistributed telling
    plugin
"""
LINES = [line.split() for line in ORDER.strip().splitlines()]
PLACES = {name: number for number, line in enumerate(LINES) for name in line}

HEAVY = ["torch", "cupy", "cuda", "pynvml", "numpy", "scipy", "filelock", "platformdirs"]

MOST_FILE_LINES = 300
MOST_FUNCTION_LINES = 50
MOST_NESTING = 3
MOST_PARAMETERS = 6
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_named(path: Path) -> str:
    """Return the name below the package under which a file is imported; empty for the root."""
    relative = path.relative_to(ROOT).with_suffix("")
    parts = relative.parts[1:] if relative.parts[0] == PACKAGE else relative.parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    is_named(path): path
    for folder in (PACKAGE, "kernels")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
MODULES = sorted(FILES.keys() - {""})
SOURCES = {path: path.read_text(encoding="utf-8") for path in FILES.values()}
TREES = {path: ast.parse(source) for path, source in SOURCES.items()}

each_module = pytest.mark.parametrize("module", MODULES)
each_file = pytest.mark.parametrize("path", SOURCES, ids=lambda one: str(one.relative_to(ROOT)))


def at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes below `node` but those that only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from at_run_time(child)


def imports_of(module: str) -> set[str]:
    """Return the modules of the package that one imports, at its top or deferred."""
    path = FILES[module]
    home = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in at_run_time(TREES[path]):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = f"{PACKAGE}.{home}".split(".")[: -(node.level - 1) or None]
            stem = ".".join([*above, node.module or ""]).rstrip(".") if node.level else node.module
            names = {f"{stem}.{one.name}" for one in node.names}
            inside = {one for one in names if one.removeprefix(f"{PACKAGE}.") in PLACES}
            found |= inside or {str(stem)}
    return {one.removeprefix(PACKAGE).lstrip(".") for one in found if one.startswith(PACKAGE)}


def is_variant(module: str) -> bool:
    """Say whether a module is the launch plan of a source of the same stem: it needs no line."""
    return module.startswith("kernels.") and FILES[module].with_suffix(".cu").exists()


def place_of(module: str) -> int:
    """Return the line of a module; one without a line, as the root, is below all others."""
    if module in FILES and is_variant(module):
        return PLACES[f"{BUNDLED}.unfused"]
    return PLACES.get(module, len(LINES))


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(TREES[path]) if isinstance(node, Function))


def nesting(node: ast.AST, level: int = 0) -> int:
    """Return how deep blocks lie in each other; an elif is no deeper than its if."""
    deepest = level
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deeper = isinstance(child, BLOCKS) and not is_elif
        deepest = max(deepest, nesting(child, level + deeper))
    return deepest


def parameters(function: Function) -> list[str]:
    every = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    names = [one.arg for one in every]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


# ---- order -----------------------------------------------------------------------------------


@each_module
def test_a_module_imports_only_from_lines_above_its_own(module: str) -> None:
    below = {one for one in imports_of(module) if place_of(one) >= place_of(module)}

    assert below == set()


def test_every_module_has_its_place_in_the_order() -> None:
    native = {"device._clock"}
    variants = {one for one in MODULES if is_variant(one)}

    assert set(MODULES) - variants == PLACES.keys() - native - variants


def test_relative_and_deferred_imports_are_seen() -> None:
    assert {f"{BUNDLED}.reference", f"{BUNDLED}.unfused", "cases"} <= imports_of(BUNDLED)


def test_imports_for_types_alone_are_not_counted() -> None:
    assert "campaign" not in imports_of("hookspecs")


def test_the_plugin_loads_nothing_that_only_a_measurement_needs() -> None:
    code = f"import sys, {PACKAGE}.plugin; print(*(sys.modules.keys() & {set(HEAVY)}))"

    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()

    assert loaded == []


# ---- operators -------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [one for one in MODULES if not one.startswith("kernels")])
def test_the_plugin_knows_no_operator_by_name(module: str) -> None:
    text = SOURCES[FILES[module]]

    assert re.findall(r"rms_scaled|softmax", text, re.IGNORECASE) == []


@pytest.mark.parametrize("variant", OPERATOR.variants, ids=lambda one: str(one.name))
def test_a_variant_is_a_source_and_a_plan_of_one_stem(variant: Variant) -> None:
    source = variant.source
    files = sorted(one.suffix for one in source.parent.glob(f"{source.stem}.*"))

    assert (source.suffix, files) == (".cu", [".cu", ".py"])


def test_every_source_of_the_operator_belongs_to_a_variant() -> None:
    sources = {path.name for path in OPERATOR.folder.glob("*.cu")}

    assert sources == {variant.source.name for variant in OPERATOR.variants}


# ---- bands -----------------------------------------------------------------------------------


@each_file
def test_a_file_is_short(path: Path) -> None:
    assert len(SOURCES[path].splitlines()) <= MOST_FILE_LINES


@each_file
def test_a_function_is_short(path: Path) -> None:
    lines = [(one.name, (one.end_lineno or 0) - one.lineno + 1) for one in functions(path)]

    assert [one for one in lines if one[1] > MOST_FUNCTION_LINES] == []


@each_file
def test_blocks_do_not_lie_deep_in_each_other(path: Path) -> None:
    depths = [(one.name, nesting(one)) for one in functions(path)]

    assert [one for one in depths if one[1] > MOST_NESTING] == []


@each_file
def test_a_function_takes_few_parameters(path: Path) -> None:
    taken = [(one.name, parameters(one)) for one in functions(path)]

    assert [one for one in taken if len(one[1]) > MOST_PARAMETERS] == []


@each_file
def test_no_except_catches_what_nobody_expected(path: Path) -> None:
    caught = [
        ast.unparse(node.type) if node.type else "everything"
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.ExceptHandler)
    ]

    assert [one for one in caught if re.search(r"\b(Base)?Exception\b|everything", one)] == []


@each_file
def test_no_function_keeps_state_in_its_module(path: Path) -> None:
    assert not any(isinstance(node, ast.Global) for node in ast.walk(TREES[path]))


@each_file
def test_nothing_is_left_to_do(path: Path) -> None:
    assert re.findall(r"\b(TODO|FIXME|XXX)\b", SOURCES[path]) == []
