"""What threads do together on the emulated device: warps, groups, atomics, barriers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_rmsperf.emulated.library import Grid

if TYPE_CHECKING:
    Emulate = Callable[..., Any]  # the class is in conftest, which cannot be imported

SOURCE = Path(__file__).parent / "data" / "together.cu"
KERNELS = ("shuffles", "votes", "groups", "atomics", "barriers", "cluster", "copies")
WARP = Grid(blocks=1, threads_per_block=32)


@pytest.fixture(scope="module")
def kernels(emulate: Emulate) -> Any:
    return emulate("together", SOURCE, *KERNELS)


# ---- warps -----------------------------------------------------------------------------------


def shuffled(mode: str, lane: int, amount: int, width: int) -> int:
    """Return the source lane by the pseudo code of `shfl.sync` in the PTX ISA."""
    segment, clamp = 32 - width, 0 if mode == "up" else 31
    b = amount & 31
    largest = (lane & segment) | (clamp & ~segment)
    smallest = lane & segment
    if mode == "up":
        source, inside = lane - b, lane - b >= largest
    elif mode == "down":
        source, inside = lane + b, lane + b <= largest
    elif mode == "bfly":
        source, inside = lane ^ b, lane ^ b <= largest
    else:
        source = smallest | (b & ~segment)
        inside = source <= largest
    return source if inside else lane


def test_shuffles_read_the_lane_that_ptx_defines(kernels: Any) -> None:
    out = np.zeros((4, 6, 40, 32), np.int32)

    kernels.run("shuffles", WARP, out)

    want = [
        [[[shuffled(mode, lane, n, w) for lane in range(32)] for n in range(40)] for w in widths]
        for mode in ("idx", "up", "down", "bfly")
        for widths in [(1, 2, 4, 8, 16, 32)]
    ]
    np.testing.assert_array_equal(out, want)


def test_votes_matches_and_reductions_see_the_lanes_of_the_mask(kernels: Any) -> None:
    out = np.zeros((12, 32), np.uint32)

    kernels.run("votes", WARP, out)

    decades = [0x3FF, 0x3FF << 10, 0x3FF << 20, 0x3 << 30]
    assert out[:, 3].tolist() == [
        0x49249249, 1, 0, decades[0], 0xFFFFFFFF, 1, 0, 496, 2**32 - 16, 0xFFFFFFFF, 0xFFFF, 4,
    ]  # fmt: skip
    assert out[3].tolist() == [decades[lane // 10] for lane in range(32)]
    assert out[10].tolist() == [0xFFFF] * 16 + [0xAAAA0000] * 16


# ---- groups ----------------------------------------------------------------------------------


def test_groups_know_their_threads_and_combine_their_values(kernels: Any) -> None:
    x = np.random.default_rng(3).normal(size=64).astype(np.float32)
    before, out = x.copy(), np.zeros((18, 64), np.int32)

    kernels.run("groups", Grid(1, 64), x, out)

    t = np.arange(64)
    lane, eight = t % 32, t // 8 * 8
    # Threads 30 to 34 are of one label and of two warps.
    first = np.maximum(t // 5 * 5, t // 32 * 32)
    end = np.minimum(t // 5 * 5 + 5, t // 32 * 32 + 32)
    want = [
        t % 8, lane // 8, np.full(64, 4), t // 32, np.full(64, 0xAA),
        np.where(t % 8 < 7, t + 1, t), eight + 7,
        [sum(range(a, b + 1)) for a, b in zip(eight, t, strict=True)],
        [sum(range(b // 32 * 32, b)) for b in t],
        end - first, t - first, first, np.maximum(t - 1, first),
        [sum(range(b // 32 * 32 + b % 2, b // 32 * 32 + 32, 2)) for b in t],
        np.ones(64), t % 4, np.full(64, 64), t,
    ]  # fmt: skip
    np.testing.assert_array_equal(out, np.array(want))
    np.testing.assert_array_equal(x, np.repeat(_by_halves(before.reshape(2, 32)), 32))


def _by_halves(x: Any) -> Any:
    while x.shape[1] > 1:
        x = x[:, : x.shape[1] // 2] + x[:, x.shape[1] // 2 :]
    return x[:, 0]


@pytest.mark.parametrize("blocks", [2, 4])
def test_blocks_of_a_cluster_read_each_others_shared_memory(kernels: Any, blocks: int) -> None:
    out = np.zeros((8, 32), np.int32)

    kernels.run("cluster", Grid(8, 32, blocks_per_cluster=blocks), out)

    peer = (np.arange(8) % blocks + 1) % blocks
    want = 10100 * peer[:, None] + np.arange(31, -1, -1)
    np.testing.assert_array_equal(out, want)


# ---- memory ----------------------------------------------------------------------------------


def test_atomics_lose_nothing(kernels: Any) -> None:
    n, f = np.zeros(15, np.int32), np.zeros(3, np.float32)
    n[8], n[13] = 0xFF, 2**31 - 1

    kernels.run("atomics", Grid(2, 64), n, f)

    counted = 128 % 10  # from 0 up to 9 and down from 9, again and again
    assert n.tolist() == [
        8128, -128, -50, 127, 128 % 10, 10 - counted, 0xFF, 0, 0xF0, 1, 1, 127, 256,
        -(2**31), -(2**31),
    ]  # fmt: skip
    assert f.tolist() == [64.0, 32.0, 7.0]


def test_barriers_and_semaphores_of_cuda_keep_order(kernels: Any) -> None:
    out = np.zeros(64, np.int32)

    kernels.run("barriers", Grid(1, 64), out)

    assert out.tolist() == [(thread + 3) % 64 + 64000 for thread in range(64)]


def test_groups_copy_every_byte(kernels: Any) -> None:
    x, out = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)

    kernels.run("copies", WARP, x, out)

    assert out.tolist() == list(range(99, -1, -1))


# ---- faults ----------------------------------------------------------------------------------

FAULTS = {
    "lane outside of the mask": (
        "if (lane < 4) x[lane] = __shfl_sync(0xfu, lane, 9)",
        "reads lane 9 by __shfl_sync, a lane that is not in the mask (mask 0x0000000f)",
    ),
    "lane that has left": (
        "if (lane == 3) return; x[lane] = __shfl_sync(0xffffffffu, lane, 3)",
        "reads lane 3 by __shfl_sync, a lane that is in the mask but has left the kernel",
    ),
    "tile": (
        "if (lane == 5) return; x[lane] = cg::tiled_partition<8>(block()).shfl(lane, 5)",
        "reads lane 5 by thread_block_tile::shfl, ",
    ),
    "width": (
        "x[lane] = __shfl_up_sync(0xffffffffu, lane, 1, 12)",
        "calls __shfl_up_sync with a width of 12",
    ),
    "active mask": (
        "x[lane] = __shfl_sync(__activemask(), lane, lane ^ 1)",
        "a lane that is not in the mask",
    ),
    "trap": ("if (lane == 7) __trap()", "executes __trap()"),
    "assert": ("assert(lane < 9 && x)", "fails assert(lane < 9 && x)"),
    "assumption": ("__builtin_assume(lane != 4)", "breaks __builtin_assume(lane != 4)"),
    "copy": ("memcpy(x + 30, x, 12)", "writes 12 bytes"),
    "barrier": (
        "__shared__ Barrier b; if (lane == 0) init(&b, 2); __syncthreads(); b.arrive(3)",
        "arrives at a cuda::barrier that expects fewer",
    ),
}


@pytest.fixture(scope="module")
def faulty(emulate: Emulate) -> Any:
    body = "".join(
        f'extern "C" __global__ void fault{i}(int* x) {{\n'
        f"    const int lane = threadIdx.x;\n    {statement};\n}}\n"
        for i, (statement, _) in enumerate(FAULTS.values())
    )
    head = (
        "#include <cooperative_groups.h>\n#include <cuda/barrier>\n"
        "namespace cg = cooperative_groups;\n"
        "using Barrier = cuda::barrier<cuda::thread_scope_block>;\n"
        "inline cg::thread_block block() { return cg::this_thread_block(); }\n"
    )
    return emulate("faulty", head + body, *(f"fault{i}" for i in range(len(FAULTS))))


@pytest.mark.parametrize("name", FAULTS)
def test_mistake_is_a_fault_with_its_reason_and_line(faulty: Any, name: str) -> None:
    number = list(FAULTS).index(name)

    fault = faulty.fault(f"fault{number}", WARP, np.zeros(32, np.int32))

    assert FAULTS[name][1] in str(fault)
    assert f"faulty.cu:{8 + 4 * number} in fault{number}" in str(fault)
