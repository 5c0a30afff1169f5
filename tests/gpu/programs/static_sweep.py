"""Print where the driver's occupancy differs from ours, over kernels that nobody tuned for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.device.context import CudaContext
from pytest_rmsperf.device.launcher import LoadedModule
from pytest_rmsperf.device.occupancy import DeviceLimits, blocks_per_sm, limits_for
from pytest_rmsperf.launch import MAX_THREADS_PER_BLOCK
from pytest_rmsperf.resources import CompiledKernel

SOURCE = Path(__file__).with_name("static_sweep.cu")

# Static shared bytes, the bound on the threads, and flags: small, odd and large statics, a bound
# below most of the block sizes, and registers so few that most of the kernels spill.
BUILDS = (
    (0, 0, ()),
    (1000, 0, ()),
    (30_000, 0, ()),
    (16, 192, ()),
    (4, 0, ("--maxrregcount=40",)),
)
THREADS = (1, 32, 33, 64, 96, 128, 160, 192, 193, 256, 288, 384, 512, 768, 1024)
DYNAMIC_BYTES = (0, 1, 1000, 6144, 16_384, 49_152, 65_536, 100_000, 116_000, 202_448, 232_448)


def recipes(arch: str) -> Iterator[Recipe]:
    for static_bytes, bound, flags in BUILDS:
        yield Recipe(SOURCE, arch, (("STATIC_BYTES", static_bytes), ("BOUND", bound)), flags)


def figures(
    module: LoadedModule, kernel: CompiledKernel, limits: DeviceLimits
) -> dict[str, list[int]]:
    """Return each figure of a kernel as computed and as the driver has it."""
    sizes = range(1, MAX_THREADS_PER_BLOCK + 1)
    largest = max(one for one in sizes if blocks_per_sm(limits, kernel, one, 0))
    pairs = {
        "registers": (kernel.registers_per_thread, "num_regs"),
        "static_smem_bytes": (kernel.static_smem_bytes, "shared_size_bytes"),
        "local_bytes": (kernel.local_bytes, "local_size_bytes"),
        "max_threads": (largest, "max_threads_per_block"),
    }
    return {
        name: [mine, module.attribute(kernel.name, theirs)]
        for name, (mine, theirs) in pairs.items()
    }


def occupancies(
    module: LoadedModule, kernel: CompiledKernel, limits: DeviceLimits
) -> Iterator[list[int]]:
    """Yield threads, dynamic bytes, and the blocks per SM as computed and as the driver says."""
    for threads in THREADS:
        for nbytes in DYNAMIC_BYTES:
            mine = blocks_per_sm(limits, kernel, threads, nbytes)
            yield [threads, nbytes, mine, module.blocks_per_sm(kernel.name, threads, nbytes)]


def main() -> None:
    context = CudaContext.open()
    identity = context.identity()
    limits = limits_for(identity.compute_capability)
    modules = [LoadedModule(compile_recipe(one), context) for one in recipes(identity.arch)]
    found = [
        {
            "kernel": f"{module.module.key[:6]}:{kernel.name}",
            "figures": figures(module, kernel, limits),
            "occupancies": list(occupancies(module, kernel, limits)),
        }
        for module in modules
        for kernel in module.module.kernels
    ]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
