"""A kernel of the zoo: how it is launched, what it shall give, and what betrays its mutants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.emulated.library import BlockCapacity, Grid
from pytest_rmsperf.launch import ScalarArgument

if TYPE_CHECKING:
    import numpy.typing as npt
    from _pytest.mark import ParameterSet

    from pytest_rmsperf.cases import Array
    from tests.unit.emulated.device.conftest import Argument, Program

    Floats = npt.NDArray[np.float32]
    Integers = npt.NDArray[np.int32]

SEEDS = range(6)
CLEAN, WRONG = "clean", "wrong result"
RACE, BOUNDS, UNWRITTEN = "race", "out of bounds", "uninitialized read"
DEADLOCK, DIVERGENT_BARRIER = "deadlock", "divergent barrier"
RANDOM = np.random.default_rng(1)
PLENTY = BlockCapacity(blocks_per_sm=8, sms=132)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A kernel whose parameters are inputs, the output, counters, scalars, and the mutant.

    `counters` is how many zeroed words it has, which a second launch finds as the first left them;
    `mutants` says by what each is found for at least one seed, in the order of their numbers. A
    kernel without any has no such parameter.
    """

    kernel: str
    inputs: tuple[Array, ...]
    want: Array
    grid: Grid
    scalars: tuple[int | float | ScalarArgument, ...] = ()
    mutants: tuple[str, ...] = ()
    counters: int = 0
    launches: int = 1
    tolerance: float = 0.0
    capacity: BlockCapacity = PLENTY

    def __str__(self) -> str:
        return self.kernel

    def outcome(self, program: Program, seed: int, mutant: int = 0) -> str:
        """Return the kind of the first fault, or whether the last launch's result is right.

        After a fault the kernel runs once more as it should be: what a fault interrupts must not
        harm a later launch.
        """
        counters = (program.counters(self.counters),) if self.counters else ()
        inputs = tuple(program.input(one) for one in self.inputs)
        number = (mutant,) if self.mutants else ()
        for launch in range(self.launches):
            y = program.output(self.want.size, self.want.dtype.name)
            arguments: tuple[Argument, ...] = (*inputs, y, *counters, *self.scalars, *number)
            fault = program.launch(
                self.kernel,
                *arguments,
                threads=self.grid.threads_per_block,
                seed=seed + launch,
                capacity=self.capacity,
                blocks=self.grid.blocks,
                dynamic_smem_bytes=self.grid.dynamic_smem_bytes,
                cooperative=self.grid.cooperative,
                blocks_per_cluster=self.grid.blocks_per_cluster,
            )
            if fault is not None:
                assert mutant == 0 or self.outcome(program, seed) == CLEAN
                return fault.kind
        return CLEAN if self._is_right(y.array()) else WRONG

    def _is_right(self, result: Array) -> bool:
        result = result.reshape(self.want.shape)
        if not self.tolerance:
            return np.array_equal(result, self.want)
        return np.allclose(
            result.astype(np.float64), self.want, rtol=self.tolerance, atol=self.tolerance
        )


class Zoo:
    """The tests of all kernels of one source, which the file of the subclass names as KERNELS."""

    EXHIBITS: ClassVar[tuple[Exhibit, ...]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "mutant" in metafunc.fixturenames:
            metafunc.parametrize(("exhibit", "mutant"), mutants_of(self.EXHIBITS))
        elif "exhibit" in metafunc.fixturenames:
            metafunc.parametrize("exhibit", self.EXHIBITS, ids=str)
            metafunc.parametrize("seed", SEEDS)

    def test_text_has_the_same_kernels_for_the_device(self, program: Program) -> None:
        compiled = compile_recipe(Recipe(program.source, "sm_90"))

        names = [kernel.name for kernel in program.module.module.kernels]
        assert sorted(names) == [kernel.name for kernel in compiled.kernels]

    def test_kernel_is_clean_and_gives_what_numpy_gives(
        self, program: Program, exhibit: Exhibit, seed: int
    ) -> None:
        assert exhibit.outcome(program, seed) == CLEAN

    def test_mutant_is_found_by_what_is_wrong_with_it(
        self, program: Program, exhibit: Exhibit, mutant: int
    ) -> None:
        outcomes = (exhibit.outcome(program, seed, mutant) for seed in SEEDS)

        assert exhibit.mutants[mutant - 1] in outcomes


def mutants_of(exhibits: tuple[Exhibit, ...]) -> list[ParameterSet]:
    """Return every mutant with its kernel."""
    return [
        pytest.param(one, number, id=f"{one}-{number}-{found}")
        for one in exhibits
        for number, found in enumerate(one.mutants, 1)
    ]


def floats(*shape: int) -> Floats:
    """Return random numbers between 0 and 1."""
    return RANDOM.random(shape, np.float32)


def integers(first: int, end: int, *shape: int) -> Integers:
    """Return random integers from `first` up to `end`."""
    return RANDOM.integers(first, end, shape, np.int32)
