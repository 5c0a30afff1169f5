"""What made-up kernels cost on real parts, for tests of the judge, the store and the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, Resources, StaticCheck, StaticCost
from pytest_rmsperf.judge.cost import ArchVerdict, CostFinding, CostLimits, judge_cost
from pytest_rmsperf.resources import CompiledKernel, MachineCode

CASE_ID = "softmax/online-graph/16x1024"
H100, H200, L4, A100 = (
    "NVIDIA H100 80GB HBM3",
    "NVIDIA H200",
    "NVIDIA L4",
    "NVIDIA A100-SXM4-80GB",
)
SMS = {H100: 132, H200: 132, L4: 58, A100: 108}
NVRTC = (("nvrtc", "13.0.88"),)
CODE = MachineCode(
    code_bytes=4096,
    sha256="3f" * 32,
    instructions=240,
    counts=(("barrier", 2), ("global load 128", 4)),
)
OTHER_CODE = replace(CODE, sha256="a1" * 32)  # of as many instructions of each kind
FACTS = (("tile", 4096), ("rows_per_launch", 16))


def kernel_of(  # noqa: PLR0913
    name: str = "row",
    *,
    registers: int = 40,
    smem: int = 1024,
    local: int = 0,
    spills: tuple[int, int] = (0, 0),
    bounds: int = 256,
    code: MachineCode | None = CODE,
) -> CompiledKernel:
    """A kernel of 256 threads per block; `smem` is static, `spills` are bytes stored and loaded."""
    return CompiledKernel(
        name=name,
        registers_per_thread=registers,
        static_smem_bytes=smem,
        local_bytes=local,
        spill_store_bytes=spills[0],
        spill_load_bytes=spills[1],
        max_threads_per_block=bounds,
        code=code,
    )


def launch_of(  # noqa: PLR0913
    kernel: str = "row",
    *,
    blocks: int = 512,
    blocks_per_sm: int = 6,
    threads: int = 256,
    smem: int = 16384,
    cluster: int = 1,
    waits: bool = True,
    active_clusters: int | None = None,
) -> PlannedLaunch:
    """A launch of blocks that wait for one another; `smem` is dynamic."""
    return PlannedLaunch(
        kernel=kernel,
        blocks=blocks,
        threads_per_block=threads,
        dynamic_smem_bytes=smem,
        blocks_per_cluster=cluster,
        must_be_resident=waits,
        blocks_per_sm=blocks_per_sm,
        active_clusters=active_clusters,
    )


def fit_of_device(
    device: str = H100,
    *launches: PlannedLaunch,
    sms: int | None = None,
    blocks: int = 512,
    blocks_per_sm: int = 6,
    facts: tuple[tuple[str, int], ...] = FACTS,
    why_not: str | None = None,
) -> DeviceFit:
    """A plan on a device: these launches, else one of `row`; `why_not` leaves none."""
    one = launch_of(blocks=blocks, blocks_per_sm=blocks_per_sm)
    return DeviceFit(
        device=device,
        sms=SMS.get(device, 132) if sms is None else sms,
        launches=() if why_not else (launches or (one,)),
        facts=() if why_not else facts,
        why_not=why_not,
    )


def cost_of(
    *fits: DeviceFit,
    case_id: str = CASE_ID,
    arch: str = "sm_90",
    compiler: tuple[tuple[str, str], ...] = NVRTC,
    flags: tuple[str, ...] = (),
    kernels: Sequence[CompiledKernel] | None = None,
) -> StaticCost:
    """What a case costs: these kernels, else `row`; on these devices, else on an H100."""
    return StaticCost(
        case_id=case_id,
        arch=arch,
        compiler=compiler,
        flags=flags,
        kernels=(kernel_of(),) if kernels is None else tuple(kernels),
        fits=fits or (fit_of_device(),),
    )


def check_of(cost: StaticCost | None = None, *violations: tuple[str, str]) -> StaticCheck:
    """A check that found this cost; `violations` are devices and whole messages."""
    found = cost_of() if cost is None else cost
    return StaticCheck(found.arch, found, violations=violations)


def resources_of(*kernels: CompiledKernel, fit: DeviceFit | None = None) -> Resources:
    """What a measured case cost on an H200: these kernels, else `row`, and its plan."""
    return Resources(kernels or (kernel_of(),), fit_of_device(H200) if fit is None else fit)


# 6 blocks of 256 threads of 40 registers on each of 132 SMs are 792, of which 512 are asked for.
STORED = cost_of()
SPILLING = cost_of(kernels=[kernel_of(spills=(8, 0))])


def judge_arch(
    current: StaticCost | StaticCheck,
    baseline: StaticCost | None,
    *,
    headroom_loss: float = 0.1,
    is_paired: bool = False,
) -> ArchVerdict:
    """Judge the cost of one arch."""
    check = current if isinstance(current, StaticCheck) else check_of(current)
    baselines = {} if baseline is None else {baseline.arch: baseline}
    limits = CostLimits(headroom_loss)
    return judge_cost(CASE_ID, [check], baselines, limits, is_paired=is_paired).archs[0]


def told(findings: Sequence[CostFinding]) -> tuple[str, ...]:
    """Return findings as text."""
    return tuple(map(str, findings))
