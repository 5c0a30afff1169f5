// Waiting that ends, and by another argument waiting that never does. A comment marks its line.
#include <cooperative_groups.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

// ---- hand-made barriers of a grid ------------------------------------------------------------

__device__ inline unsigned load(const unsigned* counter) {
    return *static_cast<const volatile unsigned*>(counter);  // the load
}

__device__ inline void leave_token(float* tokens) {
    if (threadIdx.x == 0) tokens[blockIdx.x] = static_cast<float>(blockIdx.x);
    __threadfence();
}

__device__ inline void take_token(const float* tokens, float* y) {
    __syncthreads();  // wait: for thread 0
    if (threadIdx.x == 0) y[blockIdx.x] = tokens[(blockIdx.x + 1) % gridDim.x];
}

extern "C" __global__ void meet_at_least(unsigned* counters, float* tokens, float* y) {
    leave_token(tokens);
    if (threadIdx.x == 0) {
        atomicAdd(counters, 1u);
        while (load(counters) < gridDim.x) {  // wait: meet_at_least
        }
    }
    take_token(tokens, y);  // then: meet_at_least
}

extern "C" __global__ void meet_exactly(unsigned* counters, float* tokens, float* y) {
    leave_token(tokens);
    if (threadIdx.x == 0) {
        atomicAdd(counters, 1u);
        while (load(counters) != gridDim.x) {
        }
    }
    take_token(tokens, y);
}

// Needs no reset, as long as every launch on the counter has the same number of blocks.
extern "C" __global__ void meet_in_rounds(unsigned* counters, float* tokens, float* y) {
    leave_token(tokens);
    if (threadIdx.x == 0) {
        const unsigned target = (atomicAdd(counters, 1u) / gridDim.x + 1) * gridDim.x;
        while (load(counters) < target) {
        }
    }
    take_token(tokens, y);
}

extern "C" __global__ void meet_in_rounds_alone(unsigned* counters) {
    const unsigned target = (atomicAdd(counters, 1u) / gridDim.x + 1) * gridDim.x;
    while (load(counters) < target) {
    }
}

// ---- ways to look at a flag: block 0 waits, the last block sets it if `n` --------------------

__device__ inline bool sets(unsigned* counters, int n) {
    if (blockIdx.x == 0) return false;
    if (n != 0 && blockIdx.x == gridDim.x - 1) atomicExch(counters, 1u);
    return true;
}

extern "C" __global__ void look_by_volatile(unsigned* counters, int n) {
    if (sets(counters, n)) return;
    while (*static_cast<volatile unsigned*>(counters) == 0) {  // wait: look_by_volatile
    }
}

extern "C" __global__ void look_asleep(unsigned* counters, int n) {
    if (sets(counters, n)) return;
    while (*static_cast<volatile unsigned*>(counters) == 0) __nanosleep(100);  // wait: look_asleep
}

extern "C" __global__ void look_by_adding_zero(unsigned* counters, int n) {
    if (sets(counters, n)) return;
    while (atomicAdd(counters, 0u) == 0) {  // wait: look_by_adding_zero
    }
}

extern "C" __global__ void look_by_reference(unsigned* counters, int n) {
    if (sets(counters, n)) return;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(*counters);
    while (flag.load(cuda::memory_order_acquire) == 0) {  // wait: look_by_reference
    }
}

extern "C" __global__ void look_by_exchange(unsigned* counters, int n) {
    if (sets(counters, n)) return;
    while (atomicCAS(counters, 1u, 2u) == 0) {  // wait: look_by_exchange
    }
}

// Looks at one place after another.
extern "C" __global__ void look_at_three(unsigned* counters, int n) {
    if (sets(counters, n)) return;
    while (load(counters) + load(counters + 1) + load(counters + 2) == 0) {  // wait: look_at_three
    }
}

extern "C" __global__ void look_a_thousand_times(unsigned* counters, int* y) {
    int looks = 0;
    while (load(counters) == 0 && looks < 1000) ++looks;
    y[blockIdx.x * blockDim.x + threadIdx.x] = looks;
}

