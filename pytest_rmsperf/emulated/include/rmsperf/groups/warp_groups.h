// Groups within a warp: tiles, whose size is a constant, and any set of lanes.
#pragma once

#include "thread_group.h"

namespace cooperative_groups {

// What tiles and coalesced groups have in common; ranks in, ranks out.
class warp_group : public thread_group {
public:
    RMSPERF_INLINE unsigned long long meta_group_rank() const { return meta_rank_; }
    RMSPERF_INLINE unsigned long long meta_group_size() const { return meta_size_; }

    RMSPERF_INLINE int any(int predicate, rmsperf::Place place = rmsperf::here()) const {
        return __any_sync(warp_mask_, predicate, place);
    }
    RMSPERF_INLINE int all(int predicate, rmsperf::Place place = rmsperf::here()) const {
        return __all_sync(warp_mask_, predicate, place);
    }
    RMSPERF_INLINE unsigned ballot(int predicate, rmsperf::Place place = rmsperf::here()) const {
        return rmsperf::ranks_of_lanes(warp_mask_, __ballot_sync(warp_mask_, predicate, place));
    }
    template <typename T>
    RMSPERF_INLINE unsigned match_any(T value, rmsperf::Place place = rmsperf::here()) const {
        return rmsperf::ranks_of_lanes(warp_mask_, __match_any_sync(warp_mask_, value, place));
    }
    template <typename T>
    RMSPERF_INLINE unsigned match_all(T value, int& all_match,
                                      rmsperf::Place place = rmsperf::here()) const {
        return rmsperf::ranks_of_lanes(warp_mask_,
                                       __match_all_sync(warp_mask_, value, &all_match, place));
    }
    // The lanes of the warp that make the group; for the headers beside this one.
    RMSPERF_INLINE unsigned rmsperf_mask() const { return warp_mask_; }

protected:
    warp_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : thread_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
    unsigned meta_rank_, meta_size_;
};

class coalesced_group : public warp_group {
public:
    explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : warp_group(mask, meta_rank, meta_size) {}

    template <typename T>
    RMSPERF_INLINE T shfl(T value, unsigned rank, rmsperf::Place place = rmsperf::here()) const {
        return from_rank(value, rank % static_cast<unsigned>(size()), "coalesced_group::shfl",
                         place);
    }
    template <typename T>
    RMSPERF_INLINE T shfl_up(T value, unsigned delta,
                             rmsperf::Place place = rmsperf::here()) const {
        const unsigned own = static_cast<unsigned>(thread_rank());
        return from_rank(value, own >= delta ? own - delta : own, "coalesced_group::shfl_up",
                         place);
    }
    template <typename T>
    RMSPERF_INLINE T shfl_down(T value, unsigned delta,
                               rmsperf::Place place = rmsperf::here()) const {
        const unsigned own = static_cast<unsigned>(thread_rank());
        return from_rank(value, delta < size() - own ? own + delta : own,
                         "coalesced_group::shfl_down", place);
    }

private:
    template <typename T>
    RMSPERF_INLINE T from_rank(T value, unsigned rank, const char* function,
                               rmsperf::Place place) const {
        const unsigned lane = rmsperf::lane_of_rank(warp_mask_, rank);
        return rmsperf::shuffle<T>(warp_mask_, value, {lane, function}, place);
    }
};

// The calling thread alone: which threads come together is the device's choice, and one is a
// choice it may make. See __activemask.
RMSPERF_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int Size, typename ParentT = void>
class thread_block_tile;

template <unsigned int Size>
class thread_block_tile<Size, void> : public warp_group {
    static_assert(Size <= 32,
                  "tiled_partition: a thread_block_tile of more than 32 threads is not emulated");
    static_assert(Size > 0 && (Size & (Size - 1)) == 0,
                  "the size of a thread_block_tile is a power of two");

public:
    thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : warp_group(tile_mask(), meta_rank, meta_size) {}

    static constexpr unsigned long long size() { return Size; }
    static constexpr unsigned long long num_threads() { return Size; }
    RMSPERF_INLINE static unsigned long long thread_rank() { return rmsperf::lane() % Size; }

    template <typename T>
    RMSPERF_INLINE T shfl(T value, int rank, rmsperf::Place place = rmsperf::here()) const {
        constexpr const char* NAME = "thread_block_tile::shfl";
        return from(value, rmsperf::indexed_lane(rank, Size, NAME, place), NAME, place);
    }
    template <typename T>
    RMSPERF_INLINE T shfl_up(T value, unsigned delta,
                             rmsperf::Place place = rmsperf::here()) const {
        constexpr const char* NAME = "thread_block_tile::shfl_up";
        return from(value, rmsperf::lane_above(delta, Size, NAME, place), NAME, place);
    }
    template <typename T>
    RMSPERF_INLINE T shfl_down(T value, unsigned delta,
                               rmsperf::Place place = rmsperf::here()) const {
        constexpr const char* NAME = "thread_block_tile::shfl_down";
        return from(value, rmsperf::lane_below(delta, Size, NAME, place), NAME, place);
    }
    template <typename T>
    RMSPERF_INLINE T shfl_xor(T value, unsigned lanes,
                              rmsperf::Place place = rmsperf::here()) const {
        constexpr const char* NAME = "thread_block_tile::shfl_xor";
        return from(value, rmsperf::lane_across(static_cast<int>(lanes), Size, NAME, place), NAME,
                    place);
    }

private:
    RMSPERF_INLINE static unsigned tile_mask() {
        return (0xffffffffu >> (32 - Size)) << (rmsperf::lane() & ~(Size - 1));
    }
    template <typename T>
    RMSPERF_INLINE T from(const T& value, unsigned lane, const char* function,
                          rmsperf::Place place) const {
        return rmsperf::shuffle<T>(warp_mask_, value, {lane, function}, place);
    }
};

template <unsigned int Size, typename ParentT>
class thread_block_tile : public thread_block_tile<Size, void> {
public:
    using thread_block_tile<Size, void>::thread_block_tile;
};

}  // namespace cooperative_groups
