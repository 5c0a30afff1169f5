// What the language has besides barriers: votes, tables, structs, function pointers, carved shared
// memory. `mutant` chooses a classic mistake; 0 is the kernel as it should be.
#include <cuda_fp16.h>

#define FULL_MASK 0xffffffffu
#define RADIX 16
#define WARPS 4

// ---- votes -----------------------------------------------------------------------------------

// A histogram of digits per warp, in which the first of those with the same digit counts for all.
extern "C" __global__ void radixHistogram(const unsigned* keys, int* counts, int n, int shift,
                                          int mutant) {
    __shared__ int bins[WARPS][RADIX];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < WARPS * RADIX; i += blockDim.x) (&bins[0][0])[i] = 0;
    __syncthreads();
    for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
        const int i = base + threadIdx.x;
        const bool valid = i < n;
        const unsigned active = __ballot_sync(FULL_MASK, valid);
        if (valid) {
            const unsigned digit = (keys[i] >> shift) & (RADIX - 1);
            const unsigned peers = __match_any_sync(mutant == 1 ? FULL_MASK : active, digit);
            if (__ffs(peers) - 1 == lane || mutant == 2) bins[warp][digit] += __popc(peers);
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < RADIX) {
        int sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += bins[w][threadIdx.x];
        counts[blockIdx.x * RADIX + threadIdx.x] = sum;
    }
}

