"""What differs between two costs of one case: of its kernels, of its plan, of what a device holds.

Every field is compared exactly. A difference of what a kernel needs is a note, as long as no
device holds fewer of its blocks for it: registers and instructions move with every edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, Resources, kernel_named
from pytest_rmsperf.device.occupancy import DeviceLimits, blocks_per_sm, limits_for
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judge.difference import (
    DYNAMIC_SMEM,
    NOTE,
    OF_KERNELS,
    OF_LAUNCHES,
    REGISTERS,
    STATIC_SMEM,
    THREADS,
    Difference,
    field_differences,
)
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.resources import CompiledKernel, MachineCode

# What blocks per SM depend on, by the resource that limits them: registers are those of whole
# blocks, so that threads count for them too.
_DECIDING = {
    "registers": (REGISTERS.words, THREADS.words),
    "shared memory": (STATIC_SMEM.words, DYNAMIC_SMEM.words),
    "threads": (THREADS.words,),
}
_NEEDS_OF_KERNELS, _NEEDS_OF_LAUNCHES = (REGISTERS, STATIC_SMEM), (DYNAMIC_SMEM, THREADS)


def resource_differences(before: Resources, after: Resources) -> list[str]:
    """Return what differs in the kernels and the plan of one case on one device, worst first.

    A cause stands before its effect, as in "registers 40 -> 64 per thread: 4 -> 2 blocks per SM";
    kernels are named where there are several.
    """
    found = [*launch_differences(before, after), *kernel_differences(before.kernels, after.kernels)]
    named = len({one.name for one in (*before.kernels, *after.kernels)}) > 1
    explained = {(one.kernel, cause) for one in found for cause in one.causes}
    left = [one for one in found if (one.kernel, one.what) not in explained]
    return [one.forwards(named=named) for one in left]


def kernel_differences(
    before: Sequence[CompiledKernel], after: Sequence[CompiledKernel]
) -> list[Difference]:
    """Return how the kernels of one arch differ, the machine code last."""
    old, new = ({one.name: one for one in kernels} for kernels in (before, after))
    gone, fresh = [one for one in old if one not in new], [one for one in new if one not in old]
    both = [one for one in old if one in new]
    return [
        *(Difference(Status.CHANGED, f"kernel {one} is gone") for one in gone),
        *(Difference(Status.CHANGED, f"kernel {one} is new") for one in fresh),
        *(d for one in both for d in field_differences(OF_KERNELS, old[one], new[one], one)),
        *(d for one in both for d in _code(old[one].code, new[one].code, one)),
    ]


def launch_differences(
    before: Resources, after: Resources, limits: DeviceLimits | None = None
) -> list[Difference]:
    """Return how the plans on one device differ, and what the device holds of each launch.

    `limits` are the device's: with them a lost block per SM names the resource it was lost to.
    """
    pairs = _pairs(before.fit, after.fit)
    found = [d for pair in pairs for d in _blocks_per_sm(before, after, pair, limits)]
    found += _sequence(before.fit, after.fit)
    found += _facts(before.fit, after.fit)
    for old, new in pairs:
        found += field_differences(OF_LAUNCHES, old, new, new.kernel)
        found += _active_clusters(old, new)
    return list(dict.fromkeys(found))


def headroom_difference(
    before: DeviceFit, after: DeviceFit, headroom_loss: float
) -> Difference | None:
    """Return how the blocks to spare differ; costlier where more than `headroom_loss` is lost.

    That is a share of the blocks that the device held before.
    """
    old, new, tightest = before.headroom_blocks, after.headroom_blocks, after.tightest
    if old is None or new is None or tightest is None or old == new:
        return None
    held, holds = before.limit_blocks, after.limit_blocks
    blocks = f"{old} -> {new} blocks of {held}"
    if held != holds:
        blocks = f"{old} of {held} -> {new} of {holds} blocks"
    what = f"headroom of {tightest.kernel} {blocks}"
    if old - new <= headroom_loss * held:
        return Difference(NOTE, what)
    return Difference(Status.COSTLIER, f"{what} (limit {int(headroom_loss * held)} less)")


def limits_of(arch: str) -> DeviceLimits | None:
    """Return what an SM of an arch such as "sm_90" holds; None where it is not known."""
    digits = arch.removeprefix("sm_").rstrip("af")
    try:
        return limits_for(f"{digits[:-1]}.{digits[-1:]}")
    except SettingError:
        return None


def limited_by(limits: DeviceLimits, kernel: CompiledKernel, launch: PlannedLaunch) -> str:
    """Return the resource of which there is too little for one more block per SM."""
    threads, smem = launch.threads_per_block, launch.dynamic_smem_bytes
    held = blocks_per_sm(limits, kernel, threads, smem)
    if blocks_per_sm(limits, replace(kernel, registers_per_thread=0), threads, smem) > held:
        return "registers"
    if blocks_per_sm(limits, replace(kernel, static_smem_bytes=0), threads, 0) > held:
        return "shared memory"
    free = replace(kernel, registers_per_thread=0, static_smem_bytes=0)
    both = blocks_per_sm(limits, free, threads, 0) > held
    return "registers and shared memory" if both else "threads"


def _pairs(before: DeviceFit, after: DeviceFit) -> list[tuple[PlannedLaunch, PlannedLaunch]]:
    """Return the launches of each kernel side by side; its largest where their number differs."""
    pairs: list[tuple[PlannedLaunch, PlannedLaunch]] = []
    for name in dict.fromkeys(one.kernel for one in after.launches):
        old, new = ([one for one in fit.launches if one.kernel == name] for fit in (before, after))
        if old and len(old) != len(new):
            old, new = ([max(found, key=lambda one: one.blocks)] for found in (old, new))
        pairs += zip(old, new, strict=False)
    return pairs


def _blocks_per_sm(
    before: Resources,
    after: Resources,
    pair: tuple[PlannedLaunch, PlannedLaunch],
    limits: DeviceLimits | None,
) -> list[Difference]:
    """Return the change of blocks per SM of a launch, with what it comes from."""
    old, new = pair
    if old.blocks_per_sm == new.blocks_per_sm:
        return []
    was, now = (kernel_named(side.kernels, new.kernel) for side in (before, after))
    causes = field_differences(_NEEDS_OF_LAUNCHES, old, new, new.kernel)
    if was is not None and now is not None:
        causes = [*field_differences(_NEEDS_OF_KERNELS, was, now, new.kernel), *causes]
    is_lost = new.blocks_per_sm < old.blocks_per_sm
    scarce = limited_by(limits, now, new) if is_lost and limits and now else ""
    whats = tuple(one.what for one in causes)
    telling = tuple(one for one in whats if one.startswith(_DECIDING.get(scarce, ())))
    return [
        Difference(
            status=Status.COSTLIER if is_lost else Status.CHEAPER,
            what=f"{old.blocks_per_sm} -> {new.blocks_per_sm} blocks per SM",
            kernel=new.kernel,
            causes=telling or whats,
            limited_by=scarce,
        )
    ]


def _sequence(before: DeviceFit, after: DeviceFit) -> list[Difference]:
    """Return how the order of kernels differs: more launches cost more, whatever they do."""
    old, new = ([one.kernel for one in fit.launches] for fit in (before, after))
    if len(old) != len(new):
        status = Status.COSTLIER if len(new) > len(old) else Status.CHEAPER
        return [Difference(status, f"launches {len(old)} -> {len(new)}")]
    moved = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    if not moved:
        return []
    texts = [", ".join(names) for names in zip(*moved, strict=True)]
    return [Difference(Status.CHANGED, f"launches of {texts[0]} -> {texts[1]}")]


def _facts(before: DeviceFit, after: DeviceFit) -> list[Difference]:
    old, new = dict(before.facts), dict(after.facts)
    return [
        Difference(Status.CHANGED, f"{key} {old.get(key, 'none')} -> {new.get(key, 'none')}")
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    ]


def _active_clusters(old: PlannedLaunch, new: PlannedLaunch) -> list[Difference]:
    """Return how many clusters the driver said are resident, where it was asked both times."""
    before, after = old.active_clusters, new.active_clusters
    if before is None or after is None or before == after:
        return []
    status = Status.COSTLIER if after < before else Status.CHEAPER
    return [Difference(status, f"active clusters {before} -> {after}", new.kernel)]


def _code(before: MachineCode | None, after: MachineCode | None, kernel: str) -> list[Difference]:
    """Return how the machine code differs: by counts of instructions where they are known."""
    if before is None or after is None or before.sha256 == after.sha256:
        return []
    details = ["differs"]
    if before.code_bytes != after.code_bytes:
        details = [f"{before.code_bytes} -> {after.code_bytes} bytes"]
    if before.instructions is not None and after.instructions is not None:
        details = _counts(before, after) or [*details, "all its counts are equal"]
    return [Difference(NOTE, "machine code", kernel, details=tuple(details))]


def _counts(before: MachineCode, after: MachineCode) -> list[str]:
    old, new = dict(before.counts), dict(after.counts)
    kinds = [
        f"{kind}: {old.get(kind, 0)} -> {new.get(kind, 0)}"
        for kind in sorted(old | new)
        if old.get(kind, 0) != new.get(kind, 0)
    ]
    if before.instructions == after.instructions:
        return kinds
    return [f"{before.instructions} -> {after.instructions} instructions", *kinds]
