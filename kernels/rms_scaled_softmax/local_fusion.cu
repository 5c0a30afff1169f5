// Local fusion: three kernels, one per phase, with only small statistics between them.
//
// x^2 and the exponentials never reach global memory; the price is that x is read three times and
// the exponentials are computed twice. Stream order is the only synchronization.
#include "common.cuh"

// In phase 3 two warps combine at the same time: the first the statistics, this one the sums.
constexpr int LAST_WARP = WARPS_PER_BLOCK - 1;

// Phase 1: the sum of squares and the maximum of each tile.
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    tile_statistics(const float* x, Statistics* statistics, int columns, int tiles_per_row) {
    __shared__ Statistics partials[WARPS_PER_BLOCK];
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Statistics mine =
        block_statistics(thread_statistics(load_vectors(x, tile), tile), partials);
    if (threadIdx.x == 0) statistics[blockIdx.x] = mine;
}

// Phase 2: the row's statistics from its tiles, then the sum of each tile's exponentials.
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    exponential_sums(const float* x, const Statistics* statistics, float* sums, int columns,
                     int tiles_per_row, float eps) {
    __shared__ float partials[WARPS_PER_BLOCK];
    __shared__ RowStatistics row;
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(x, tile);
    share_row_statistics(statistics + tile.row * tiles_per_row, tiles_per_row, columns, eps, &row);
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) total += sum(exponential(loaded.values[i], row));
    }
    total = block_sum(total, partials);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Phase 3: the denominator from the row's tiles, then the exponentials again and the quotient.
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    normalize(const float* x, const Statistics* statistics, const float* sums, float* y,
              int columns, int tiles_per_row, float eps) {
    __shared__ RowStatistics row;
    __shared__ float inverse_sum;
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(x, tile);
    const long long first = tile.row * tiles_per_row;
    share_row_statistics(statistics + first, tiles_per_row, columns, eps, &row);
    share_inverse_row_sum(sums + first, tiles_per_row, &inverse_sum, LAST_WARP);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) {
            store(y, tile.offset(i), scaled(exponential(loaded.values[i], row), inverse_sum));
        }
    }
}
