// Sums, maxima and norms of rows, in the ways in which they are written everywhere. `mutant`
// chooses a classic mistake; 0 is the kernel as it should be.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <math_constants.h>

namespace cg = cooperative_groups;

#define FULL_MASK 0xffffffffu

// ---- a block ---------------------------------------------------------------------------------

// Interleaved addresses with a divergent branch: the first of the steps.
extern "C" __global__ void reduce0(const int* g_idata, int* g_odata, int mutant) {
    extern __shared__ int sdata[];
    const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = g_idata[i];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
        if (mutant != 1) __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// Sequential addresses, the first addition on load, the last warp on its own.
extern "C" __global__ void reduceSyncwarp(const int* g_idata, int* g_odata, int n, int mutant) {
    extern __shared__ int sdata[];
    const unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    int sum = i < n ? g_idata[i] : 0;
    if (i + blockDim.x < n) sum += g_idata[i + blockDim.x];
    sdata[tid] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) sdata[tid] = sum = sum + sdata[tid + s];
        __syncthreads();
    }
    for (unsigned s = 32; tid < 32 && s > 0; s >>= 1) {
        sum += sdata[tid + s];
        if (mutant != 1) __syncwarp();
        sdata[tid] = sum;
        if (mutant != 2) __syncwarp();
    }
    if (tid == 0) g_odata[blockIdx.x] = sum;
}

// As it was before Volta: the lanes of a warp were thought to go step by step.
__device__ void warpReduceVolatile(volatile int* sdata, int tid) {
    sdata[tid] += sdata[tid + 32];
    sdata[tid] += sdata[tid + 16];
    sdata[tid] += sdata[tid + 8];
    sdata[tid] += sdata[tid + 4];
    sdata[tid] += sdata[tid + 2];
    sdata[tid] += sdata[tid + 1];
}

extern "C" __global__ void reduceVolatile(const int* g_idata, int* g_odata) {
    __shared__ int sdata[64];
    sdata[threadIdx.x] = g_idata[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) warpReduceVolatile(sdata, threadIdx.x);
    if (threadIdx.x == 0) g_odata[blockIdx.x] = sdata[0];
}

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(FULL_MASK, val, offset);
    return val;
}

// Called twice, it needs the barrier in front.
template <int BLOCK>
__device__ float blockReduceSum(float val, int mutant) {
    __shared__ float partial[BLOCK / 32];
    const int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    val = warpReduceSum(val);
    if (mutant != 1) __syncthreads();
    if (lane == 0) partial[wid] = val;
    if (mutant != 2) __syncthreads();
    val = threadIdx.x < BLOCK / warpSize ? partial[lane] : 0.0f;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

extern "C" __global__ void deviceReduceTwice(const float* in, float* out, int n, int mutant) {
    float sum = 0.0f, squares = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        sum += in[i];
        squares += in[i] * in[i];
    }
    sum = blockReduceSum<256>(sum, mutant);
    squares = blockReduceSum<256>(squares, mutant);
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = sum;
        out[2 * blockIdx.x + 1] = squares;
    }
}

// Sums of eight neighbours, by shuffles within segments of a warp.
extern "C" __global__ void sumsOfEight(const int* in, int* out, int mutant) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = 4; d > 0; d >>= 1) v += __shfl_down_sync(FULL_MASK, v, d, mutant == 1 ? 16 : 8);
    if (threadIdx.x % 8 == (mutant == 1 ? 4 : 0)) out[i / 8] = v;
}

// ---- the whole grid --------------------------------------------------------------------------

// The last block to take a ticket adds what all have left, and leaves the counter as it was.
extern "C" __global__ void reduceSinglePass(const float* in, float* out, unsigned* state, int n,
                                            int mutant) {
    __shared__ float sums[128];
    __shared__ bool amLast;
    unsigned* ticket = state;
    float* partials = reinterpret_cast<float*>(state + 1);
    float sum = 0.0f;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 128 * gridDim.x) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        if (mutant != 3) partials[blockIdx.x] = sums[0];
        __threadfence();
        // The limit brings the counter back to zero; one too many does not.
        const unsigned limit = mutant == 1 ? gridDim.x : gridDim.x - 1;
        amLast = atomicInc(ticket, limit) == gridDim.x - 1;
        if (mutant == 3) partials[blockIdx.x] = sums[0];
    }
    if (mutant != 2) __syncthreads();
    if (!amLast) return;
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int i = 0; i < gridDim.x; ++i) total += partials[i];
        *out = total;
    }
}

