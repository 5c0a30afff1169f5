// The grid as a group, which needs a cooperative launch.
#pragma once

#include "block.h"

namespace cooperative_groups {

class grid_group {
public:
    struct arrival_token {};

    RMSPERF_INLINE bool is_valid() const { return rmsperf::rmsperf_is_cooperative() != 0; }
    RMSPERF_INLINE void sync(rmsperf::Place place = rmsperf::here()) const {
        rmsperf::rmsperf_grid_barrier(place);
    }
    arrival_token barrier_arrive() const = delete;  // not emulated
    void barrier_wait(arrival_token&&) const = delete;

    RMSPERF_INLINE static unsigned long long block_rank() {
        const dim3 extent = gridDim;
        const uint3 block = blockIdx;
        return block.x + extent.x * (block.y + static_cast<unsigned long long>(extent.y) * block.z);
    }
    RMSPERF_INLINE static unsigned long long num_blocks() {
        const dim3 extent = gridDim;
        return static_cast<unsigned long long>(extent.x) * extent.y * extent.z;
    }
    RMSPERF_INLINE static unsigned long long thread_rank() {
        return block_rank() * rmsperf::block_threads() + rmsperf::rmsperf_thread_rank();
    }
    RMSPERF_INLINE static unsigned long long num_threads() {
        return num_blocks() * rmsperf::block_threads();
    }
    RMSPERF_INLINE static unsigned long long size() { return num_threads(); }
    RMSPERF_INLINE static dim3 dim_blocks() { return gridDim; }
    RMSPERF_INLINE static dim3 group_dim() { return gridDim; }
    RMSPERF_INLINE static dim3 block_index() { return blockIdx; }

    RMSPERF_INLINE static unsigned long long cluster_rank() {
        return block_rank() / rmsperf::rmsperf_cluster_blocks();
    }
    RMSPERF_INLINE static unsigned long long num_clusters() {
        return num_blocks() / rmsperf::rmsperf_cluster_blocks();
    }
    RMSPERF_INLINE static dim3 dim_clusters() {
        const dim3 extent = gridDim;
        return {extent.x / rmsperf::rmsperf_cluster_blocks(), extent.y, extent.z};
    }
    RMSPERF_INLINE static dim3 cluster_index() {
        const uint3 block = blockIdx;
        return {block.x / rmsperf::rmsperf_cluster_blocks(), block.y, block.z};
    }

private:
    friend grid_group this_grid();
    grid_group() = default;
};

inline grid_group this_grid() { return grid_group(); }

// Several devices are not emulated.
class multi_grid_group;
multi_grid_group this_multi_grid() = delete;

}  // namespace cooperative_groups
