// The megakernel with row-scoped barriers: all three phases in one launch, the tile kept in shared
// memory, and each row free to run ahead of the others.
#include "retained_tile.cuh"
#include "row_barrier.cuh"

extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK, BLOCKS_PER_SM)
    megakernel_row(const float* x, float* y, Statistics* statistics, float* sums,
                   unsigned* counters, long long first_row, int columns, int tiles_per_row,
                   float eps) {
    extern __shared__ float4 tile_memory[];
    __shared__ Statistics partial_statistics[WARPS_PER_BLOCK];
    __shared__ float partial_sums[WARPS_PER_BLOCK];
    __shared__ RowStatistics row;
    __shared__ float inverse_sum;
    float* tile = reinterpret_cast<float*>(tile_memory);
    const Tile place = block_tile(first_row, columns, tiles_per_row);
    const int row_in_launch = blockIdx.x / tiles_per_row;
    const int first_tile = row_in_launch * tiles_per_row;
    const RowBarrier barrier = {counters + 2 * COUNTER_STRIDE * row_in_launch,
                                static_cast<unsigned>(tiles_per_row), place.index == 0};

    const Statistics mine = block_statistics(keep_tile(x, place, tile), partial_statistics);
    if (threadIdx.x == 0) statistics[blockIdx.x] = mine;
    if (threadIdx.x < WARP_THREADS) row_barrier(barrier, 0);
    share_row_statistics(statistics + first_tile, tiles_per_row, columns, eps, &row);
    __syncthreads();

    const float total = block_sum(keep_exponentials(row, place, tile), partial_sums);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
    if (threadIdx.x < WARP_THREADS) row_barrier(barrier, 1);
    share_inverse_row_sum(sums + first_tile, tiles_per_row, &inverse_sum);
    __syncthreads();

    write_quotients(inverse_sum, place, tile, y);
}
