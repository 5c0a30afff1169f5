// Scans within a warp's groups, in the steps of shuffles from below: 1, 2, 4, 8, 16 ranks away.
#pragma once

#include "reduce.h"

namespace rmsperf {

template <typename T, typename Combine>
RMSPERF_UNCHECKED inline T scanned(const AllWords<WORDS_OF<T>>& all, unsigned rank,
                                   Combine& combine) {
    T values[32];
    const unsigned count = values_of(all, values);
    for (unsigned step = 1; step < count; step *= 2)
        for (unsigned i = count; i-- > step;) values[i] = combine(values[i - step], values[i]);
    return values[rank];
}

}  // namespace rmsperf

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
RMSPERF_INLINE T inclusive_scan(const Group& group, T value, Operation&& operation,
                                rmsperf::Place place = rmsperf::here()) {
    static_assert(std::is_base_of<warp_group, Group>::value,
                  "cooperative_groups::inclusive_scan takes a tile or a coalesced group");
    rmsperf::AllWords<rmsperf::WORDS_OF<T>> all;
    rmsperf::gather(group.rmsperf_mask(), value, &all, place);
    return rmsperf::scanned<T>(all, static_cast<unsigned>(group.thread_rank()), operation);
}
template <typename Group, typename T>
RMSPERF_INLINE T inclusive_scan(const Group& group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

// The first thread's result is T(), as for the sums that CUDA defines it for.
template <typename Group, typename T, typename Operation>
RMSPERF_INLINE T exclusive_scan(const Group& group, T value, Operation&& operation,
                                rmsperf::Place place = rmsperf::here()) {
    static_assert(std::is_base_of<warp_group, Group>::value,
                  "cooperative_groups::exclusive_scan takes a tile or a coalesced group");
    const unsigned rank = static_cast<unsigned>(group.thread_rank());
    rmsperf::AllWords<rmsperf::WORDS_OF<T>> all;
    rmsperf::gather(group.rmsperf_mask(), value, &all, place);
    return rank == 0 ? T() : rmsperf::scanned<T>(all, rank - 1, operation);
}
template <typename Group, typename T>
RMSPERF_INLINE T exclusive_scan(const Group& group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
