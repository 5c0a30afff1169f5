// The cluster as a group: barriers in two halves, and the shared memory of its other blocks.
#pragma once

#include "block.h"

namespace cooperative_groups {

class cluster_group {
public:
    struct arrival_token {};

    RMSPERF_INLINE static void sync(rmsperf::Place place = rmsperf::here()) {
        rmsperf::rmsperf_cluster_arrive(place);
        rmsperf::rmsperf_cluster_wait(place);
    }
    RMSPERF_INLINE static arrival_token barrier_arrive(rmsperf::Place place = rmsperf::here()) {
        rmsperf::rmsperf_cluster_arrive(place);
        return {};
    }
    RMSPERF_INLINE static void barrier_wait(rmsperf::Place place = rmsperf::here()) {
        rmsperf::rmsperf_cluster_wait(place);
    }
    RMSPERF_INLINE static void barrier_wait(arrival_token&&,
                                            rmsperf::Place place = rmsperf::here()) {
        rmsperf::rmsperf_cluster_wait(place);
    }

    RMSPERF_INLINE static unsigned block_rank() { return rmsperf::rmsperf_cluster_rank(); }
    RMSPERF_INLINE static unsigned num_blocks() { return rmsperf::rmsperf_cluster_blocks(); }
    RMSPERF_INLINE static dim3 block_index() { return {block_rank(), 0, 0}; }
    RMSPERF_INLINE static dim3 dim_blocks() { return {num_blocks(), 1, 1}; }

    RMSPERF_INLINE static unsigned thread_rank() {
        return block_rank() * rmsperf::block_threads() + rmsperf::rmsperf_thread_rank();
    }
    RMSPERF_INLINE static unsigned num_threads() { return num_blocks() * rmsperf::block_threads(); }
    RMSPERF_INLINE static unsigned size() { return num_threads(); }
    RMSPERF_INLINE static dim3 thread_index() {
        const uint3 thread = threadIdx;
        return {block_rank() * rmsperf::rmsperf_block_dim().x + thread.x, thread.y, thread.z};
    }
    RMSPERF_INLINE static dim3 dim_threads() {
        const dim3 block = blockDim;
        return {num_blocks() * block.x, block.y, block.z};
    }

    template <typename T>
    RMSPERF_INLINE static T* map_shared_rank(T* address, unsigned rank,
                                             rmsperf::Place place = rmsperf::here()) {
        void* const plain = const_cast<std::remove_cv_t<T>*>(address);
        return static_cast<T*>(rmsperf::rmsperf_map_shared(plain, rank, place));
    }
    RMSPERF_INLINE static unsigned query_shared_rank(const void* address,
                                                     rmsperf::Place place = rmsperf::here()) {
        return rmsperf::rmsperf_rank_of_shared(address, place);
    }

private:
    friend cluster_group this_cluster();
    cluster_group() = default;
};

inline cluster_group this_cluster() { return cluster_group(); }

}  // namespace cooperative_groups
