// Who waits for whom, as it is written everywhere. `mutant` chooses a classic mistake.
#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;

#define FULL_MASK 0xffffffffu

// ---- scans that look back --------------------------------------------------------------------

enum : unsigned { INVALID = 0, AGGREGATE = 1, PREFIX = 2 };

// A sum over the threads of a block, and what comes before each of them.
__device__ int blockInclusiveScan(int v, int* warpSums) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int d = 1; d < 32; d <<= 1) {
        const int up = __shfl_up_sync(FULL_MASK, v, d);
        if (lane >= d) v += up;
    }
    if (lane == 31) warpSums[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; ++w) v += warpSums[w];
    return v;
}

// Tiles go by tickets and not by block numbers. Flags are volatile words beside the values.
extern "C" __global__ void lookbackVolatile(const int* in, int* out, unsigned* state, int n,
                                            int mutant) {
    __shared__ int warpSums[4];
    __shared__ int exclusive;
    __shared__ int tile;
    volatile unsigned* flags = state + 1;
    int* aggregates = (int*)(state + 1 + gridDim.x);
    int* prefixes = (int*)(state + 1 + 2 * gridDim.x);

    if (threadIdx.x == 0) tile = atomicAdd(state, 1);
    __syncthreads();
    const int i = tile * blockDim.x + threadIdx.x;
    const int sum = blockInclusiveScan(i < n ? in[i] : 0, warpSums);

    if (threadIdx.x == blockDim.x - 1) {
        aggregates[tile] = sum;
        __threadfence();
        flags[tile] = AGGREGATE;
        int before = 0;
        for (int look = tile - 1; look >= 0;) {
            unsigned flag;
            while ((flag = flags[look]) == INVALID) {
            }
            __threadfence();
            before += __ldcg(flag == PREFIX ? &prefixes[look] : &aggregates[look]);
            if (flag == PREFIX) break;
            --look;
        }
        if (mutant == 1) flags[tile] = PREFIX;
        prefixes[tile] = before + sum;
        __threadfence();
        if (mutant != 1) flags[tile] = PREFIX;
        exclusive = before;
    }
    __syncthreads();
    if (i < n) out[i] = exclusive + sum;
}

extern "C" __global__ void lookbackAtomicRef(const int* in, int* out, unsigned long long* state,
                                             int n, int mutant) {
    using Status = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
    __shared__ int warpSums[4], exclusive;
    __shared__ unsigned tile;
    if (threadIdx.x == 0) tile = Status(state[0]).fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    const int i = tile * blockDim.x + threadIdx.x;
    const int sum = blockInclusiveScan(i < n ? in[i] : 0, warpSums);
    if (threadIdx.x == blockDim.x - 1) {
        const auto packed = [](unsigned flag, int v) {
            return (unsigned long long)flag << 32 | (unsigned)v;
        };
        Status own(state[1 + tile]);
        own.store(packed(tile == 0 ? PREFIX : AGGREGATE, sum), cuda::memory_order_release);
        int before = 0;
        for (int look = (int)tile - 1; look >= 0; --look) {
            Status other(state[1 + look]);
            unsigned long long seen;
            do {
                seen = other.load(cuda::memory_order_acquire);
            } while (seen >> 32 == INVALID);
            before += (int)(unsigned)seen;
            if (seen >> 32 == PREFIX && mutant != 1) break;
        }
        own.store(packed(PREFIX, before + sum), cuda::memory_order_release);
        exclusive = before;
    }
    if (mutant != 2) __syncthreads();
    if (i < n) out[i] = exclusive + sum;
}

// ---- work ------------------------------------------------------------------------------------

// Blocks that stay, and take one piece of work after another.
extern "C" __global__ void workQueue(const int* in, int* out, unsigned* counters, int items,
                                     int mutant) {
    __shared__ unsigned item;
    for (;;) {
        if (mutant != 1) __syncthreads();
        if (threadIdx.x == 0) item = atomicAdd(&counters[0], 1);
        if (mutant != 2) __syncthreads();
        if (mutant == 3 ? item > items : item >= items) return;
        const int i = item * blockDim.x + threadIdx.x;
        out[i] = in[i] * in[i];
    }
}

#ifdef RMSPERF_EMULATED
__device__ inline void barSync(int id, int threads) { __barrier_sync_count(id, threads); }
__device__ inline void barArrive(int id, int threads) {
    rmsperf::rmsperf_named_arrive(id, threads, rmsperf::here());
}
#else
__device__ inline void barSync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void barArrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
#endif

// One warp fills two buffers in turn, the other three empty them, by four named barriers.
extern "C" __global__ void producerConsumer(const int* in, int* out, int rounds, int mutant) {
    __shared__ int buffer[2][96];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int r = 0; r < rounds; ++r) {
        const int b = r & 1, full = 1 + b, empty = 3 + b;
        if (warp == 0) {
            if (r >= 2 && mutant != 1) barSync(empty, 128);
            for (int i = lane; i < 96; i += 32) buffer[b][i] = in[r * 96 + i];
            barArrive(full, 128);
        } else {
            barSync(full, mutant == 2 ? 96 : 128);
            const int i = threadIdx.x - 32;
            out[r * 96 + i] = 2 * buffer[b][95 - i];
            if (r + 2 < rounds && mutant != 1) barArrive(empty, 128);
        }
    }
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;

