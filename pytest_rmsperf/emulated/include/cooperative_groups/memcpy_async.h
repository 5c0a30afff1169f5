// A group's asynchronous copies, made at once, each thread its share; `wait` is the group's
// barrier. A thread that reads its own share too early is not caught.
#pragma once

#include "../cooperative_groups.h"
#include "../rmsperf/cuda/copies.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Size>
RMSPERF_INLINE void memcpy_async(const Group& group, T* target, const T* source, Size bytes) {
    rmsperf::copy_share(group, target, source, static_cast<size_t>(bytes));
}
// The layouts count elements; as many are copied as both have.
template <typename Group, typename T, typename TargetLayout, typename SourceLayout>
RMSPERF_INLINE void memcpy_async(const Group& group, T* target, const TargetLayout& target_layout,
                                 const T* source, const SourceLayout& source_layout) {
    const size_t there = static_cast<size_t>(target_layout);
    const size_t here = static_cast<size_t>(source_layout);
    rmsperf::copy_share(group, target, source, (there < here ? there : here) * sizeof(T));
}

template <typename Group>
RMSPERF_INLINE void wait(const Group& group, rmsperf::Place place = rmsperf::here()) {
    group.sync(place);
}
template <unsigned int Stages, typename Group>
RMSPERF_INLINE void wait_prior(const Group& group, rmsperf::Place place = rmsperf::here()) {
    group.sync(place);
}

}  // namespace cooperative_groups
