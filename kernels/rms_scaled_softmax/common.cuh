// What all kernels of this operator share: tiles of a row, reductions by scope, the arithmetic.
//
// A row of `columns` floats is cut into contiguous tiles of TILE floats, one block per tile; the
// last tile of a row may be short. Every access is a float4, so columns is a multiple of 4. Names
// say the scope (thread, warp, block, row) and each comment says who holds the result.
#pragma once

constexpr int WARP_THREADS = 32;
constexpr int WARPS_PER_BLOCK = THREADS_PER_BLOCK / WARP_THREADS;
constexpr int VECTOR = 4;
constexpr int VECTORS_PER_THREAD = TILE / (VECTOR * THREADS_PER_BLOCK);

static_assert(THREADS_PER_BLOCK % WARP_THREADS == 0, "a block is made of whole warps");
static_assert(WARPS_PER_BLOCK <= WARP_THREADS, "one warp reduces the partials of all warps");
static_assert((WARPS_PER_BLOCK & (WARPS_PER_BLOCK - 1)) == 0, "which it does by halves");
static_assert(VECTORS_PER_THREAD * VECTOR * THREADS_PER_BLOCK == TILE,
              "a tile gives every thread the same number of float4");

struct alignas(8) Statistics {  // one 8-byte access
    float sum_of_squares;
    float maximum;
};

// Below every number: the maximum of nothing. A function, for no header of NVRTC's has the
// constant.
__device__ inline float negative_infinity() {
    return __int_as_float(static_cast<int>(0xff800000u));
}

struct alignas(8) RowStatistics {
    float inverse_rms;
    float maximum;
};

// ---- place: which part of which row a block owns --------------------------------------------

struct Tile {
    long long row;     // row of x and y
    int index;         // tile within the row
    int columns;       // columns of the row
    int first_column;  // of this tile

    // The first column of this thread's vector `i`, counted in the row. Neighbouring threads have
    // neighbouring vectors, so a warp's access is one contiguous stretch.
    __device__ int column(int i) const {
        return first_column + (i * THREADS_PER_BLOCK + static_cast<int>(threadIdx.x)) * VECTOR;
    }
    __device__ bool owns(int i) const { return column(i) < columns; }
    __device__ long long offset(int i) const { return row * columns + column(i); }
};

// Blocks are numbered row by row; `first_row` is the row of block 0.
__device__ inline Tile block_tile(long long first_row, int columns, int tiles_per_row) {
    const int row_in_launch = blockIdx.x / tiles_per_row;
    const int index = blockIdx.x - row_in_launch * tiles_per_row;
    return {first_row + row_in_launch, index, columns, index * TILE};
}

__device__ inline float4 load(const float* source, long long offset) {
    return *reinterpret_cast<const float4*>(source + offset);
}

// This thread's vectors of a tile. All loads are issued before the first is used: one load in
// flight per thread leaves the L2 idle. Vectors beyond the row are zero, and not to be used.
struct Vectors {
    float4 values[VECTORS_PER_THREAD];
};

__device__ inline Vectors load_vectors(const float* source, Tile tile) {
    Vectors loaded;
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        loaded.values[i] = tile.owns(i) ? load(source, tile.offset(i)) : float4{0, 0, 0, 0};
    }
    return loaded;
}

__device__ inline void store(float* target, long long offset, float4 value) {
    *reinterpret_cast<float4*>(target + offset) = value;
}

// ---- arithmetic ------------------------------------------------------------------------------

__device__ inline float sum(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ inline float maximum(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }

__device__ inline float4 square(float4 v) {
    return make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
}

// The difference is taken before scaling: an infinite maximum or a zero scale then gives NaN
// exactly where the reference gives it.
// __expf, for its largest relative error over 64 random rows is 1.5e-6 against expf's 1.4e-6, which
// is what torch has in float32 (H200, 64 rows: local fusion 33.5 us device time against 33.9).
__device__ inline float exponential(float value, RowStatistics row) {
    return __expf((value - row.maximum) * row.inverse_rms);
}

__device__ inline float4 exponential(float4 v, RowStatistics row) {
    return make_float4(exponential(v.x, row), exponential(v.y, row), exponential(v.z, row),
                       exponential(v.w, row));
}

__device__ inline float4 scaled(float4 v, float factor) {
    return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

// The fast division is within 2 ulp for every denominator met here, and on the path that all blocks
// of a row wait for. With it and the shorter reductions of a block's partials, local fusion went
// from 9.6 to 9.1 us of device time and the row megakernel from 8.1 to 7.9 (H200, 16 rows).
__device__ inline float inverse_rms(float sum_of_squares, int columns, float eps) {
    return rsqrtf(__fdividef(sum_of_squares, static_cast<float>(columns)) + eps);
}

__device__ inline float reciprocal(float value) { return __fdividef(1.0f, value); }

// ---- thread: this thread's share of a tile ---------------------------------------------------

__device__ inline Statistics thread_statistics(const Vectors& x, Tile tile) {
    Statistics mine = {0.0f, negative_infinity()};
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        if (tile.owns(i)) {
            mine = {mine.sum_of_squares + sum(square(x.values[i])),
                    fmaxf(mine.maximum, maximum(x.values[i]))};
        }
    }
    return mine;
}

// ---- warp: each of the first LANES lanes holds the result of the first LANES -----------------

template <int LANES = WARP_THREADS>
__device__ inline float warp_sum(float value) {
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    }
    return value;
}