// A sum of all blocks of a cluster, by way of the first one's shared memory.
extern "C" __global__ void clusterSum(const int* in, int* out, int mutant) {
    __shared__ int total, perBlock;
    cg::cluster_group cluster = cg::this_cluster();
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    if (block.thread_rank() == 0) total = perBlock = 0;
    if (mutant == 1)
        block.sync();
    else
        cluster.sync();
    const int sum = cg::reduce(warp, in[cg::this_grid().thread_rank()], cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(&perBlock, sum);
    block.sync();
    if (block.thread_rank() == 0) atomicAdd(cluster.map_shared_rank(&total, 0), perBlock);
    cluster.sync();
    if (block.thread_rank() == 0) out[blockIdx.x] = *cluster.map_shared_rank(&total, 0);
    if (mutant != 2) cluster.sync();
}

// ---- tiles -----------------------------------------------------------------------------------

extern "C" __global__ void tilesOfEight(const int* in, int* sums, int* largest, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    const int i = blockIdx.x * block.size() + block.thread_rank();
    const int v = i < n ? in[i] : 0;
    int sum = v;
    for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
    sum = tile.shfl(sum, 0);
    int most = v;
    for (int d = 1; d < tile.num_threads(); d *= 2) most = max(most, tile.shfl_xor(most, d));
    const int group = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (tile.thread_rank() == 7) sums[group] = sum + tile.any(0);
    if (tile.thread_rank() == 0) atomicMax(&largest[0], most);
}

// One lane adds for all that have come along.
__device__ int atomicAggInc(unsigned* ctr) {
    cg::coalesced_group active = cg::coalesced_threads();
    unsigned first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(ctr, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}

__device__ int atomicAggIncByMask(unsigned* ctr) {
    const unsigned mask = __activemask(), lane = threadIdx.x & 31;
    const int leader = __ffs(mask) - 1;
    unsigned first = 0;
    if (lane == leader) first = atomicAdd(ctr, __popc(mask));
    first = __shfl_sync(mask, first, leader);
    return first + __popc(mask & ((1u << lane) - 1));
}

// The positive ones, in any order: ones in `out` where there is one.
extern "C" __global__ void filterPositive(const int* in, int* out, unsigned* counters, int n,
                                          int mutant) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = 0;
    }
    cg::this_grid().sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (in[i] <= 0) continue;
        if (mutant == 1)
            out[counters[0]++] = 1;
        else
            out[i % 2 ? atomicAggInc(&counters[0]) : atomicAggIncByMask(&counters[0])] = 1;
    }
}

// ---- rows ------------------------------------------------------------------------------------

struct MD {
    float m, d;
};

__device__ __forceinline__ MD combine(MD a, MD b) {
    const MD big = a.m > b.m ? a : b, small = a.m > b.m ? b : a;
    if (small.m == -CUDART_INF_F) return big;
    return {big.m, big.d + small.d * __expf(small.m - big.m)};
}

extern "C" __global__ void onlineSoftmax(const float* __restrict__ x, float* __restrict__ y, int V,
                                         int mutant) {
    __shared__ MD perWarp[4];
    __shared__ MD total;
    x += (size_t)blockIdx.x * V;
    y += (size_t)blockIdx.x * V;
    MD partial = {-CUDART_INF_F, 0.0f};
    for (int i = threadIdx.x; i < V; i += blockDim.x) partial = combine(partial, {x[i], 1.0f});
    for (int d = 16; d > 0; d >>= 1) {
        partial = combine(partial, {__shfl_xor_sync(FULL_MASK, partial.m, d),
                                    __shfl_xor_sync(FULL_MASK, partial.d, d)});
    }
    if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = partial;
    if (mutant != 1) __syncthreads();
    if (threadIdx.x == 0) {
        MD all = perWarp[0];
        for (int w = 1; w < blockDim.x / 32; ++w) all = combine(all, perWarp[w]);
        total = all;
    }
    if (mutant != 2) __syncthreads();
    for (int i = threadIdx.x; i < V; i += blockDim.x) y[i] = __expf(x[i] - total.m) / total.d;
}

struct WelfordData {
    float mean, m2, count;
};

// Chan's merge of two; either may be empty.
__device__ WelfordData welfordCombine(WelfordData a, WelfordData b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;
    const float delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

// A warp per row.
extern "C" __global__ void layerNormWelford(const float* x, const float* gamma, const float* beta,
                                            float* y, int rows, int cols, float eps, int mutant) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows && mutant != 2) return;
    const float* in = x + row * cols;
    WelfordData mine = {0.0f, 0.0f, 0.0f};
    for (int i = lane; i < cols; i += 32) mine = welfordCombine(mine, {in[i], 0.0f, 1.0f});
    for (int d = 16; d > 0; d >>= 1) {
        WelfordData other;
        other.mean = __shfl_down_sync(FULL_MASK, mine.mean, d);
        other.m2 = __shfl_down_sync(FULL_MASK, mine.m2, d);
        other.count = __shfl_down_sync(FULL_MASK, mine.count, d);
        mine = welfordCombine(mine, other);
    }
    // Lane 0 alone has the row's.
    const float mean = mutant == 1 ? mine.mean : __shfl_sync(FULL_MASK, mine.mean, 0);
    const float m2 = __shfl_sync(FULL_MASK, mine.m2, 0);
    const float rstd = rsqrtf(m2 / cols + eps);
    for (int i = lane; i < cols; i += 32)
        y[row * cols + i] = (in[i] - mean) * rstd * __ldg(gamma + i) + __ldg(beta + i);
}

// Pairs of halves by their address, sums in float; the columns are even.
extern "C" __global__ void rmsNormHalf(const half* __restrict__ x, const half* __restrict__ w,
                                       half* __restrict__ y, int cols, float eps) {
    __shared__ float inverse;
    const half2* x2 = reinterpret_cast<const half2*>(x + (size_t)blockIdx.x * cols);
    const half2* w2 = reinterpret_cast<const half2*>(w);
    half2* y2 = reinterpret_cast<half2*>(y + (size_t)blockIdx.x * cols);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
        const float2 v = __half22float2(x2[i]);
        sum = fmaf(v.x, v.x, fmaf(v.y, v.y, sum));
    }
    sum = blockReduceSum<128>(sum, 0);
    if (threadIdx.x == 0) inverse = rsqrtf(sum / cols + eps);
    __syncthreads();
    const half2 scale = __float2half2_rn(inverse);
    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x)
        y2[i] = __hmul2(__hmul2(x2[i], scale), w2[i]);
}
