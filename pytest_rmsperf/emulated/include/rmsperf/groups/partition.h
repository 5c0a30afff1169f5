// Groups made from groups.
#pragma once

#include "block.h"
#include "warp_groups.h"

namespace cooperative_groups {

template <unsigned int Size>
RMSPERF_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
    return {rmsperf::rmsperf_thread_rank() / Size, (rmsperf::block_threads() + Size - 1) / Size};
}

template <unsigned int Size, unsigned int ParentSize, typename ParentT>
RMSPERF_INLINE thread_block_tile<Size, thread_block_tile<ParentSize, ParentT>> tiled_partition(
    const thread_block_tile<ParentSize, ParentT>&) {
    static_assert(Size <= ParentSize, "a tile is no larger than the tile it is part of");
    return {rmsperf::lane() % ParentSize / Size, ParentSize / Size};
}

// Tiles whose size is known only at run time.
RMSPERF_INLINE thread_group tiled_partition(const thread_group& parent, unsigned size,
                                            rmsperf::Place place = rmsperf::here()) {
    if (size < 1 || size > 32 || (size & (size - 1)) != 0)
        rmsperf::rmsperf_fault("calls tiled_partition for a size that is no power of two up to 32",
                               place);
    const unsigned lanes = parent.warp_mask_ != 0 ? parent.warp_mask_ : 0xffffffffu;
    const unsigned rank = rmsperf::rank_of_lane(lanes, rmsperf::lane());
    unsigned mask = 0;
    for (unsigned i = 0; i < size; ++i) {
        const unsigned lane = rmsperf::lane_of_rank(lanes, rank / size * size + i);
        if (lane < 32) mask |= 1u << lane;
    }
    return thread_group(mask);
}

RMSPERF_INLINE thread_block_tile<1, void> this_thread() { return {0, 1}; }

// The group of those who brought the same; its meta group are the groups made by the same call,
// in the order of their lowest lanes where CUDA leaves the order open.
template <typename Label>
RMSPERF_INLINE coalesced_group labeled_partition(const warp_group& parent, Label label,
                                                 rmsperf::Place place = rmsperf::here()) {
    const unsigned own = __match_any_sync(parent.rmsperf_mask(), label, place);
    const unsigned lowest = own & (~own + 1);
    const unsigned leaders =
        __ballot_sync(parent.rmsperf_mask(), lowest == 1u << rmsperf::lane(), place);
    return coalesced_group(own, static_cast<unsigned>(__builtin_popcount(leaders & (lowest - 1))),
                           static_cast<unsigned>(__builtin_popcount(leaders)));
}

// Those for whom the predicate holds are the second of two groups.
RMSPERF_INLINE coalesced_group binary_partition(const warp_group& parent, bool predicate,
                                                rmsperf::Place place = rmsperf::here()) {
    const unsigned mask = parent.rmsperf_mask();
    const rmsperf::Ballot votes = rmsperf::ballot(mask, predicate, place);
    const unsigned own = predicate ? votes.set : votes.lanes & ~votes.set;
    return coalesced_group(own, predicate ? 1 : 0, 2);
}

template <typename Group, typename Function, typename... A>
RMSPERF_INLINE void invoke_one(const Group& group, Function&& function, A&&... arguments) {
    if (group.thread_rank() == 0) function(static_cast<A&&>(arguments)...);
}
template <typename Group, typename Function, typename... A>
RMSPERF_INLINE auto invoke_one_broadcast(const Group& group, Function&& function,
                                         A&&... arguments) {
    decltype(function(static_cast<A&&>(arguments)...)) result{};
    if (group.thread_rank() == 0) result = function(static_cast<A&&>(arguments)...);
    return group.shfl(result, 0);
}

}  // namespace cooperative_groups
