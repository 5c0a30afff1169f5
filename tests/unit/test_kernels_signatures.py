"""Plans against their CUDA sources: every argument has the kernel's type, order and meaning.

A launch passes plain bytes, so nothing but these tests sees an argument of another type or place.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_rmsperf.cases import Operator, Variant
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR as BUNDLED
from pytest_rmsperf.launch import Argument, Buffer, BufferArgument, KernelLaunch, Role
from pytest_rmsperf.probes import OPERATOR as PROBES
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity

Devices = Callable[..., Capacity]

# 67 rows are three launches of a megakernel on 132 SMs, and 131076 columns end in a short tile.
PROBLEMS = {
    "rms_scaled_softmax": Problem.of(rows=67, columns=131_076),
    "probe": Problem.of(bytes=2**20),
}
VARIANTS = [(operator, variant) for operator in (BUNDLED, PROBES) for variant in operator.variants]
KERNEL = re.compile(
    r'extern "C" __global__ void\s+(?:__launch_bounds__\(([^)]*)\)\s+)?(\w+)\(([^)]*)\)\s*\{'
)
SCALARS = {"int": "<i", "long long": "<q", "float": "<f"}
ELEMENTS = {"float": "float32", "float4": "float32", "Statistics": "float32", "unsigned": "uint32"}
# These parameters say what a kernel does with a buffer and not which one it is.
ROLES = {"values", "tiles", "source", "target"}

each_variant = pytest.mark.parametrize(
    ("operator", "variant"), VARIANTS, ids=[variant.name for _, variant in VARIANTS]
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: `element` is what a pointer points to, None for a scalar."""

    name: str
    type: str

    @property
    def element(self) -> str | None:
        return self.type.removeprefix("const ").removesuffix("*") if "*" in self.type else None

    @property
    def read_only(self) -> bool:
        return self.type.startswith("const ")


@dataclass(frozen=True)
class Signature:
    """A kernel as its source declares it; `most_threads` is empty without launch bounds."""

    most_threads: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Bound:
    """One launch beside the signature of its kernel, and the buffers it can name."""

    launch: KernelLaunch
    signature: Signature
    buffers: dict[str, Buffer]

    def pairs(self) -> Iterator[tuple[Parameter, Argument]]:
        return zip(self.signature.parameters, self.launch.arguments, strict=True)

    def pointers(self) -> Iterator[tuple[Parameter, Buffer]]:
        for parameter, argument in self.pairs():
            if isinstance(argument, BufferArgument):
                yield parameter, self.buffers[argument.name]


def signatures(source: Path) -> dict[str, Signature]:
    """Read the kernels that a source declares."""
    text = re.sub(r"//[^\n]*", "", source.read_text(encoding="utf-8"))
    return {name: signature(bounds, inside) for bounds, name, inside in KERNEL.findall(text)}


def signature(bounds: str, inside: str) -> Signature:
    declared = [" ".join(one.split()) for one in inside.split(",") if one.strip()]
    parts = [re.fullmatch(r"(.*[\s*])(\w+)", one) for one in declared]
    parameters = tuple(Parameter(one[2], one[1].strip()) for one in parts if one)
    return Signature(bounds.partition(",")[0].strip(), parameters)


def launches(operator: Operator, variant: Variant, capacity: Capacity) -> list[Bound]:
    problem = PROBLEMS[operator.name]
    plan = variant.plan(problem, capacity)
    buffers = {one.name: one for one in (*operator.tensors(problem), *plan.buffers)}
    known = signatures(variant.source)
    return [Bound(launch, known[launch.kernel], buffers) for launch in plan.launches]


def test_a_signature_is_read_from_its_source(repository: Path) -> None:
    source = repository / "kernels" / "rms_scaled_softmax" / "local_fusion.cu"

    assert signatures(source)["normalize"] == Signature(
        "THREADS_PER_BLOCK",
        (
            Parameter("x", "const float*"),
            Parameter("statistics", "const Statistics*"),
            Parameter("sums", "const float*"),
            Parameter("y", "float*"),
            Parameter("columns", "int"),
            Parameter("tiles_per_row", "int"),
            Parameter("eps", "float"),
        ),
    )


@each_variant
def test_every_global_function_of_a_source_is_read(operator: Operator, variant: Variant) -> None:
    text = variant.source.read_text(encoding="utf-8")

    assert len(signatures(variant.source)) == text.count("__global__ void")


