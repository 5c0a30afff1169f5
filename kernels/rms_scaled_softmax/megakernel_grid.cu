// The megakernel with grid-wide barriers, and run-time switches that undo its retention.
//
// The switches ask what keeping a tile in shared memory is worth: with them on, the same compiled
// kernel (same tile, registers, shared memory, launches) copies x into the tile a second time, or
// sends the exponentials through global memory and back. Both controls end in a block barrier, as
// a copy by any thread mapping would need.

// Without libcu++, which a grid barrier does not need: a compile takes 0.33 s instead of 1.65.
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>

#include "retained_tile.cuh"

// Copies this block's part of `source` into the tile.
__device__ inline void reload_tile(const float* source, Tile place, float* tile) {
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (place.owns(i))
            retained(tile, i) = __ldcg(reinterpret_cast<const float4*>(source + place.offset(i)));
    }
    __syncthreads();
}

// Copies the tile into this block's part of `target`.
__device__ inline void spill_tile(float* target, Tile place, float* tile) {
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (place.owns(i)) store(target, place.offset(i), retained(tile, i));
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK, BLOCKS_PER_SM)
    megakernel_grid(const float* x, float* y, Statistics* statistics, float* sums, float* spilled,
                    long long first_row, int columns, int tiles_per_row, float eps,
                    int reload_input, int reload_exponentials) {
    extern __shared__ float4 tile_memory[];
    __shared__ Statistics partial_statistics[WARPS_PER_BLOCK];
    __shared__ float partial_sums[WARPS_PER_BLOCK];
    __shared__ RowStatistics row;
    __shared__ float inverse_sum;
    float* tile = reinterpret_cast<float*>(tile_memory);
    const Tile place = block_tile(first_row, columns, tiles_per_row);
    const int first_tile = blockIdx.x - place.index;

    const Statistics mine = block_statistics(keep_tile(x, place, tile), partial_statistics);
    if (threadIdx.x == 0) statistics[blockIdx.x] = mine;
    cooperative_groups::this_grid().sync();

    if (reload_input) reload_tile(x, place, tile);
    share_row_statistics(statistics + first_tile, tiles_per_row, columns, eps, &row);
    __syncthreads();
    const float total = block_sum(keep_exponentials(row, place, tile), partial_sums);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
    if (reload_exponentials) spill_tile(spilled, place, tile);
    cooperative_groups::this_grid().sync();

    if (reload_exponentials) reload_tile(spilled, place, tile);
    share_inverse_row_sum(sums + first_tile, tiles_per_row, &inverse_sum);
    __syncthreads();
    write_quotients(inverse_sum, place, tile, y);
}
