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
