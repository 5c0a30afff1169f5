// Kernels as others write them: nothing here knows of this plugin.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define BINS 256
#define FULL_MASK 0xffffffff

__device__ __forceinline__ int warpInclusiveScan(int value) {
    const int lane = threadIdx.x & (warpSize - 1);
#pragma unroll
    for (int offset = 1; offset < 32; offset <<= 1) {
        const int up = __shfl_up_sync(FULL_MASK, value, offset);
        if (lane >= offset) value += up;
    }
    return value;
}

template <int BLOCK>
__device__ void blockScan(const int* __restrict__ in, int* __restrict__ out, int n) {
    __shared__ int warpSums[BLOCK / 32];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    int value = warpInclusiveScan(i < n ? in[i] : 0);
    if (lane == 31) warpSums[warp] = value;
    __syncthreads();

    if (warp == 0) {
        int sum = lane < BLOCK / 32 ? warpSums[lane] : 0;
        sum = warpInclusiveScan(sum);
        if (lane < BLOCK / 32) warpSums[lane] = sum;
    }
    __syncthreads();

    if (warp > 0) value += warpSums[warp - 1];
    if (i < n) out[i] = value;
}

extern "C" __global__ void __launch_bounds__(512) scan(const int* in, int* out, int n) {
    blockScan<512>(in, out, n);
}

// Blelloch's scan of a power of two, in dynamic shared memory.
extern "C" __global__ void prescan(const float* g_idata, float* g_odata, int n) {
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

extern "C" __global__ void histogram(const unsigned char* data, unsigned int* histo, size_t size) {
    __shared__ unsigned int temp[BINS];
    temp[threadIdx.x] = 0;
    __syncthreads();

    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    const size_t stride = (size_t)blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[data[i]], 1);
        i += stride;
    }
    __syncthreads();
    atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}

extern "C" __global__ void normalizeBySum(const float* __restrict__ x, float* __restrict__ y,
                                          float* total, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);

    if (grid.thread_rank() == 0) *total = 0.0f;
    grid.sync();

    float sum = 0.0f;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) atomicAdd(total, sum);
    cg::sync(grid);

    const float inverse = 1.0f / *total;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] * inverse;
}
