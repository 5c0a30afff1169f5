// One fault per kernel, made by one value of `n` and avoided by another. A comment marks its line.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// ---- addresses -------------------------------------------------------------------------------

extern "C" __global__ void read_behind(const float* x, float* y, int n) {
    y[threadIdx.x] = x[threadIdx.x + n];  // fault: read_behind
}

extern "C" __global__ void write_behind(const float*, float* y, int n) {
    y[threadIdx.x + n] = 1.0f;  // fault: write_behind
}

extern "C" __global__ void write_before(const float*, float* y, int n) {
    y[static_cast<int>(threadIdx.x) - n] = 1.0f;  // fault: write_before
}

extern "C" __global__ void write_far_away(const float*, float* y, int n) {
    y[threadIdx.x + (static_cast<long long>(n) << 40)] = 1.0f;  // fault: write_far_away
}

extern "C" __global__ void read_null(const float* x, float* y, int n) {
    const float* source = n == 0 ? x : nullptr;
    y[threadIdx.x] = source[threadIdx.x];  // fault: read_null
}

extern "C" __global__ void count_behind(const float*, int* y, int n) {
    y[threadIdx.x] = 1;
    __syncthreads();
    atomicAdd(y + threadIdx.x + n, 1);  // fault: count_behind
}

extern "C" __global__ void add_behind(const float*, float* y, int n) {
    y[threadIdx.x] = 1.0f;
    __syncthreads();
    atomicAdd(y + threadIdx.x + n, 1.0f);  // fault: add_behind
}

extern "C" __global__ void store_vector(const float*, float* y, int n) {
    float* target = y + n;
    *reinterpret_cast<float4*>(target) = make_float4(1, 2, 3, 4);  // fault: store_vector
}

extern "C" __global__ void fill_shared(const float*, float* y, int n) {
    __shared__ float tile[32];
    float* target = tile + n;
    target[threadIdx.x] = 1.0f;  // fault: fill_shared
    y[threadIdx.x] = target[threadIdx.x];
}

extern "C" __global__ void fill_one_of_three(const float*, float* y, int n) {
    __shared__ float neighbour[32], middle[32], other_neighbour[32];
    neighbour[threadIdx.x] = other_neighbour[threadIdx.x] = 2.0f;
    __syncthreads();
    float* target = middle + n;
    target[threadIdx.x] = 1.0f;  // fault: fill_one_of_three
    __syncthreads();
    y[threadIdx.x] = neighbour[threadIdx.x] + target[threadIdx.x] + other_neighbour[threadIdx.x];
}

extern "C" __global__ void index_shared(const float*, float* y, int n) {
    __shared__ float indexed_tile[32];
    indexed_tile[threadIdx.x + n] = 1.0f;  // fault: index_shared
    y[threadIdx.x] = indexed_tile[threadIdx.x + n];
}

extern "C" __global__ void fill_dynamic(const float*, float* y, int n) {
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x + n] = 1.0f;  // fault: fill_dynamic
    y[threadIdx.x] = dynamic[threadIdx.x + n];
}

extern "C" __global__ void index_local(const float* x, float* y, int n) {
    float local[4] = {x[0], x[1], x[2], x[3]};
    y[threadIdx.x] = local[n];  // fault: index_local
}

// ---- clusters --------------------------------------------------------------------------------

extern "C" __global__ void map_peer(const float*, float* y, int n) {
    __shared__ float mapped;
    if (threadIdx.x == 0) mapped = 1.0f;
    cg::this_cluster().sync();
    const float* peer = cg::this_cluster().map_shared_rank(&mapped, n);  // fault: map_peer
    y[threadIdx.x] = *peer;
    cg::this_cluster().sync();
}

// From the peer's shared memory to that of another cluster.
extern "C" __global__ void walk_out_of_cluster(const float*, float* y, int n) {
    __shared__ float walked;
    if (threadIdx.x == 0) walked = 1.0f;
    cg::this_cluster().sync();
    const unsigned peer_rank = cg::this_cluster().block_rank() ^ 1;
    const float* peer = cg::this_cluster().map_shared_rank(&walked, peer_rank);
    y[threadIdx.x] = peer[n];  // fault: walk_out_of_cluster
    cg::this_cluster().sync();
}

extern "C" __global__ void write_to_leaver(const float*, float* y, int n) {
    __shared__ float received;
    cg::cluster_group cluster = cg::this_cluster();
    y[threadIdx.x] = 1.0f;
    cluster.sync();
    if (n != 0 && cluster.block_rank() == 1) return;
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        *cluster.map_shared_rank(&received, 1) = 1.0f;  // fault: write_to_leaver
    }
    cluster.sync();
}

// ---- what nobody wrote -----------------------------------------------------------------------

extern "C" __global__ void add_to_output(const float*, float* y, int n) {
    float value = 1.0f;
    if (n != 0) value += y[threadIdx.x];  // fault: add_to_output
    y[threadIdx.x] = value;
}

extern "C" __global__ void read_shared(const float*, float* y, int n) {
    __shared__ float unset[32];
    if (n == 0) unset[threadIdx.x] = 1.0f;
    y[threadIdx.x] = unset[threadIdx.x];  // fault: read_shared
}

extern "C" __global__ void reverse(const float* x, float* y, int n) {
    __shared__ float reversed[32];
    reversed[threadIdx.x] = x[threadIdx.x];
    if (n == 0) __syncthreads();
    y[threadIdx.x] = reversed[31 - threadIdx.x];  // fault: reverse
}