def test_every_kernel_of_the_sources_is_launched_by_some_variant(capacity: Devices) -> None:
    sources = {variant.source for _, variant in VARIANTS}

    declared = {(one, kernel) for one in sources for kernel in signatures(one)}
    launched = {
        (variant.source, bound.launch.kernel)
        for operator, variant in VARIANTS
        for bound in launches(operator, variant, capacity(8))
    }

    assert launched == declared


@each_variant
def test_a_launch_passes_as_many_arguments_as_its_kernel_takes(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    for bound in launches(operator, variant, capacity(8)):
        assert len(bound.launch.arguments) == len(bound.signature.parameters), bound.launch.kernel


@each_variant
def test_an_argument_has_the_type_of_its_parameter(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    for bound in launches(operator, variant, capacity(8)):
        for parameter, argument in bound.pairs():
            if isinstance(argument, BufferArgument):
                passed, wanted = (
                    bound.buffers[argument.name].dtype,
                    ELEMENTS[parameter.element or ""],
                )
            else:
                passed, wanted = argument.layout, SCALARS[parameter.type]
            assert passed == wanted, f"{bound.launch.kernel}({parameter.name})"


@each_variant
def test_statistics_are_pairs_of_floats(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    for bound in launches(operator, variant, capacity(8)):
        widths = {one.shape[-1] for p, one in bound.pointers() if p.element == "Statistics"}
        assert widths <= {2}, bound.launch.kernel


@each_variant
def test_a_parameter_has_the_name_of_its_buffer(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    for bound in launches(operator, variant, capacity(8)):
        for parameter, one in bound.pointers():
            assert parameter.name in one.name or parameter.name in ROLES, bound.launch.kernel


@each_variant
def test_a_scalar_has_the_value_of_its_name(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    first_row = 0
    for bound in launches(operator, variant, capacity(8)):
        means = {
            "columns": 131_076,
            "tiles_per_row": 33,
            "eps": pytest.approx(1e-5),
            "first_row": first_row,
            "reload_input": variant.name.endswith(("reload_input", "reload_both")),
            "reload_exponentials": variant.name.endswith(("reload_exponentials", "reload_both")),
            "vectors": 2**15,
        }
        for parameter, argument in bound.pairs():
            if not isinstance(argument, BufferArgument):
                (value,) = struct.unpack(argument.layout, argument.packed())
                assert value == means[parameter.name], f"{bound.launch.kernel}({parameter.name})"
        first_row += bound.launch.blocks // bound.launch.blocks_per_unit


@each_variant
def test_inputs_are_only_read_and_every_output_is_written(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    pairs = [
        pair for bound in launches(operator, variant, capacity(8)) for pair in bound.pointers()
    ]

    writable = {one.role for parameter, one in pairs if not parameter.read_only}
    outputs = {Role.OUTPUT} if variant.name != "null" else set()

    assert (Role.INPUT in writable, outputs <= writable) == (False, True)


@each_variant
def test_nothing_is_read_before_a_launch_has_written_it(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    written = {one.name for one in operator.tensors(PROBLEMS[operator.name])[:1]}
    for bound in launches(operator, variant, capacity(8)):
        pointers = list(bound.pointers())
        read = {one.name for parameter, one in pointers if parameter.read_only}
        assert read <= written, bound.launch.kernel
        written |= {one.name for parameter, one in pointers if not parameter.read_only}


@each_variant
def test_every_buffer_of_a_plan_is_named_by_a_launch(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    found = launches(operator, variant, capacity(8))

    named = {one.name for bound in found for _, one in bound.pointers()}

    assert named == (set(found[0].buffers) if variant.name != "null" else set())


@each_variant
def test_a_block_has_the_threads_that_the_kernel_was_bounded_to(
    capacity: Devices, operator: Operator, variant: Variant
) -> None:
    threads = {**dict(variant.constants), "WARP_THREADS": 32, "": 32}

    for bound in launches(operator, variant, capacity(8)):
        assert bound.launch.threads_per_block == threads[bound.signature.most_threads]


@each_variant
def test_every_constant_of_a_variant_is_used_by_its_sources(
    operator: Operator, variant: Variant
) -> None:
    folder = variant.source.parent
    text = "".join(
        one.read_text(encoding="utf-8") for one in [variant.source, *folder.glob("*.cuh")]
    )

    assert [name for name, _ in variant.constants if not re.search(rf"\b{name}\b", text)] == []