// The even ones in their order; the rest of the output is zero.
extern "C" __global__ void compactEven(const int* in, int* out, int n, int mutant) {
    __shared__ int perWarp[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, tid = threadIdx.x;
    const bool keep = tid < n && in[tid] % 2 == 0;
    if (tid < n) out[tid] = 0;
    const unsigned ballot = __ballot_sync(FULL_MASK, keep);
    if (lane == 0) perWarp[warp] = __popc(ballot);
    if (mutant != 1) __syncthreads();
    int start = 0;
    for (int w = 0; w < warp; ++w) start += perWarp[w];
    const unsigned before = mutant == 2 ? (1u << lane) | ((1u << lane) - 1) : (1u << lane) - 1;
    if (keep) out[start + __popc(ballot & before)] = in[tid];
}

// Lanes without an element leave, and the others go on to a barrier: since Volta it waits for those
// who are still there. A barrier that only some of those reach is another matter.
extern "C" __global__ void leaveEarly(const int* in, int* out, int n, int mutant) {
    __shared__ int tile[128];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = in[i];
    if (mutant == 1 && threadIdx.x < 32) {
        out[i] = tile[threadIdx.x];
    } else {
        __syncthreads();
        const int last = min(n - blockIdx.x * blockDim.x, blockDim.x) - 1;
        out[i] = tile[mutant == 2 ? blockDim.x - 1 - threadIdx.x : last - threadIdx.x];
    }
    if (mutant == 1) __syncthreads();
}

// Some lanes add among themselves while the others already wait for the whole warp. Of those some
// get values of lanes that take no part, and drop them.
extern "C" __global__ void halvesReversed(const float* in, float* out, int mutant) {
    __shared__ __half tile[64];
    __shared__ float total;
    tile[threadIdx.x] = __float2half(in[threadIdx.x]);
    if (mutant != 1) __syncthreads();
    float v = __half2float(tile[63 - threadIdx.x]);
    if (threadIdx.x < 8) {
        float sum = v;
        for (int d = 4; d > 0; d >>= 1) sum += __shfl_down_sync(0xff, sum, d);
        if (threadIdx.x == (mutant == 2 ? 7 : 0)) total = sum;
    }
    __syncwarp();
    if (threadIdx.x < 32) v += total;
    out[threadIdx.x] = v;
}

// ---- atomics ---------------------------------------------------------------------------------

__device__ __forceinline__ float atomicMaxFloat(float* address, float value) {
    int* address_as_int = (int*)address;
    int old = *address_as_int, assumed;
    while (value > __int_as_float(old)) {
        assumed = old;
        old = atomicCAS(address_as_int, assumed, __float_as_int(value));
        if (assumed == old) break;
    }
    return __int_as_float(old);
}

extern "C" __global__ void largestFloat(const float* in, float* out, float* counters, int n,
                                        int mutant) {
    __shared__ float largest;
    if (threadIdx.x == 0) largest = -1e30f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (mutant == 1)
            largest = fmaxf(largest, in[i]);
        else
            atomicMaxFloat(&largest, in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        // All are positive: their bits as integers are in the same order.
        atomicMax((int*)counters, __float_as_int(largest));
        out[blockIdx.x] = largest;
    }
}

// ---- numbers ---------------------------------------------------------------------------------

// Numerical Recipes' generator wraps; a signed one does what C++ leaves undefined.
extern "C" __global__ void lcgRandom(const unsigned* seeds, unsigned* out, int steps, int mutant) {
    unsigned s = seeds[threadIdx.x];
    for (int i = 0; i < steps; ++i)
        s = mutant == 1 ? (int)s * 1664525 + 1013904223 : s * 1664525u + 1013904223u;
    out[threadIdx.x] = s ^ __brev(s) ^ __umulhi(s, 0x9e3779b9u);
}

struct Affine {
    float scale, shift;
    __device__ float operator()(float x) const { return x * scale + shift; }
};

struct Params {
    Affine first;
    int count;
    float table[3];
};

__constant__ float coefficients[5] = {1.0f, 0.5f, 0.25f, 0.125f, 0.0625f};
__device__ int launchesSeen = 0;

typedef float (*Activation)(float);
__device__ float relu(float x) { return fmaxf(x, 0.0f); }
__device__ float square(float x) { return x * x; }
__device__ float identity(float x) { return x; }

template <typename F>
__device__ float apply(F f, float x) {
    return f(x);
}

// Horner by recursion.
__device__ float horner(float x, int k) {
    return k == 4 ? coefficients[4] : coefficients[k] + x * horner(x, k + 1);
}

extern "C" __global__ void functionsAndTables(const float* x, float* y, int n, int mutant) {
    const Activation activations[3] = {relu, square, identity};
    const Params p = {{2.0f, -1.0f}, 3, {1.0f, 2.0f, 3.0f}};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(mutant != 2 || i < n);
    if (i >= n) return;
    const auto weighted = [=](float v) { return v * p.table[(i + (mutant == 1)) % 4 % 3]; };
    float v = p.first(x[i]);
    v = activations[i % p.count](v);
    v = apply(weighted, v) + horner(v, mutant == 3 ? 5 : 0);
    y[i] = v;
    if (i == 0) {
        atomicAdd(&launchesSeen, 1);
        printf("%d of %s: %g %llu\n", i, "functionsAndTables", v, (unsigned long long)n);
    }
}

// ---- shared memory, carved -------------------------------------------------------------------

// One query per block against n keys: scores, then their softmax, then the weighted values.
extern "C" __global__ void attentionRow(const float* Q, const float* K, const float* V, float* O,
                                        int n, int d, int mutant) {
    extern __shared__ __align__(16) unsigned char smem[];
    float* q = reinterpret_cast<float*>(smem);
    float* scores = q + d;
    float* reduction = scores + n;
    const int tid = threadIdx.x;

    for (int c = tid; c < d; c += blockDim.x) q[c] = Q[blockIdx.x * d + c];
    if (mutant != 1) __syncthreads();
    float most = -3.4e38f;
    for (int j = tid; j < n; j += blockDim.x) {
        float dot = 0.0f;
        for (int c = 0; c < d; ++c) dot += q[c] * K[j * d + c];
        scores[j] = dot * rsqrtf((float)d);
        most = fmaxf(most, scores[j]);
    }
    reduction[tid] = most;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) reduction[tid] = fmaxf(reduction[tid], reduction[tid + s]);
        __syncthreads();
    }
    most = reduction[0];
    // All have read it before it is used again.
    if (mutant != 2) __syncthreads();
    float sum = 0.0f;
    for (int j = tid; j < n; j += blockDim.x) sum += scores[j] = __expf(scores[j] - most);
    reduction[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) reduction[tid] += reduction[tid + s];
        __syncthreads();
    }
    const float inverse = 1.0f / reduction[mutant == 3 ? blockDim.x : 0];
    for (int c = tid; c < d; c += blockDim.x) {
        float out = 0.0f;
        for (int j = 0; j < n; ++j) out += scores[j] * V[j * d + c];
        O[blockIdx.x * d + c] = out * inverse;
    }
}
