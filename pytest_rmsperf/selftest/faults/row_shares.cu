// Each element's share of its row, y = x / sum of its row, in one cooperative launch whose blocks
// meet once in the middle; FAULT and DELAY_STEPS plant what the gate is tried with.
//
// A row is BLOCKS_PER_ROW tiles of TILE_VECTORS float4, one block each. The blocks of a row meet at
// a counter that only ever grows: the ticket drawn there says of which launch it is, so nothing has
// to be reset. It wraps around together with the tickets, for BLOCKS_PER_ROW is a power of two.

constexpr int NO_FAULT = 0, WRONG_ELEMENT = 1, ENDLESS = 2, ILLEGAL_ADDRESS = 3;
constexpr int WARP_THREADS = 32;
constexpr int WARPS_PER_BLOCK = THREADS_PER_BLOCK / WARP_THREADS;
constexpr int TILE_VECTORS = THREADS_PER_BLOCK * VECTORS_PER_THREAD;
constexpr int VECTOR = 4;
constexpr int LOADS_IN_FLIGHT = 8;

static_assert(THREADS_PER_BLOCK % WARP_THREADS == 0, "a block is made of whole warps");
static_assert(WARPS_PER_BLOCK <= WARP_THREADS, "thread 0 adds the sums of few warps");
static_assert((BLOCKS_PER_ROW & (BLOCKS_PER_ROW - 1)) == 0, "the counter wraps with its tickets");
static_assert(FAULT >= NO_FAULT && FAULT <= ILLEGAL_ADDRESS, "one of the faults above");

// A hang: the row waits for one block more than it has.
constexpr unsigned ARRIVALS = BLOCKS_PER_ROW + (FAULT == ENDLESS ? 1 : 0);

__device__ inline float sum(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ inline float4 scaled(float4 v, float factor) {
    return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

// Thread 0 holds the result.
__device__ inline float block_sum(float value, float* warp_sums) {
#pragma unroll
    for (int lanes = WARP_THREADS / 2; lanes > 0; lanes /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    }
    if (threadIdx.x % WARP_THREADS == 0) warp_sums[threadIdx.x / WARP_THREADS] = value;
    __syncthreads();
    float total = 0.0f;
    for (int warp = 0; warp < WARPS_PER_BLOCK; ++warp) total += warp_sums[warp];
    return total;
}

// Called by thread 0 of each block of a row. What each of them wrote before is visible to all of
// them afterwards, past L1.
__device__ inline void meet(unsigned* counter) {
    __threadfence();
    const unsigned ticket = atomicAdd(counter, 1u);
    const unsigned last = ticket - ticket % ARRIVALS + ARRIVALS;
    while (static_cast<int>(last - *static_cast<volatile unsigned*>(counter)) > 0) {
    }
    __threadfence();
}

// Returns the sum of a row, which is positive, after DELAY_STEPS multiply-adds that each need the
// one before. They begin with the sum and what follows needs their result, so that nothing else
// overlaps with them, and no compiler can tell that they are of no use.
__device__ inline float held_back(float row_sum) {
    float value = row_sum;
#pragma unroll 22
    for (int i = 0; i < DELAY_STEPS; ++i) value = fmaf(value, 0.5f, 1.0f);
    return value < 0.0f ? value : row_sum;
}

extern "C" __global__ void __launch_bounds__(THREADS_PER_BLOCK)
    row_shares(const float4* x, float4* y, float* tile_sums, unsigned* counters) {
    __shared__ float warp_sums[WARPS_PER_BLOCK];
    __shared__ float share_of_one;
    const int row = blockIdx.x / BLOCKS_PER_ROW, tile = blockIdx.x % BLOCKS_PER_ROW;
    const int first = blockIdx.x * TILE_VECTORS + threadIdx.x;

    float mine = 0.0f;
#pragma unroll LOADS_IN_FLIGHT
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) mine += sum(x[first + i * THREADS_PER_BLOCK]);
    const float total = block_sum(mine, warp_sums);
    if (threadIdx.x == 0) {
        tile_sums[blockIdx.x] = total;
        meet(counters + row * COUNTER_STRIDE);
        float row_sum = 0.0f;
        for (int i = 0; i < BLOCKS_PER_ROW; ++i) {
            row_sum += __ldcg(tile_sums + row * BLOCKS_PER_ROW + i);
        }
        share_of_one = 1.0f / held_back(row_sum);
    }
    __syncthreads();

    const float factor = share_of_one;
#pragma unroll LOADS_IN_FLIGHT
    for (int i = 0; i < VECTORS_PER_THREAD; ++i) {
        const int place = first + i * THREADS_PER_BLOCK;
        float4 shares = scaled(x[place], factor);
        const int column = (tile * TILE_VECTORS + i * THREADS_PER_BLOCK + threadIdx.x) * VECTOR;
        if (FAULT == WRONG_ELEMENT && row == WRONG_ROW && column == WRONG_COLUMN) {
            shares.x *= 1.001f;
        }
        y[place] = shares;
    }
    // 4 TiB behind y: no device has it.
    if (FAULT == ILLEGAL_ADDRESS && threadIdx.x == 0) y[1ll << 38] = make_float4(0, 0, 0, 0);
}
