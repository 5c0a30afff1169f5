// The block as a group.
#pragma once

#include "thread_group.h"

namespace cooperative_groups {

class thread_block : public thread_group {
public:
    struct arrival_token {};

    RMSPERF_INLINE static void sync(rmsperf::Place place = rmsperf::here()) {
        __syncthreads(place);
    }
    static arrival_token barrier_arrive() = delete;  // not emulated
    static void barrier_wait(arrival_token&&) = delete;
    RMSPERF_INLINE static unsigned thread_rank() { return rmsperf::rmsperf_thread_rank(); }
    RMSPERF_INLINE static dim3 thread_index() { return threadIdx; }
    RMSPERF_INLINE static dim3 group_index() { return blockIdx; }
    RMSPERF_INLINE static dim3 group_dim() { return blockDim; }
    RMSPERF_INLINE static dim3 dim_threads() { return blockDim; }
    RMSPERF_INLINE static unsigned size() { return rmsperf::block_threads(); }
    RMSPERF_INLINE static unsigned num_threads() { return rmsperf::block_threads(); }

private:
    friend thread_block this_thread_block();
    thread_block() : thread_group(0) {}
};

inline thread_block this_thread_block() { return thread_block(); }

}  // namespace cooperative_groups
