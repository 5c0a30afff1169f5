// Copies that a group of threads makes together.
#pragma once

#include <rmsperf/prelude.h>

namespace cuda {

// A size that is a multiple of the alignment.
template <size_t Alignment>
struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;
    constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    constexpr operator size_t() const { return value; }
};

}  // namespace cuda

namespace rmsperf {

// The calling thread's share: pieces of 16 bytes, one after another to one thread after another.
template <typename Group>
RMSPERF_INLINE void copy_share(const Group& group, void* target, const void* source, size_t bytes) {
    constexpr size_t PIECE = 16;
    const size_t step = static_cast<size_t>(group.num_threads()) * PIECE;
    for (size_t at = static_cast<size_t>(group.thread_rank()) * PIECE; at < bytes; at += step) {
        const size_t rest = bytes - at;
        rmsperf_memcpy(static_cast<char*>(target) + at, static_cast<const char*>(source) + at,
                       rest < PIECE ? rest : PIECE);
    }
}

}  // namespace rmsperf
