"""A case against devices that nobody has here: what it costs on each, and which cannot run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rmsperf.cases import Case, Submission, load_operator
from pytest_rmsperf.costs import StaticCheck
from pytest_rmsperf.device.profiles import DeviceProfile, profiles_named
from pytest_rmsperf.errors import CompileError, GateFailure, PlanError
from pytest_rmsperf.launch import KernelLaunch, LaunchPlan
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.resources import Capacity, CompiledKernel, CompiledModule
from pytest_rmsperf.static_checks import static_checks

FAULTY = load_operator(Path(__file__).parent / "data" / "faulty")
IDENTITY = (("nvrtc", "13.0.88"), ("cudart_headers", "13.0"))
H100, L4, T4 = profiles_named("h100-sxm, l4, t4")
H200, PCIE = profiles_named("h200, h100-pcie")

Plan = Callable[[Problem, Capacity], LaunchPlan]


def compiled(arch: str) -> CompiledModule:
    """A module of two kernels of 40 registers per thread."""
    kernels = tuple(CompiledKernel(name, 40, 0, 0, 0, 0) for name in ("tile", "row"))
    identity = (*IDENTITY, ("arch", arch), ("flags", ""))
    return CompiledModule("row.cu", identity, "key", b"", kernels, from_cache=False)


def launch(blocks: int = 1, *, per_cluster: int = 1, waits: bool = False) -> KernelLaunch:
    """A launch of `row` with 256 threads per block."""
    return KernelLaunch(
        "row", blocks, 256, (), waits_on_blocks=waits, blocks_per_cluster=per_cluster
    )


def plan_of(*launches: KernelLaunch) -> Plan:
    return lambda *_: LaunchPlan(launches, (), (("tile", 4096),), "a test asks for it")


def case_of(plan: Plan, *, least: str | None = None) -> Case:
    variant = replace(FAULTY.variants[0], plan=plan, least_compute_capability=least)
    return Case(FAULTY, variant, Submission.GRAPH, FAULTY.problems[0])


def checked(
    plan: Plan, *devices: DeviceProfile, least: str | None = None
) -> tuple[StaticCheck, ...]:
    return static_checks(case_of(plan, least=least), devices, compiled)


def violation(plan: Plan, device: DeviceProfile) -> list[str]:
    """Return the lines of the one violation, which must be of the device."""
    (found,) = checked(plan, device)
    ((name, message),) = found.violations
    assert name == device.identity.name
    return message.splitlines()


# ---- which devices ---------------------------------------------------------------------------


def test_devices_of_one_arch_share_an_entry_and_all_keep_their_order() -> None:
    found = checked(plan_of(launch()), L4, H200, T4, H100)

    devices = {
        one.arch: [fit.device for fit in one.cost.fits] for one in found if one.cost is not None
    }
    assert list(devices.items()) == [
        ("sm_89", ["NVIDIA L4"]),
        ("sm_90", ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]),
        ("sm_75", ["Tesla T4"]),
    ]


@pytest.mark.parametrize(("least", "archs"), [("8.9", ["sm_89", "sm_90"]), ("9.0", ["sm_90"])])
def test_devices_below_what_a_variant_needs_are_none_of_its_own(
    least: str, archs: list[str]
) -> None:
    found = checked(plan_of(launch()), T4, L4, H100, least=least)

    assert [one.arch for one in found] == archs


def test_compute_capabilities_are_compared_as_numbers() -> None:
    b200 = profiles_named("b200")[0]

    assert [one.arch for one in checked(plan_of(launch()), b200, least="9.0")] == ["sm_100"]


def test_nothing_is_compiled_for_a_device_that_the_variant_is_not_meant_for() -> None:
    asked: list[str] = []

    def compile_for(arch: str) -> CompiledModule:
        asked.append(arch)
        return compiled(arch)

    static_checks(case_of(plan_of(launch()), least="9.0"), (T4, H100), compile_for)

    assert asked == ["sm_90"]


# ---- what it costs ---------------------------------------------------------------------------


def test_a_cost_names_the_compiler_without_arch_and_flags() -> None:
    (found,) = checked(plan_of(launch()), H100)

    assert found.cost is not None
    assert (found.cost.arch, found.cost.compiler, found.cost.flags) == ("sm_90", IDENTITY, ())


def test_a_cost_has_the_kernels_that_some_plan_launches_and_no_others() -> None:
    (found,) = checked(plan_of(launch(), launch(2)), H100, H200)

    assert found.cost is not None
    assert [one.name for one in found.cost.kernels] == ["row"]


def test_a_case_of_another_commit_costs_under_its_own_id() -> None:
    case = replace(case_of(plan_of(launch())), origin="1a2b3c4")

    (found,) = static_checks(case, (H100,), compiled)

    assert found.cost is not None
    assert found.cost.case_id == "faulty/sound-graph/3@1a2b3c4"


def test_a_plan_is_made_for_each_device_by_what_it_holds() -> None:
    def fill(_: Problem, capacity: Capacity) -> LaunchPlan:
        return plan_of(launch(capacity.sms))(_, capacity)

    (found,) = checked(fill, H100, PCIE)

    assert found.cost is not None
    assert [fit.launches[0].blocks for fit in found.cost.fits] == [132, 114]
    assert found.violations == ()


# ---- what cannot be --------------------------------------------------------------------------


def test_a_launch_that_just_fits_is_no_violation_and_one_block_more_is_one() -> None:
    # 40 registers and 256 threads: 6 blocks on each of the 58 SMs of an L4, as computed.
    def waiting(blocks: int) -> Plan:
        return plan_of(launch(blocks, waits=True))

    ((fits,), (exceeds,)) = (checked(waiting(348 + more), L4) for more in (0, 1))

    assert fits.violations == ()
    assert [device for device, _ in exceeds.violations] == ["NVIDIA L4"]


def test_a_launch_that_does_not_fit_is_told_in_full_and_keeps_its_figures() -> None:
    plan = plan_of(launch(349, waits=True))

    lines = violation(plan, L4)

    (found,) = checked(plan, L4)
    assert lines[0] == "does not fit NVIDIA L4: 1 block too many (computed)"
    assert lines[-1].startswith("a launch that waits on blocks which are not resident never ends")
    assert found.cost is not None
    assert found.cost.fits[0].launches[0].blocks == 349


@pytest.mark.parametrize(
    "refusal", [PlanError("rows must be even\nget got 3"), GateFailure("no kernel 'tiel'\nget it")]
)
def test_a_device_without_a_plan_is_a_violation_with_its_first_line_as_reason(
    refusal: Exception,
) -> None:
    def refuse(*_: object) -> LaunchPlan:
        raise refusal

    (found,) = checked(refuse, L4)

    assert found.violations == (("NVIDIA L4", str(refusal)),)
    assert found.cost is not None
    assert found.cost.fits[0].why_not == str(refusal).splitlines()[0]
    assert (found.cost.fits[0].launches, found.cost.kernels) == ((), ())


def test_a_plan_for_one_device_is_kept_though_another_of_its_arch_has_none() -> None:
    def only_h200(problem: Problem, capacity: Capacity) -> LaunchPlan:
        if capacity.device != "NVIDIA H200":
            raise PlanError("only for an H200")
        return plan_of(launch())(problem, capacity)

    (found,) = checked(only_h200, H100, H200)

    assert found.cost is not None
    assert [one.why_not for one in found.cost.fits] == ["only for an H200", None]
    assert [one.name for one in found.cost.kernels] == ["row"]


def test_a_kernel_that_the_source_does_not_define_is_a_violation() -> None:
    lines = violation(plan_of(replace(launch(), kernel="tiel")), L4)

    assert lines == ["no kernel 'tiel' in row.cu; it defines: tile, row"]


def test_clusters_where_there_are_none_are_a_violation_and_say_how_to_leave_the_device_out() -> (
    None
):
    lines = violation(plan_of(launch(8, per_cluster=8)), T4)

    assert lines[0] == (
        "does not fit Tesla T4: row has clusters of 8 blocks, and compute capability 7.5 has none: "
        "they begin with 9.0"
    )
    assert "least_compute_capability" in lines[-1]


@pytest.mark.parametrize(("size", "violations"), [(16, 0), (17, 1)])
def test_the_largest_cluster_is_no_violation_and_one_block_more_is_one(
    size: int, violations: int
) -> None:
    (found,) = checked(plan_of(launch(size, per_cluster=size)), H100)

    assert len(found.violations) == violations


def test_an_arch_that_the_source_does_not_compile_for_has_no_cost_and_says_why() -> None:
    def refuse(arch: str) -> CompiledModule:
        raise CompileError(f"does not compile: row.cu for {arch}\nfix it")

    (found,) = static_checks(case_of(plan_of(launch())), (L4,), refuse)

    assert found == StaticCheck("sm_89", None, "does not compile: row.cu for sm_89\nfix it")


def test_an_arch_that_does_not_compile_costs_no_other() -> None:
    def refuse(arch: str) -> CompiledModule:
        if arch == "sm_75":
            raise CompileError("no")
        return compiled(arch)

    found = static_checks(case_of(plan_of(launch())), (T4, L4), refuse)

    assert [one.cost is None for one in found] == [True, False]
