"""Addresses of problems too large to run: only the first and the last blocks do, on memory that
is reserved and never filled.

An index computed in 32 bits is right for the first rows and wrong for the last ones: it leaves the
buffer, overflows, or comes out at another row, so that the last elements are never written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_rmsperf.cases import Case
from pytest_rmsperf.emulated.launcher import EmulatedModule, FrozenLaunch, bind, grid_of
from pytest_rmsperf.emulated.memory import WRITTEN_BY_KERNEL, EmulatedMemory
from pytest_rmsperf.emulation import AddressCheck
from pytest_rmsperf.errors import GateFailure, PlanError
from pytest_rmsperf.launch import Buffer, KernelLaunch, LaunchPlan, Role
from pytest_rmsperf.problem import Problem

# Blocks of a launch that run, at each end of the grid: a row of the bundled operator.
BLOCKS_AT_EACH_END = 32


@dataclass(frozen=True, slots=True)
class SmallDevice:
    """A device of so few SMs that a plan splits a large problem into many small launches."""

    module: EmulatedModule
    sms: int

    @property
    def device(self) -> str:
        return f"{self.module.device} with {self.sms} SMs"

    def blocks_per_sm(self, kernel: str, threads_per_block: int, dynamic_smem_bytes: int) -> int:
        """Return what one SM of the whole device holds."""
        return self.module.blocks_per_sm(kernel, threads_per_block, dynamic_smem_bytes)

    def active_clusters(self, launch: KernelLaunch) -> int | None:
        """Return what the whole device says, which is nothing."""
        return self.module.active_clusters(launch)


def check_addresses(case: Case, module: EmulatedModule) -> AddressCheck | None:
    """Check every address problem of the operator; None where it names none.

    Raises GateFailure with the first address that is wrong, or the first of the last elements of
    an output that was not written.
    """
    problems = case.operator.address_problems
    if not problems:
        return None
    launches = sum(_check(case, problem, module) for problem in problems)
    return AddressCheck(tuple(problem.label for problem in problems), launches)


def _check(case: Case, problem: Problem, module: EmulatedModule) -> int:
    plan = _plan(case, problem, module)
    memory = EmulatedMemory((*case.operator.tensors(problem), *plan.buffers), filled=False)
    ran = [one for one in _ends(plan.launches) if _run(one, module, memory, problem)]
    for output in case.operator.outputs(problem):
        _require_end_written(output, memory, problem)
    return len(ran)


def _plan(case: Case, problem: Problem, module: EmulatedModule) -> LaunchPlan:
    """Plan for the smallest device that holds the problem: its launches are the shortest."""
    sms = 1
    while sms < module.sms:
        try:
            return case.variant.plan(problem, SmallDevice(module, sms))
        except PlanError:
            sms *= 2
    return case.variant.plan(problem, module)


def _ends(launches: tuple[KernelLaunch, ...]) -> tuple[KernelLaunch, ...]:
    """Return the first and the last launch of each kernel: those between see nothing new."""
    kept: list[KernelLaunch] = []
    kernels = dict.fromkeys(launch.kernel for launch in launches)
    for kernel in kernels:
        same = [launch for launch in launches if launch.kernel == kernel]
        kept += [same[0], same[-1]] if len(same) > 2 else same
    return tuple(one for one in launches if any(one is other for other in kept))


def _run(
    launch: KernelLaunch, module: EmulatedModule, memory: EmulatedMemory, problem: Problem
) -> bool:
    one = FrozenLaunch(launch, bind(launch.arguments, memory))
    grid = grid_of(launch)
    if not launch.must_be_resident and launch.blocks > 2 * BLOCKS_AT_EACH_END:
        first = range(BLOCKS_AT_EACH_END)
        last = range(launch.blocks - BLOCKS_AT_EACH_END, launch.blocks)
        grid = replace(grid, selection=(*first, *last))
    try:
        module.launch(one, seed=0, grid=grid)
    except GateFailure as fault:
        raise GateFailure(f"wrong address at {problem.label}: {fault}") from fault
    return True


def _require_end_written(output: Buffer, memory: EmulatedMemory, problem: Problem) -> None:
    """Both ends of an output must have been written, whatever lies between."""
    assert output.role is Role.OUTPUT
    written = memory[output.name].written
    for place, at in (("first", 0), ("last", len(written) - 1)):
        if written[at] != WRITTEN_BY_KERNEL:
            raise GateFailure(
                f"wrong address at {problem.label}: the {place} element of {output.name} was not "
                f"written\n  {output.name} has shape {output.shape}; a 32-bit index comes out "
                "elsewhere\ncompute offsets in long long"
            )
