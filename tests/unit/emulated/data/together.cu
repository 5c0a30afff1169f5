// What threads do together: shuffles, votes, matches, groups, atomics and barriers, each written
// out for the test to compare with the definition.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

namespace cg = cooperative_groups;

constexpr unsigned ALL = 0xffffffffu;
constexpr int WIDTHS[] = {1, 2, 4, 8, 16, 32};

// out[kind][width][amount][lane], for amounts from 0 to 39: more than a warp, and no lane.
extern "C" __global__ void shuffles(int* out) {
    const int lane = threadIdx.x;
    for (int width = 0; width < 6; ++width) {
        for (int amount = 0; amount < 40; ++amount) {
            int* place = out + (width * 40 + amount) * 32 + lane;
            const int stride = 6 * 40 * 32;
            place[0 * stride] = __shfl_sync(ALL, lane, amount, WIDTHS[width]);
            place[1 * stride] = __shfl_up_sync(ALL, lane, amount, WIDTHS[width]);
            place[2 * stride] = __shfl_down_sync(ALL, lane, amount, WIDTHS[width]);
            place[3 * stride] = __shfl_xor_sync(ALL, lane, amount, WIDTHS[width]);
        }
    }
}

extern "C" __global__ void votes(unsigned* out) {
    const int lane = threadIdx.x;
    int all = -1;
    unsigned results[] = {
        __ballot_sync(ALL, lane % 3 == 0),
        static_cast<unsigned>(__any_sync(ALL, lane == 31)),
        static_cast<unsigned>(__all_sync(ALL, lane < 31)),
        __match_any_sync(ALL, lane / 10),
        __match_all_sync(ALL, 7.0f, &all),
        static_cast<unsigned>(all),
        __match_all_sync(ALL, lane, &all),
        __reduce_add_sync(ALL, static_cast<unsigned>(lane)),
        static_cast<unsigned>(__reduce_min_sync(ALL, lane - 16)),
        __reduce_xor_sync(ALL, 1u << lane),
        lane < 16 ? __ballot_sync(0x0000ffffu, 1) : __ballot_sync(0xffff0000u, lane & 1),
        static_cast<unsigned>(__shfl_sync(ALL, 1ll << (2 * lane), 20) >> 38),
    };
    for (int i = 0; i < 12; ++i) out[i * 32 + lane] = results[i];
}

extern "C" __global__ void groups(float* x, int* out) {
    const int thread = threadIdx.x;
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const auto eight = cg::tiled_partition<8>(warp);
    const auto five = cg::labeled_partition(warp, thread / 5);
    const auto odd = cg::binary_partition(warp, thread % 2 == 1);
    const float sum = cg::reduce(warp, x[thread], cg::plus<float>());
    __syncthreads();
    x[thread] = sum;
    const int results[] = {
        static_cast<int>(eight.thread_rank()),
        static_cast<int>(eight.meta_group_rank()),
        static_cast<int>(eight.meta_group_size()),
        static_cast<int>(warp.meta_group_rank()),
        static_cast<int>(eight.ballot(thread % 2)),
        eight.shfl_down(thread, 1),
        cg::reduce(eight, thread, cg::greater<int>()),
        cg::inclusive_scan(eight, thread),
        cg::exclusive_scan(warp, thread),
        static_cast<int>(five.size()),
        static_cast<int>(five.thread_rank()),
        five.shfl(thread, 0),
        five.shfl_up(thread, 1),
        cg::reduce(odd, thread, cg::plus<int>()),
        static_cast<int>(cg::coalesced_threads().size()),
        static_cast<int>(cg::tiled_partition(block, 4).thread_rank()),
        static_cast<int>(block.size()),
        cg::this_thread().shfl(thread, 0),
    };
    for (int i = 0; i < 18; ++i) out[i * blockDim.x + thread] = results[i];
}

// Each thread of the grid takes part once; 2 blocks of 64.
extern "C" __global__ void atomics(int* n, float* f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&n[0], i);
    atomicSub(&n[1], 1);
    atomicMin(&n[2], i - 50);
    atomicMax(&n[3], i);
    atomicInc(reinterpret_cast<unsigned*>(&n[4]), 9u);
    atomicDec(reinterpret_cast<unsigned*>(&n[5]), 9u);
    atomicOr(&n[6], 1 << (i % 8));
    atomicXor(&n[7], i);
    atomicAnd(&n[8], ~(1 << (i % 4)));
    if (atomicCAS(&n[9], 0, 1) == 0) atomicAdd(&n[10], 1);
    cuda::atomic_ref<int, cuda::thread_scope_device>(n[11]).fetch_max(i);
    cuda::atomic_ref<int, cuda::thread_scope_device>(n[12]) += 2;
    if (i == 0) n[14] = ++cuda::atomic_ref<int>(n[13]);  // from the largest integer
    atomicAdd(&f[0], 0.5f);
    cuda::atomic_ref<float>(f[1]).fetch_add(0.25f);
    if (i == 77) atomicExch(&f[2], 7.0f);
}

// Threads pass a value on by way of barriers, three rounds; 64 threads.
extern "C" __global__ void barriers(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int values[64];
    __shared__ int critical;
    __shared__ cuda::binary_semaphore<cuda::thread_scope_block>* semaphore;
    __shared__ __align__(8) unsigned char memory[16];
    const int thread = threadIdx.x;
    if (thread == 0) {
        init(&barrier, blockDim.x);
        critical = 0;
        semaphore = new (memory) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    }
    values[thread] = thread;
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        const int next = values[(thread + 1) % 64];
        barrier.arrive_and_wait();
        values[thread] = next;
        auto token = barrier.arrive();
        barrier.wait(cuda::std::move(token));
    }
    semaphore->acquire();
    const int before = *static_cast<volatile int*>(&critical);
    __nanosleep(20);
    *static_cast<volatile int*>(&critical) = before + 1;
    semaphore->release();
    __syncthreads();
    out[thread] = values[thread] + 1000 * critical;
}

extern "C" __global__ void cluster(int* out) {
    __shared__ int values[32];
    auto cluster = cg::this_cluster();
    values[threadIdx.x] = 100 * cluster.block_rank() + threadIdx.x;
    cluster.sync();
    const int* other =
        cluster.map_shared_rank(values, (cluster.block_rank() + 1) % cluster.num_blocks());
    const int seen = other[31 - threadIdx.x];
    cluster.barrier_arrive();
    cluster.barrier_wait();
    out[cg::this_grid().thread_rank()] = seen + 10000 * cluster.query_shared_rank(other);
}

extern "C" __global__ void copies(const int* x, int* out) {
    __shared__ __align__(16) int copied[100];
    cg::memcpy_async(cg::this_thread_block(), copied, x, sizeof(int) * 100);
    cg::wait(cg::this_thread_block());
    for (int i = threadIdx.x; i < 100; i += blockDim.x)
        memcpy(&out[i], &copied[99 - i], sizeof(int));
}
