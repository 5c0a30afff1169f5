// A delay of a block, added where all of its row's blocks have to wait for it.
//
// A chain of dependent additions, because a loop on clock64() ends some 40 clocks late or early, as
// much as the smallest delay wanted here.
#pragma once

#include "common.cuh"

// Called by the warp that has just met the others at a barrier, before it lets its block go on. The
// code is of one length whatever the number of rounds, so that only the time differs.
__device__ inline void delay_warp() {
    float link = __uint_as_float(threadIdx.x);
    // gridDim.y is 1, which the compiler does not know: it cannot unroll the loop.
#pragma unroll 1
    for (unsigned left = DELAY_ROUNDS * gridDim.y; left != 0; --left) {
#pragma unroll
        for (int i = 0; i < DELAY_STEPS; ++i) link = __fadd_rn(link, link);
    }
    // Never true of sums of what is not negative, but the compiler needs the chain to know.
    if (link < 0.0f) __trap();
}
