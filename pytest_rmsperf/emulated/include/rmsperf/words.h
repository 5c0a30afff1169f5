// CUDA's own words as attributes of the host compiler, and the macros that texts test.
#pragma once

#include <cstddef>

// Helpers that wrap inline PTX give a twin in plain C++ under this macro.
#define RMSPERF_EMULATED 1

// A text under these two chooses its device code, which is what is compiled here.
// __CUDACC_RTC__ stays undefined although the GPU's twin comes from NVRTC: texts take it to mean
// that there are no standard headers, and declare for themselves what is declared here already.
#define __CUDACC__ 1
#ifdef RMSPERF_ARCH
#define __CUDA_ARCH__ RMSPERF_ARCH
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif

#define __host__
#define __device__
// A kernel stays a function of its own, so that a fault in it is found under its name.
#define __global__ __attribute__((noinline))
#define __constant__
#define __managed__
#define __grid_constant__
// One fiber after another runs on one thread of the host; the runtime changes what the storage
// holds when it changes blocks.
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __align__(...) __attribute__((aligned(__VA_ARGS__)))

namespace rmsperf {
template <typename T>
constexpr size_t alignment() {
    return alignof(T);
}
template <size_t N>
constexpr size_t alignment() {
    return N;
}
}  // namespace rmsperf

// nvcc accepts alignas between the words of a declaration (`__shared__ alignas(16) float x[8]`),
// where C++ has no place for it and g++ accepts only its own attribute.
#define alignas(...) __attribute__((aligned(::rmsperf::alignment<__VA_ARGS__>())))

// Helpers that a debugger should show as their caller.
#define RMSPERF_INLINE inline __attribute__((always_inline, artificial))
// Helpers that touch the runtime's memory, or check for themselves what they touch.
#define RMSPERF_UNCHECKED __attribute__((noinline, no_sanitize("thread", "undefined")))