template <int LANES = WARP_THREADS>
__device__ inline float warp_maximum(float value) {
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    }
    return value;
}

// ---- block: thread 0 holds the result --------------------------------------------------------

// `partials` holds one float per warp. A block may call again with the same memory only after a
// barrier, because warp 0 reads it last.
__device__ inline float block_sum(float value, float* partials) {
    const int warp = threadIdx.x / WARP_THREADS, lane = threadIdx.x % WARP_THREADS;
    value = warp_sum(value);
    if (lane == 0) partials[warp] = value;
    __syncthreads();
    return warp == 0 ? warp_sum<WARPS_PER_BLOCK>(partials[lane % WARPS_PER_BLOCK]) : value;
}

__device__ inline float block_maximum(float value, float* partials) {
    const int warp = threadIdx.x / WARP_THREADS, lane = threadIdx.x % WARP_THREADS;
    value = warp_maximum(value);
    if (lane == 0) partials[warp] = value;
    __syncthreads();
    return warp == 0 ? warp_maximum<WARPS_PER_BLOCK>(partials[lane % WARPS_PER_BLOCK]) : value;
}

__device__ inline Statistics block_statistics(Statistics value, Statistics* partials) {
    const int warp = threadIdx.x / WARP_THREADS, lane = threadIdx.x % WARP_THREADS;
    value = {warp_sum(value.sum_of_squares), warp_maximum(value.maximum)};
    if (lane == 0) partials[warp] = value;
    __syncthreads();
    if (warp != 0) return value;
    value = partials[lane % WARPS_PER_BLOCK];
    return {warp_sum<WARPS_PER_BLOCK>(value.sum_of_squares),
            warp_maximum<WARPS_PER_BLOCK>(value.maximum)};
}

// ---- row: what the tiles of a row make together ----------------------------------------------

// Called by one warp, every lane of which holds the result: 32 tiles are one load per lane. One
// warp per block, and the others wait for it: if all eight warps load, the 256 requests of a row's
// blocks meet at the same two lines of L2. Every block adds in the same order, so all get the same
// bits. The loads go past L1, which may hold what another block has since replaced.
__device__ inline RowStatistics warp_row_statistics(const Statistics* tiles, int tiles_per_row,
                                                    int columns, float eps) {
    Statistics value = {0.0f, negative_infinity()};
#pragma unroll 1
    for (int tile = threadIdx.x % WARP_THREADS; tile < tiles_per_row; tile += WARP_THREADS) {
        const float2 other = __ldcg(reinterpret_cast<const float2*>(tiles + tile));
        value = {value.sum_of_squares + other.x, fmaxf(value.maximum, other.y)};
    }
    return {inverse_rms(warp_sum(value.sum_of_squares), columns, eps), warp_maximum(value.maximum)};
}

__device__ inline float warp_row_sum(const float* tiles, int tiles_per_row) {
    float value = 0.0f;
#pragma unroll 1
    for (int tile = threadIdx.x % WARP_THREADS; tile < tiles_per_row; tile += WARP_THREADS) {
        value += __ldcg(tiles + tile);
    }
    return warp_sum(value);
}

// The same for all threads of the block, through `shared`: warp `by_warp` combines. The caller puts
// a barrier before the first use, one for as many results as it likes.
__device__ inline void share_row_statistics(const Statistics* tiles, int tiles_per_row, int columns,
                                            float eps, RowStatistics* shared, int by_warp = 0) {
    if (threadIdx.x / WARP_THREADS != by_warp) return;
    const RowStatistics row = warp_row_statistics(tiles, tiles_per_row, columns, eps);
    if (threadIdx.x % WARP_THREADS == 0) *shared = row;
}

__device__ inline void share_inverse_row_sum(const float* tiles, int tiles_per_row, float* shared,
                                             int by_warp = 0) {
    if (threadIdx.x / WARP_THREADS != by_warp) return;
    const float total = warp_row_sum(tiles, tiles_per_row);
    if (threadIdx.x % WARP_THREADS == 0) *shared = reciprocal(total);
}
