// Reductions within a warp's groups, combined in halves as shuffles do it; all threads of the
// group hold the result.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define RMSPERF_OPERATION(name, expression)                                              \
    template <typename T>                                                                \
    struct name {                                                                        \
        RMSPERF_INLINE T operator()(const T& a, const T& b) const { return expression; } \
    };
RMSPERF_OPERATION(plus, a + b)
RMSPERF_OPERATION(less, b < a ? b : a)
RMSPERF_OPERATION(greater, a < b ? b : a)
RMSPERF_OPERATION(bit_and, a& b)
RMSPERF_OPERATION(bit_or, a | b)
RMSPERF_OPERATION(bit_xor, a ^ b)
#undef RMSPERF_OPERATION

}  // namespace cooperative_groups

namespace rmsperf {

// Halves as long as there are some, so that a sum of floats is rounded as by a butterfly.
template <typename T, typename Combine>
RMSPERF_UNCHECKED inline T combine_by_halves(const AllWords<WORDS_OF<T>>& all, Combine& combine) {
    T values[32];
    unsigned count = values_of(all, values);
    for (; count % 2 == 0; count /= 2)
        for (unsigned i = 0; i < count / 2; ++i)
            values[i] = combine(values[i], values[i + count / 2]);
    for (unsigned i = 1; i < count; ++i) values[0] = combine(values[0], values[i]);
    return values[0];
}

}  // namespace rmsperf

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
RMSPERF_INLINE T reduce(const Group& group, T value, Operation&& operation,
                        rmsperf::Place place = rmsperf::here()) {
    static_assert(std::is_base_of<warp_group, Group>::value,
                  "cooperative_groups::reduce takes a tile or a coalesced group");
    rmsperf::AllWords<rmsperf::WORDS_OF<T>> all;
    rmsperf::gather(group.rmsperf_mask(), value, &all, place);
    return rmsperf::combine_by_halves<T>(all, operation);
}

}  // namespace cooperative_groups