// ---- barriers and warps ----------------------------------------------------------------------

extern "C" __global__ void split_barrier(const float*, float* y, int n) {
    if (n != 0 && threadIdx.x >= 16) {
        __syncthreads();  // fault: split_barrier
    } else {
        __syncthreads();  // the other barrier
    }
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void split_warp(const float*, float* y, int n) {
    if (threadIdx.x < 16) {
        __syncwarp(n == 0 ? 0x0000ffffu : 0xffffffffu);
    } else {
        __syncwarp(n == 0 ? 0xffff0000u : 0xffffff00u);  // fault: split_warp
    }
    y[threadIdx.x] = 1.0f;
}

// Lanes from `first` on exchange something while the others wait for all.
extern "C" __global__ void exchange_among_some(const float* x, float* y, int first) {
    float mine = x[threadIdx.x];
    if (threadIdx.x >= first) mine = __shfl_xor_sync(0xffffffffu << first, mine, 1);
    __syncwarp();
    y[threadIdx.x] = mine;
}

extern "C" __global__ void mixed_warp(const float*, float* y, int n) {
    if (n != 0 && threadIdx.x >= 16) {
        y[threadIdx.x] = __ballot_sync(0xffffffffu, 1);  // fault: mixed_warp
    } else {
        y[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 0);
    }
}

extern "C" __global__ void shuffle_from(const float* x, float* y, int n) {
    if (threadIdx.x >= 16) return;
    y[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], n);  // fault: shuffle_from
}

extern "C" __global__ void leave_out(const float*, float* y, int n) {
    __syncwarp(n == 0 ? 0xffffffffu : 0xfffffffeu);  // fault: leave_out
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void sync_grid(const float*, float* y, int) {
    cg::this_grid().sync();  // fault: sync_grid
    y[threadIdx.x] = 1.0f;
}

// ---- arithmetic ------------------------------------------------------------------------------

extern "C" __global__ void subtract_integers(const float*, float* y, int n) {
    y[threadIdx.x] = static_cast<float>(-2 - n);  // fault: subtract_integers
}

extern "C" __global__ void multiply_integers(const float*, float* y, int n) {
    y[threadIdx.x] = static_cast<float>(n * 65536);  // fault: multiply_integers
}

extern "C" __global__ void divide_integers(const float*, float* y, int n) {
    y[threadIdx.x] = static_cast<float>(32 / n);  // fault: divide_integers
}

extern "C" __global__ void shift_integer(const float*, float* y, int n) {
    y[threadIdx.x] = static_cast<float>(1u << n);  // fault: shift_integer
}

// ---- the end ---------------------------------------------------------------------------------

extern "C" __global__ void trap(const float*, float* y, int n) {
    if (n != 0 && threadIdx.x == 3) __trap();  // fault: trap
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void assert_below(const float*, float* y, int n) {
    assert(threadIdx.x < n);  // fault: assert_below
    y[threadIdx.x] = 1.0f;
}

// Every call takes a little more than 1 KiB.
__device__ __noinline__ float descend(const float* x, int calls) {
    float mine[256];
    for (int i = 0; i < 256; ++i) mine[i] = x[i % 32] + 1.0f;  // fault: descend
    const float below = calls > 1 ? descend(mine, calls - 1) : 0.0f;
    return below + mine[calls % 256];
}

extern "C" __global__ void descend_far(const float* x, float* y, int n) {
    y[threadIdx.x] = descend(x, n);
}

// ---- what is right ---------------------------------------------------------------------------

extern "C" __global__ void leave_early(const float*, float* y, int n) {
    if (threadIdx.x >= n) return;
    __syncthreads();
    y[threadIdx.x] = 1.0f;
    __syncthreads();
}

extern "C" __global__ void skip_one(const float*, float* y, int n) {
    if (threadIdx.x != n) y[threadIdx.x] = 1.0f;
}

// The sum of x, then the sum of its squares, by way of the same memory.
template <bool BARRIER>
__device__ inline float sum_over_block(float value, float* partials) {
    partials[threadIdx.x] = value;
    __syncthreads();
    float total = 0.0f;
    for (int i = 0; i < 32; ++i) total += partials[i];
    if (BARRIER) __syncthreads();
    return total;
}

template <bool BARRIER>
__device__ inline void sum_twice(const float* x, float* y) {
    __shared__ float partials[32];
    const float value = x[threadIdx.x];
    const float sum = sum_over_block<BARRIER>(value, partials);
    y[threadIdx.x] = sum + sum_over_block<true>(value * value, partials);
}

extern "C" __global__ void two_sums(const float* x, float* y, int) { sum_twice<true>(x, y); }

extern "C" __global__ void two_sums_without_barrier(const float* x, float* y, int) {
    sum_twice<false>(x, y);
}

// ---- constants, and what a fault leaves behind -----------------------------------------------

__constant__ const float constants[2] = {1.0f, 2.0f};

extern "C" __global__ void write_constant(const float*, float* y, int n) {
    y[threadIdx.x] = constants[n];
    if (threadIdx.x == 0) const_cast<float*>(constants)[n] = 3.0f;  // fault: write_constant
}

// The store is not followed up before the fault ends the launch.
extern "C" __global__ void store_and_read(float* y, int from) {
    y[0] = 1.0f;
    y[1] = y[from];
}