// Every thread of every block in turn; forgets to unlock if `n` is 0.
extern "C" __global__ void lock(unsigned* counters, int n) {
    while (atomicCAS(counters, 0u, 1u) != 0) {  // wait: lock
    }
    volatile unsigned* count = counters + 1;
    *count = *count + 1;
    __threadfence();
    if (n != 0) atomicExch(counters, 0u);
}

// ---- barriers of a block ---------------------------------------------------------------------

extern "C" __global__ void set_behind_barrier(unsigned* counters, int n) {
    if (n != 0 && threadIdx.x == 1) atomicExch(counters, 1u);
    if (threadIdx.x == 0) {
        while (load(counters) == 0) {  // wait: set_behind_barrier
        }
    }
    __syncthreads();  // wait: at the barrier
    if (threadIdx.x == 1) atomicExch(counters, 1u);
}

extern "C" __global__ void lane_elsewhere(unsigned*, int n) {
    if (n == 0 && threadIdx.x == 0) __syncthreads();  // wait: lane 0
    __syncwarp();                                     // wait: its warp
    if (n != 0 || threadIdx.x != 0) __syncthreads();
}

// The first half of the warps waits for `own` threads at barrier `id`, the others for `other`.
extern "C" __global__ void named(unsigned* y, int id, int own, int other) {
    const bool first = threadIdx.x < blockDim.x / 2;
    y[threadIdx.x] = threadIdx.x;
    __barrier_sync_count(id, first ? own : other);  // wait: named
    y[threadIdx.x] += 1;
}

// ---- barriers of a grid and of a cluster -----------------------------------------------------

extern "C" __global__ void sync_grid(float* y, int times) {
    for (int i = 0; i < times; ++i) {
        y[cg::this_grid().thread_rank()] = static_cast<float>(i);
        cg::this_grid().sync();
    }
}

extern "C" __global__ void leave_before_grid(int block) {
    if (blockIdx.x == block) return;
    cg::this_grid().sync();  // wait: leave_before_grid
}

extern "C" __global__ void sync_grid_once_more(int block) {
    cg::this_grid().sync();
    if (blockIdx.x == block) cg::this_grid().sync();  // wait: sync_grid_once_more
}

extern "C" __global__ void sync_cluster(float* y, int times) {
    __shared__ float token;
    const unsigned rank = cg::this_cluster().block_rank();
    for (int i = 0; i < times; ++i) {
        if (threadIdx.x == 0) token = static_cast<float>(100 * rank + i);
        cg::this_cluster().sync();
        y[blockIdx.x] = *cg::this_cluster().map_shared_rank(&token, rank ^ 1);
        cg::this_cluster().sync();
    }
}

extern "C" __global__ void sync_cluster_once_more(int rank) {
    cg::this_cluster().sync();
    if (cg::this_cluster().block_rank() != rank) return;
    cg::this_cluster().sync();
}

// The last half of the blocks waits for the first half to arrive a second time.
extern "C" __global__ void wait_for_cluster(unsigned* counters, int n) {
    if (cg::this_cluster().block_rank() == 0) {
        if (n != 0) atomicExch(counters, 1u);
        while (load(counters) == 0) {
        }
    }
    cg::this_cluster().sync();  // wait: wait_for_cluster
    atomicExch(counters, 1u);
}

// The first warp of each block arrives and leaves; it is not waited for, and counts for no other.
extern "C" __global__ void arrive_and_leave(volatile int* y) {
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 32) {
        cluster.barrier_arrive();
        return;
    }
    for (int i = 0; i < 10; ++i) __nanosleep(100);
    if (cluster.block_rank() == 1 && threadIdx.x == 63) y[0] = 5;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 32) y[1] = y[0];
}

// Block 1 sets the first flag; the second one only where it is to set two.
extern "C" __global__ void wait_twice(volatile unsigned* flags, int set) {
    if (blockIdx.x == 1) {
        flags[0] = 1;
        if (set == 2) flags[1] = 1;
        return;
    }
    while (flags[0] == 0) {
    }
    while (flags[1] == 0) {  // wait: second flag
    }
}

extern "C" __global__ void miscount_cluster(int arrivals) {
    for (int i = 0; i < arrivals; ++i) cg::this_cluster().barrier_arrive();
    cg::this_cluster().barrier_wait();
}
