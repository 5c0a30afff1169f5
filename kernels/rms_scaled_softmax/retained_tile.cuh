// The three phases of a block that keeps its tile in shared memory, without the barriers between.
//
// A thread only ever touches its own vectors of the tile, so the tile itself needs no block
// barrier; only the reductions have one.
#pragma once

#include "common.cuh"

// Where this thread's vector `i` lies in the block's tile of TILE floats.
__device__ inline float4& retained(float* tile, int i) {
    return reinterpret_cast<float4*>(tile)[i * THREADS_PER_BLOCK + threadIdx.x];
}

// Phase 1: read x once, keep it, and return this thread's share of the tile's statistics.
__device__ inline Statistics keep_tile(const float* x, Tile place, float* tile) {
    const Vectors loaded = load_vectors(x, place);
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) retained(tile, i) = loaded.values[i];
    return thread_statistics(loaded, place);
}

// Phase 2: overwrite the tile by its exponentials and return this thread's share of their sum.
__device__ inline float keep_exponentials(RowStatistics row, Tile place, float* tile) {
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (place.owns(i)) {
            const float4 value = exponential(retained(tile, i), row);
            retained(tile, i) = value;
            total += sum(value);
        }
    }
    return total;
}

// Phase 3: write the retained exponentials over their sum.
__device__ inline void write_quotients(float inverse_sum, Tile place, float* tile, float* y) {
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (place.owns(i)) {
            store(y, place.offset(i), scaled(retained(tile, i), inverse_sum));
        }
    }
}
