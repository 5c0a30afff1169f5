// A delay of the whole block: its first warp works through a chain of dependent additions while the
// others wait at a barrier.
//
// A chain, because a loop on clock64() ends some 40 clocks late or early, as much as the smallest
// delay wanted here. One warp, because the chains of all eight would compete for the same pipe.
#pragma once

#include "common.cuh"

// DELAY_ROUNDS times DELAY_STEPS additions. The rounds keep the chain in a loop of its own, so that
// no other instruction of the kernel is scheduled into its gaps.
__device__ inline void delay_block() {
    static_assert(DELAY_ROUNDS > 0 && DELAY_STEPS > 0, "without a chain the barrier stands alone");
    if (threadIdx.x < WARP_THREADS) {
        float link = __uint_as_float(threadIdx.x);
        // gridDim.y is 1, which the compiler does not know: a single round stays a loop.
#pragma unroll 1
        for (unsigned left = DELAY_ROUNDS * gridDim.y; left != 0; --left) {
#pragma unroll
            for (int i = 0; i < DELAY_STEPS; ++i) link = __fadd_rn(link, link);
        }
        // Never true of sums of what is not negative, but the compiler needs the chain to know.
        if (link < 0.0f) __trap();
    }
    __syncthreads();
}