// The same by barriers in shared memory.
extern "C" __global__ void barrierPipeline(const int* in, int* out, int rounds, int mutant) {
    __shared__ Barrier ready[2], filled[2];
    __shared__ int buffer[2][64];
    if (threadIdx.x < 2) {
        init(&ready[threadIdx.x], blockDim.x);
        init(&filled[threadIdx.x], mutant == 3 ? blockDim.x + 1 : blockDim.x);
    }
    if (mutant != 2) __syncthreads();
    if (threadIdx.x < 64) {
        for (int r = 0; r < rounds; ++r) {
            if (mutant != 1) ready[r & 1].arrive_and_wait();
            buffer[r & 1][threadIdx.x] = in[r * 64 + threadIdx.x];
            (void)filled[r & 1].arrive();
        }
    } else {
        for (int b = 0; b < 2; ++b) (void)ready[b].arrive();
        for (int r = 0; r < rounds; ++r) {
            filled[r & 1].arrive_and_wait();
            out[r * 64 + threadIdx.x - 64] = buffer[r & 1][127 - threadIdx.x] + 1;
            if (r + 2 < rounds) (void)ready[r & 1].arrive();
        }
    }
}

// ---- locks -----------------------------------------------------------------------------------

// One thread of a block holds the lock, and the block works on what it guards.
extern "C" __global__ void mutexPerBlock(int* total, int* counters, int rounds, int mutant) {
    int* lock = counters;
    int* guarded = counters + 1;
    for (int r = 0; r < rounds; ++r) {
        if (threadIdx.x == 0) {
            while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
            __threadfence();
        }
        if (mutant != 1) __syncthreads();
        guarded[threadIdx.x] += blockIdx.x + 1;
        if (mutant != 2) __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            if (mutant != 3 || blockIdx.x != 1) atomicExch(lock, 0);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *total = 1;
}

// Lanes of one warp, each for itself: since Volta they get there, unless they meet inside.
extern "C" __global__ void lockPerThread(int* total, int* counters, int mutant) {
    bool done = false;
    while (!done) {
        if (atomicCAS(counters, 0, 1) == 0) {
            if (mutant == 1) __syncwarp();
            volatile int* sum = counters + 1;
            *sum = *sum + 1;
            __threadfence();
            atomicExch(counters, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *total = counters[1];
}

struct TicketLock {
    unsigned next, serving;
    __device__ void acquire() {
        const unsigned ticket = atomicAdd(&next, 1u);
        while (atomicAdd(&serving, 0u) != ticket) {
        }
        __threadfence();
    }
    __device__ void release() {
        __threadfence();
        atomicAdd(&serving, 1u);
    }
};

extern "C" __global__ void ticketLock(int* seen, unsigned* counters, int mutant) {
    TicketLock* lock = reinterpret_cast<TicketLock*>(counters);
    unsigned* used = counters + 2;
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (mutant != 1) lock->acquire();
    if (mutant == 2) lock->release();
    seen[(*used)++] = me >= 0;
    if (mutant == 0 || (mutant == 3 && me != 5)) lock->release();
}

// ---- the whole grid --------------------------------------------------------------------------

__device__ void barrierByCounter(unsigned* arrived, unsigned goal, int mutant) {
    if (mutant != 1) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned*)arrived < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ void barrierBySense(unsigned* count, unsigned* sense, unsigned& mine) {
    __syncthreads();
    mine ^= 1;
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            *count = 0;
            __threadfence();
            *(volatile unsigned*)sense = mine;
        } else {
            while (*(volatile unsigned*)sense != mine) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

// Every step takes the number two to the left; each kind of barrier has a line of the cache.
extern "C" __global__ void shiftAround(const int* in, int* out, unsigned* counters, int n,
                                       int steps, int mutant) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sense = *(volatile unsigned*)&counters[64];
    out[i] = in[i];
    for (int step = 0; step < steps; ++step) {
        cg::this_grid().sync();
        const int before = out[(i + n - 2) % n];
        barrierByCounter(&counters[0], (step + 1) * gridDim.x - (mutant == 2), mutant);
        out[i] = before;
        barrierBySense(&counters[32], &counters[64], sense);
    }
    // The next launch begins to count anew; the sense may be either.
    if (i == 0 && mutant != 3) counters[0] = 0;
}

// ---- time ------------------------------------------------------------------------------------

// Gives up after some cycles; block 1 brings the word that block 0 waits for.
extern "C" __global__ void waitForAWhile(int* out, unsigned* counters, int cycles, int mutant) {
    if (blockIdx.x == 1) {
        if (mutant == 0) atomicExch(counters, 7u);
        return;
    }
    const long long start = clock64();
    unsigned seen = 0;
    while ((seen = *(volatile unsigned*)counters) == 0 && clock64() - start < cycles) {
    }
    *out = seen;
}
