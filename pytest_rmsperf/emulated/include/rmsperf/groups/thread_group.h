// A group whose kind is known only at run time, and what all groups share.
#pragma once

#include <rmsperf/barriers.h>
#include <rmsperf/shuffles.h>
#include <rmsperf/votes.h>

namespace rmsperf {

// Lanes of a warp as a group: ranks count them from the lowest.
RMSPERF_INLINE unsigned rank_of_lane(unsigned mask, unsigned lane) {
    return static_cast<unsigned>(__builtin_popcount(mask & ((1u << lane) - 1)));
}
RMSPERF_INLINE unsigned lane_of_rank(unsigned mask, unsigned rank) {
    for (unsigned i = 0; i < rank; ++i) mask &= mask - 1;
    return mask == 0 ? 32 : static_cast<unsigned>(__builtin_ctz(mask));
}
// The bits of `lanes`, which are lanes of `mask`, as bits of their ranks.
RMSPERF_INLINE unsigned ranks_of_lanes(unsigned mask, unsigned lanes) {
    unsigned ranks = 0, rank = 0;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1, ++rank)
        if ((lanes & rest & (~rest + 1)) != 0) ranks |= 1u << rank;
    return ranks;
}

}  // namespace rmsperf

namespace cooperative_groups {

class thread_group {
public:
    RMSPERF_INLINE unsigned long long size() const { return num_threads(); }
    RMSPERF_INLINE unsigned long long num_threads() const {
        return warp_mask_ != 0 ? __builtin_popcount(warp_mask_) : rmsperf::block_threads();
    }
    RMSPERF_INLINE unsigned long long thread_rank() const {
        return warp_mask_ != 0 ? rmsperf::rank_of_lane(warp_mask_, rmsperf::lane())
                               : rmsperf::rmsperf_thread_rank();
    }
    RMSPERF_INLINE bool is_valid() const { return true; }
    RMSPERF_INLINE void sync(rmsperf::Place place = rmsperf::here()) const {
        if (warp_mask_ != 0) {
            __syncwarp(warp_mask_, place);
        } else {
            __syncthreads(place);
        }
    }

protected:
    // The lanes of a group within a warp; 0 is the whole block.
    explicit thread_group(unsigned warp_mask) : warp_mask_(warp_mask) {}
    friend thread_group tiled_partition(const thread_group&, unsigned, rmsperf::Place);
    unsigned warp_mask_;
};

template <typename Group>
RMSPERF_INLINE auto sync(const Group& group, rmsperf::Place place = rmsperf::here())
    -> decltype(group.sync(place)) {
    group.sync(place);
}
template <typename Group>
RMSPERF_INLINE auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
    return group.thread_rank();
}
template <typename Group>
RMSPERF_INLINE auto group_size(const Group& group) -> decltype(group.size()) {
    return group.size();
}

}  // namespace cooperative_groups
