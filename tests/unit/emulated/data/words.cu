// One use of every word and builtin that a kernel may say without an include; nothing is launched.

struct __align__(8) Pair {
    float first, second;
};
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
    T values[N];
};
static_assert(alignof(Pack<float, 4>) == 16, "alignas takes expressions");
struct alignas(float4) Aligned {
    float value;
};
static_assert(alignof(Aligned) == 16, "alignas takes types");

__constant__ float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__device__ int counter;
static __device__ __forceinline__ float twice(float x) { return 2.0f * x; }
__device__ inline float thrice(float x) { return 3.0f * x; }
__host__ __device__ __noinline__ float square(float x) { return x * x; }

template <typename T>
__global__ void __launch_bounds__(128) rotate(T* values, const T fallback) {
    extern __shared__ __align__(16) unsigned char raw[];
    T* shared = reinterpret_cast<T*>(raw);
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = blockDim.x > 1 ? shared[(threadIdx.x + 1) % blockDim.x] : fallback;
}
template __global__ void rotate<float>(float*, const float);

extern "C" __global__ void __cluster_dims__(2, 1, 1)
    every_word(float* __restrict__ out, const Pair pair, const __grid_constant__ int n, bool on) {
    __shared__ int counts[128];
    __shared__ __align__(16) float aligned[4];
    alignas(16) __shared__ float aligned_too[4];
    static __shared__ __align__(16) float fixed[4];
    __shared__ uint3 seen;
    const dim3 grid = gridDim;
    const dim3 line(7);
    seen = threadIdx;
    aligned[0] = aligned_too[0] = fixed[0] = twice(pair.first) + thrice(square(pair.second));
    counts[threadIdx.x % 128] =
        __syncthreads_count(on) + __syncthreads_and(on) + __syncthreads_or(on) + warpSize + line.y;
    __syncwarp();
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    __nanosleep(100);
    unsigned bits = __ballot_sync(0xffffffffu, on) + __any_sync(0xffffffffu, on) +
                    __all_sync(0xffffffffu, on) + __activemask();
    bits += __match_any_sync(0xffffffffu, n) + __reduce_add_sync(0xffffffffu, bits);
    int all = 0;
    bits += __match_all_sync(0xffffffffu, 1.0f, &all);
    char small = 3;
    const int moved = __shfl_sync(0xffffffffu, small, 0) + __shfl_up_sync(0xffffffffu, n, 1, 16);
    const double wide =
        __shfl_down_sync(0xffffffffu, 1.0, 1) + __shfl_xor_sync(0xffffffffu, 1ll, 1);

    atomicAdd(out, 1.0f);
    atomicAdd(&counter, 1);
    atomicSub(&counter, 1);
    atomicMin(&counts[0], 3);
    atomicMax_block(&counts[0], 3);
    atomicExch(&out[1], 3.0f);
    atomicAnd_system(&counts[1], atomicOr(&counts[1], atomicXor(&counts[2], 1)));
    auto* words = reinterpret_cast<unsigned*>(counts);
    atomicInc(words, atomicDec(words, 9u));
    atomicCAS(words, 0u, 1u);
    atomicAdd(reinterpret_cast<unsigned long long*>(counts), 1ull);

    if (n < 0) __trap();
    if (n < -1) __brkpt();
    assert(n < 1 << 20 && "a reason");
    __builtin_assume(n >= 0);
    memcpy(&out[2], &out[4], 8);
    memset(&out[2], 0, 4);
    const long long begin = clock64();
    const auto end = clock();
    printf("%d %f\n", n, static_cast<double>(out[0]));
    const size_t number = __cvta_generic_to_shared(aligned);
    out[3] =
        __ldg(&out[4]) + __ldcg(&out[5]) + table[n & 3] + seen.x + grid.x + bits + moved + wide;
    __stcg(&out[6], static_cast<float>(number + begin + end + __isShared(aligned)));
    out[7] = max(n, 4) + min(1.0f, out[3]) + abs(-1.5f) + rsqrtf(2.0f) + __fadd_rz(1.0f, 2.0f) +
             __float2int_rn(2.5f) + __popc(bits) + __funnelshift_l(bits, bits, 3) + sinpif(0.5f);
}
