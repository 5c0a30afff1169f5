// Barriers of a block and fences.
#pragma once

#include "index.h"

RMSPERF_INLINE void __syncthreads(rmsperf::Place place = rmsperf::here()) {
    rmsperf::rmsperf_block_barrier(rmsperf::Vote::none, 0, place);
}
RMSPERF_INLINE int __syncthreads_count(int predicate, rmsperf::Place place = rmsperf::here()) {
    return rmsperf::rmsperf_block_barrier(rmsperf::Vote::count, predicate, place);
}
RMSPERF_INLINE int __syncthreads_and(int predicate, rmsperf::Place place = rmsperf::here()) {
    return rmsperf::rmsperf_block_barrier(rmsperf::Vote::all, predicate, place);
}
RMSPERF_INLINE int __syncthreads_or(int predicate, rmsperf::Place place = rmsperf::here()) {
    return rmsperf::rmsperf_block_barrier(rmsperf::Vote::any, predicate, place);
}

RMSPERF_INLINE void __barrier_sync(unsigned id, rmsperf::Place place = rmsperf::here()) {
    // Without a count the barrier is for all warps of the block, which are whole ones to it.
    const unsigned warps = (rmsperf::block_threads() + 31) / 32;
    rmsperf::rmsperf_named_barrier(id, warps * 32, place);
}
RMSPERF_INLINE void __barrier_sync_count(unsigned id, unsigned threads,
                                         rmsperf::Place place = rmsperf::here()) {
    rmsperf::rmsperf_named_barrier(id, threads, place);
}

// g++ warns that the sanitizer's own library would not see fences; the runtime does.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
// The scope is not told apart: a fence here orders at least what it orders on the device.
RMSPERF_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
RMSPERF_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
RMSPERF_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#pragma GCC diagnostic pop

RMSPERF_INLINE void __nanosleep(unsigned nanoseconds) { rmsperf::rmsperf_sleep(nanoseconds); }
