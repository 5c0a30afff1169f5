// One use of each library that comes with CUDA and is emulated; nothing is launched.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

namespace cg = cooperative_groups;

__device__ cuda::atomic<int, cuda::thread_scope_device> total{3};

struct Triple {
    double a, b, c;
};

// By the type of any group, of any tile, of one size of tile.
__device__ int sum_of_group(cg::thread_group group, int* partial, int value) {
    const int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        partial[rank] = value;
        group.sync();
        if (rank < i) value += partial[rank + i];
        group.sync();
    }
    return value;
}
template <typename Group>
__device__ float sum_of_tile(const Group& group, float value) {
    for (int i = group.size() / 2; i > 0; i /= 2) value += group.shfl_down(value, i);
    return value;
}
template <unsigned int N>
__device__ float first_of(cg::thread_block_tile<N> tile, float value) {
    return tile.shfl(value, 0);
}

extern "C" __global__ void groups(float* out, int n) {
    __shared__ int partial[1024];
    __shared__ float copied[64];
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto half = cg::tiled_partition<16>(warp);
    const cg::thread_block_tile<32> any_parent = warp;
    const auto grid = cg::this_grid();
    auto cluster = cg::this_cluster();
    const Triple triple = warp.shfl(Triple{1, 2, 3}, 3);
    float value =
        sum_of_tile(warp, out[0]) + first_of(any_parent, out[1]) + any_parent.shfl_xor(2.0f, 1);
    value +=
        sum_of_group(block, partial, n) + sum_of_group(cg::tiled_partition(block, 8), partial, n);
    value += warp.any(n) + warp.all(n) + half.ballot(n) + warp.match_any(n) + triple.b;
    value += cg::reduce(warp, value, cg::plus<float>()) + cg::reduce(half, n, cg::less<int>());
    value += cg::inclusive_scan(warp, value) + cg::exclusive_scan(warp, n, cg::greater<int>());
    value += warp.meta_group_rank() + half.meta_group_size() + block.thread_rank() + block.size();
    const auto alone = cg::coalesced_threads();
    value += alone.shfl(value, 0) + cg::binary_partition(warp, n > 0).size();
    if (grid.is_valid()) grid.sync();
    cluster.sync();
    value += *cluster.map_shared_rank(&partial[0], cluster.block_rank() ^ 1);
    cluster.barrier_arrive();
    cluster.barrier_wait();
    cg::memcpy_async(block, copied, out, sizeof(float) * 64);
    cg::wait(block);
    cg::sync(warp);
    out[grid.thread_rank()] = value + copied[0] + cluster.num_blocks() + grid.num_threads();
}

extern "C" __global__ void atomics(float* out, unsigned* counter) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> arrived;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        arrived = 0;
    }
    __syncthreads();
    auto token = barrier.arrive();
    barrier.wait(cuda::std::move(token));
    barrier.arrive_and_wait();
    arrived.fetch_add(1, cuda::memory_order_relaxed);
    arrived++;
    arrived += 2;
    arrived.wait(0);
    arrived.notify_all();
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> reference(*counter);
    unsigned expected = 0;
    reference.compare_exchange_strong(expected, 3u, cuda::std::memory_order_acq_rel);
    reference.fetch_max(3u, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<float> sum(*out);
    sum.fetch_add(1.0f);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    cuda::std::atomic<int> own;
    own.store(1);
    total.fetch_sub(1);
    const cuda::std::array<int, 3> three{1, 2, 3};
    const cuda::std::uint32_t two = three[1];
    out[1] = cuda::std::numeric_limits<float>::max() + cuda::std::popcount(two) + total.load();
}

extern "C" __global__ void halves(half* x, __nv_bfloat16* b, half2* pairs, float* out) {
    __shared__ half shared[32];
    shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    half value = shared[31 - threadIdx.x] * x[0] + __float2half(1.5f) - half(2);
    value = __hfma(value, value, __hmax(value, x[1]));
    value += x[2];
    value = __shfl_xor_sync(0xffffffffu, value, 1);
    if (value > x[3] || __hge(value, x[1]) || __hisnan(value)) value = -value;
    pairs[0] = __hadd2(pairs[0], pairs[1]) * __float22half2_rn(make_float2(1.0f, 2.0f));
    pairs[1] = h2exp(pairs[0]);
    out[0] = __half22float2(pairs[1]).x + float(value) + __low2float(pairs[0]) + CUDART_PI_F;
    b[0] = __float2bfloat16(out[0]) * b[1];
    b[1] = __floats2bfloat162_rn(1.0f, 2.0f).x;
    atomicAdd(x, value);
    *x = 1.0f;
    out[1] = __half2int_rn(value) + static_cast<float>(b[2]) + __half_as_ushort(*x);
}
