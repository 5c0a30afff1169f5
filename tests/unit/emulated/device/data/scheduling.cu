// Kernels that tell in which order, and beside whom, their threads and blocks have run.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// ---- order -----------------------------------------------------------------------------------

extern "C" __global__ void order_of_blocks(unsigned* counters, int* y) {
    if (threadIdx.x == 0) y[atomicAdd(counters, 1u)] = blockIdx.x;
}

extern "C" __global__ void order_of_threads(unsigned* counters, int* y) {
    y[atomicAdd(counters, 1u)] = threadIdx.x;
}

// ---- residence -------------------------------------------------------------------------------

// Blocks that are under way, and the most of them that ever were.
extern "C" __global__ void count_residents(unsigned* counters, int* y) {
    if (threadIdx.x == 0) atomicMax(counters + 1, atomicAdd(counters, 1u) + 1);
    __syncthreads();
    for (int i = 0; i < 4; ++i) __nanosleep(100);
    y[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) atomicSub(counters, 1u);
}

// Each block waits for the one that is `distance` from it, where there is one.
extern "C" __global__ void wait_for_neighbour(unsigned* counters, int distance) {
    const int other = static_cast<int>(blockIdx.x) + distance;
    const bool has_other = other >= 0 && other < static_cast<int>(gridDim.x);
    if (threadIdx.x == 0 && has_other) {
        while (atomicAdd(counters + other, 0u) == 0) {
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(counters + blockIdx.x, 1u);
}

extern "C" __global__ void meet_cluster(int* y) {
    cg::this_cluster().sync();
    y[blockIdx.x] = cg::this_cluster().block_rank();
}

extern "C" __global__ void tell_grid(int* y) {
    if (threadIdx.x == 0) y[blockIdx.x] = gridDim.x;
}

// ---- threads ---------------------------------------------------------------------------------

extern "C" __global__ void count_lanes(int* y) {
    y[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, 1));
}

extern "C" __global__ void sum_threads(int* y) {
    __shared__ int numbers[1024];
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) numbers[threadIdx.x] += numbers[threadIdx.x + half];
        __syncthreads();
    }
    y[threadIdx.x] = numbers[0];
}

// ---- shared memory ---------------------------------------------------------------------------

extern "C" __global__ void keep_shared(int* y) {
    __shared__ int fixed[32];
    extern __shared__ int sized[];
    const int own = blockIdx.x * 1000 + threadIdx.x;
    fixed[threadIdx.x] = own;
    sized[threadIdx.x] = 2 * own;
    for (int i = 0; i < 3; ++i) {
        cg::this_grid().sync();
        fixed[threadIdx.x] += 1;
    }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = fixed[31 - threadIdx.x] + sized[31 - threadIdx.x];
}

extern "C" __global__ void leave_shared_unset(int* y, int from_block) {
    __shared__ int left[32];
    if (blockIdx.x < from_block) left[threadIdx.x] = 1;
    y[blockIdx.x * blockDim.x + threadIdx.x] = left[threadIdx.x];
}

extern "C" __global__ void share_by_two_names(int* y) {
    extern __shared__ float as_float[];
    extern __shared__ int as_int[];
    as_float[threadIdx.x] = 1.0f;
    y[threadIdx.x] = as_int[threadIdx.x];
}

extern "C" __global__ void share_vectors(int* y) {
    extern __shared__ float4 vectors[];
    vectors[threadIdx.x] = make_float4(1, 2, 3, static_cast<float>(threadIdx.x));
    y[threadIdx.x] = static_cast<int>(vectors[threadIdx.x].w);
}

// Each instantiation has memory of its own.
template <int NUMBER>
__device__ int* memory_of() {
    __shared__ int memory[32];
    memory[threadIdx.x] = NUMBER;
    return memory;
}

extern "C" __global__ void share_in_templates(int* y) {
    const int *one = memory_of<1>(), *twenty = memory_of<20>();
    y[threadIdx.x] = one[threadIdx.x] + twenty[threadIdx.x];
}

// ---- the module's own memory -----------------------------------------------------------------

__device__ int launches = 0;
__constant__ int table[4] = {2, 3, 5, 7};

extern "C" __global__ void count_launches(int* y) {
    if (threadIdx.x == 0) y[0] = atomicAdd(&launches, 1);
}

extern "C" __global__ void read_table(int* y) { y[threadIdx.x] = table[threadIdx.x % 4]; }

// A float and an integer that lie at the same place: the device reads what was written last.
__device__ __noinline__ float write_both(float* as_float, int* as_int) {
    as_float[0] = 1;
    as_int[0] = 0x40a00000;
    return as_float[0];
}

extern "C" __global__ void write_one_place_by_two_types(float* y) {
    y[1] = write_both(y, reinterpret_cast<int*>(y));
}
