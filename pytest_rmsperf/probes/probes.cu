// The probes: the shortest launch there is, and the wall of moving the same bytes once.

extern "C" __global__ void null_kernel() {}

// Copies `vectors` float4 from source to target; thread t of a block takes every
// THREADS_PER_BLOCK-th vector of the block's stretch.
extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    copy_kernel(const float4* source, float4* target, long long vectors) {
    const long long first =
        static_cast<long long>(blockIdx.x) * (THREADS_PER_BLOCK * VECTORS_PER_THREAD) + threadIdx.x;
    float4 values[VECTORS_PER_THREAD];
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        const long long place = first + i * THREADS_PER_BLOCK;
        if (place < vectors) values[i] = source[place];
    }
#pragma unroll
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        const long long place = first + i * THREADS_PER_BLOCK;
        if (place < vectors) target[place] = values[i];
    }
}
