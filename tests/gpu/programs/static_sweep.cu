// Kernels that differ in their registers: each thread holds LIVE values across a barrier.
//
// A block has STATIC_BYTES of static shared memory and, where BOUND is not 0, at most so many
// threads. Compiled for fewer registers than it holds values, a kernel spills.

#if BOUND
#define BOUNDS __launch_bounds__(BOUND)
#else
#define BOUNDS
#endif

template <int LIVE>
__device__ void hold(float* values) {
    float held[LIVE];
#pragma unroll
    for (int i = 0; i < LIVE; ++i) held[i] = values[i * blockDim.x + threadIdx.x];
#if STATIC_BYTES
    __shared__ unsigned char own[STATIC_BYTES];
    own[threadIdx.x % STATIC_BYTES] = held[0] > 0.0f;
    __syncthreads();
    held[0] += own[(threadIdx.x + 1) % STATIC_BYTES];
#else
    __syncthreads();
#endif
#pragma unroll
    for (int i = 0; i < LIVE; ++i) values[threadIdx.x * LIVE + i] = held[i];
}

#define KERNEL(LIVE) \
    extern "C" __global__ void BOUNDS hold_##LIVE(float* values) { hold<LIVE>(values); }

KERNEL(2)
KERNEL(16)
KERNEL(32)
KERNEL(40)
KERNEL(52)
KERNEL(64)
KERNEL(80)
KERNEL(104)
KERNEL(144)
KERNEL(200)

// An index that the compiler does not know keeps the array in local memory.
extern "C" __global__ void BOUNDS indexed(float* values, int place) {
    float held[50];
    for (int i = 0; i < 50; ++i) held[i] = values[i * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 50; ++i) held[(i * place) % 50] += held[i];
    values[threadIdx.x] = held[place % 50];
}
