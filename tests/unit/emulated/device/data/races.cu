// Two accesses of one place that only an `n` of 0 puts in order. A comment marks the later one.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ inline int* empty_box() {
    __shared__ int box;
    if (threadIdx.x == 0) box = 0;
    __syncthreads();
    return &box;
}

// ---- a block of two warps --------------------------------------------------------------------

extern "C" __global__ void read_after_write(unsigned* y, int n) {
    int* box = empty_box();
    if (threadIdx.x == 0) *box = 7;
    if (n == 0) __syncthreads();
    if (threadIdx.x == 32) y[0] = *box;  // race: read_after_write
}

extern "C" __global__ void write_after_read(unsigned* y, int n) {
    int* box = empty_box();
    if (threadIdx.x == 0) y[0] = *box;
    if (n == 0) __syncthreads();
    if (threadIdx.x == 32) *box = 7;  // race: write_after_read
}

// Of the values 1 and 1 + n.
extern "C" __global__ void write_after_write(unsigned*, int n) {
    int* box = empty_box();
    if (threadIdx.x == 0) *box = 1;
    if (threadIdx.x == 32) *box = 1 + n;  // race: write_after_write
}

// Of 100 bytes that are 0, or of which one thread's are not.
extern "C" __global__ void set_bytes(unsigned*, int n) {
    __shared__ char bytes[100];
    memset(bytes, threadIdx.x == 32 ? n : 0, sizeof bytes);  // race: set_bytes
}

extern "C" __global__ void read_in_warp(unsigned* y, int n) {
    int* box = empty_box();
    if (threadIdx.x == 0) *box = 7;
    if (n == 0) __syncwarp();
    if (threadIdx.x == 1) y[0] = *box;  // race: read_in_warp
}

// A warp's own barrier orders nothing for another warp.
extern "C" __global__ void read_in_other_warp(unsigned* y, int n) {
    int* box = empty_box();
    if (threadIdx.x == 0) *box = 7;
    __syncwarp();
    if (threadIdx.x == (n == 0 ? 1 : 32)) y[0] = *box;  // race: read_in_other_warp
}

extern "C" __global__ void count_up(unsigned* y, int n) {
    if (n == 0) {
        atomicAdd(y, 1u);
    } else {
        y[0] += 1;  // race: count_up
    }
}

extern "C" __global__ void write_bytes(unsigned* y, int n) {
    auto* bytes = reinterpret_cast<unsigned char*>(y);
    const unsigned place = n == 0 ? threadIdx.x : threadIdx.x / 2;
    bytes[place] = static_cast<unsigned char>(threadIdx.x + 1);  // race: write_bytes
}

// Who comes last both reads and writes: the reader before him counts.
extern "C" __global__ void write_by_last_reader(unsigned* y, int n) {
    int* box = empty_box();
    y[threadIdx.x] = *box;
    if (n == 0) __syncthreads();
    if (threadIdx.x == blockDim.x - 1) *box = 7;  // race: write_by_last_reader
}

// Two threads have written the two halves of one word.
extern "C" __global__ void read_half(unsigned* y, int n) {
    auto* halves = reinterpret_cast<short*>(empty_box());
    if (threadIdx.x < 2) halves[threadIdx.x] = 7;
    if (n == 0) __syncthreads();
    if (threadIdx.x == 32) y[0] = halves[0];  // race: read_half
}

extern "C" __global__ void read_byte_of_many(unsigned* y, int n) {
    auto* bytes = reinterpret_cast<unsigned char*>(empty_box());
    for (int i = 0; threadIdx.x == 0 && i < 4; ++i)
        bytes[i] = static_cast<unsigned char>(i * n + 1);
    if (n == 0) __syncthreads();
    if (threadIdx.x == 32) y[0] = bytes[1];  // race: read_byte_of_many
}

// ---- blocks ----------------------------------------------------------------------------------

extern "C" __global__ void read_other_block(unsigned* y, int n) {
    if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = 7;
    if (n == 0) cg::this_grid().sync();
    if (blockIdx.x == 1 && threadIdx.x == 0) y[1] = y[0];  // race: read_other_block
}

// Block 1 waits for the flag of block 0 before it reads; or does not.
extern "C" __global__ void read_behind_flag(unsigned* y, int n) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        y[0] = 7;
        __threadfence();
        atomicExch(y + 1, 1u);
    } else {
        while (n == 0 && atomicAdd(y + 1, 0u) == 0) {
        }
        y[2] = y[0];  // race: read_behind_flag
    }
}

// The same with the flag in one half of a word that is written as a whole.
extern "C" __global__ void read_behind_half_of_word(unsigned* y, int n) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        y[0] = 7;
        __threadfence();
        atomicExch(reinterpret_cast<unsigned long long*>(y + 2), 1ull << 32);
    } else {
        while (n == 0 && *static_cast<volatile unsigned*>(y + 3) == 0) {
        }
        y[4] = y[0];  // race: read_behind_half_of_word
    }
}

// Of block 1, the first warp waits for the flag and tells the second one, without waiting for it.
extern "C" __global__ void read_behind_arrival(unsigned* y, int n) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) y[0] = 7;
        __threadfence();
        if (threadIdx.x == 0) atomicExch(y + 1, 1u);
    } else if (threadIdx.x < 32) {
        while (atomicAdd(y + 1, 0u) == 0) {
        }
        rmsperf::rmsperf_named_arrive(1, 64, rmsperf::here());
    } else {
        if (n == 0) __barrier_sync_count(1, 64);
        if (threadIdx.x == 32) y[2] = y[0];  // race: read_behind_arrival
    }
}

// Block 1 counts to release y[0]; block 0 looks once at that counter, or at the one beside it.
extern "C" __global__ void read_beside_counter(unsigned* y, int n) {
    cg::this_grid().sync();
    if (threadIdx.x == 0 && blockIdx.x == 1) {
        y[0] = 7;
        __threadfence();
        atomicAdd(y + 32, 1u);
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (n == 0 && atomicAdd(y + 32, 0u) == 0) {
        }
        if (n != 0) atomicAdd(y + 33, 1u);
        y[1] = y[0];  // race: read_beside_counter
    }
}

// Block 1 of a cluster sets a flag in the memory of block 0, which looks at it as its own.
extern "C" __global__ void read_behind_flag_of_peer(unsigned* y, int n) {
    __shared__ unsigned box, flag;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) box = flag = 0;
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 1) {
        *cluster.map_shared_rank(&box, 0) = 7;
        __threadfence();
        atomicExch(cluster.map_shared_rank(&flag, 0), 1u);
    } else if (threadIdx.x == 0) {
        while (n == 0 && atomicAdd(&flag, 0u) == 0) {
        }
        y[0] = box;  // race: read_behind_flag_of_peer
    }
    cluster.sync();
}
