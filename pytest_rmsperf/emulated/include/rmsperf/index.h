// Who the running thread is.
//
// Macros and not objects: `threadIdx.x` is an `unsigned` wherever it stands, and the compiler may
// ask once per thread.
#pragma once

#include "runtime.h"
#include "vectors.h"

namespace rmsperf {

RMSPERF_INLINE uint3 vector_of(Index3 index) { return {index.x, index.y, index.z}; }
RMSPERF_INLINE uint3 thread_index() { return vector_of(rmsperf_thread_index()); }
RMSPERF_INLINE uint3 block_index() { return vector_of(rmsperf_block_index()); }
RMSPERF_INLINE dim3 block_dim() { return vector_of(rmsperf_block_dim()); }
RMSPERF_INLINE dim3 grid_dim() { return vector_of(rmsperf_grid_dim()); }

RMSPERF_INLINE unsigned product(dim3 extent) { return extent.x * extent.y * extent.z; }
RMSPERF_INLINE unsigned block_threads() { return product(block_dim()); }
RMSPERF_INLINE unsigned lane() { return rmsperf_thread_rank() % 32; }

}  // namespace rmsperf

#define threadIdx (::rmsperf::thread_index())
#define blockIdx (::rmsperf::block_index())
#define blockDim (::rmsperf::block_dim())
#define gridDim (::rmsperf::grid_dim())

constexpr int warpSize = 32;
