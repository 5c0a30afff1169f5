// The unfused baseline: nine kernels, each one elementary step with its result in global memory.
//
// What the fusions start from, deliberately untuned. Every kernel but the three that finish a row
// runs one block per tile; those three run one block per row.
#include "common.cuh"

// 1: x^2
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    square_elements(const float* x, float* squares, int columns, int tiles_per_row) {
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(x, tile);
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) store(squares, tile.offset(i), square(loaded.values[i]));
    }
}

// 2 and 7: the sum of each tile, of squares or of exponentials
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    tile_sums(const float* values, float* sums, int columns, int tiles_per_row) {
    __shared__ float partials[WARPS_PER_BLOCK];
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(values, tile);
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) total += sum(loaded.values[i]);
    }
    total = block_sum(total, partials);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// 3: the inverse root mean square of each row
extern "C" __global__ void __launch_bounds__(WARP_THREADS)
    row_inverse_rms(const float* sums, float* inverse, int columns, int tiles_per_row, float eps) {
    const long long row = blockIdx.x;
    const float total = warp_row_sum(sums + row * tiles_per_row, tiles_per_row);
    if (threadIdx.x == 0) inverse[row] = inverse_rms(total, columns, eps);
}

// 4: the maximum of each tile
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    tile_maxima(const float* x, float* maxima, int columns, int tiles_per_row) {
    __shared__ float partials[WARPS_PER_BLOCK];
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(x, tile);
    float largest = negative_infinity();
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) largest = fmaxf(largest, maximum(loaded.values[i]));
    }
    largest = block_maximum(largest, partials);
    if (threadIdx.x == 0) maxima[blockIdx.x] = largest;
}

// 5: the maximum of each row
extern "C" __global__ void __launch_bounds__(WARP_THREADS)
    row_maxima(const float* tiles, float* maxima, int tiles_per_row) {
    const long long row = blockIdx.x;
    float largest = negative_infinity();
#pragma unroll 1
    for (int tile = threadIdx.x; tile < tiles_per_row; tile += WARP_THREADS) {
        largest = fmaxf(largest, tiles[row * tiles_per_row + tile]);
    }
    largest = warp_maximum(largest);
    if (threadIdx.x == 0) maxima[row] = largest;
}

// 6: the exponentials
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    exponentials(const float* x, const float* inverse, const float* maxima, float* values,
                 int columns, int tiles_per_row) {
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(x, tile);
    const RowStatistics row = {inverse[tile.row], maxima[tile.row]};
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) store(values, tile.offset(i), exponential(loaded.values[i], row));
    }
}

// 8: the sum of exponentials of each row
extern "C" __global__ void __launch_bounds__(WARP_THREADS)
    row_sums(const float* tiles, float* sums, int tiles_per_row) {
    const long long row = blockIdx.x;
    const float total = warp_row_sum(tiles + row * tiles_per_row, tiles_per_row);
    if (threadIdx.x == 0) sums[row] = total;
}

// 9: the quotient
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    normalize(const float* values, const float* sums, float* y, int columns, int tiles_per_row) {
    const Tile tile = block_tile(0, columns, tiles_per_row);
    const Vectors loaded = load_vectors(values, tile);
    const float inverse_sum = reciprocal(sums[tile.row]);
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) store(y, tile.offset(i), scaled(loaded.values[i], inverse_sum));
    }
}
