// Copies of many bytes: checked as a whole, because the compiler instruments no byte of them.
#pragma once

#include "runtime.h"
#include "words.h"

namespace rmsperf {
RMSPERF_UNCHECKED inline void* copy_bytes(void* target, const void* source, size_t bytes) {
    return __builtin_memmove(target, source, bytes);
}
RMSPERF_UNCHECKED inline void* set_bytes(void* target, int value, size_t bytes) {
    return __builtin_memset(target, value, bytes);
}
RMSPERF_UNCHECKED inline int compare_bytes(const void* one, const void* other, size_t bytes) {
    return __builtin_memcmp(one, other, bytes);
}
}  // namespace rmsperf

RMSPERF_INLINE void* rmsperf_memmove(void* target, const void* source, size_t bytes) {
    if (bytes == 0) return target;
    rmsperf::rmsperf_check_read(source, bytes);
    rmsperf::rmsperf_check_write(target, bytes);
    return rmsperf::copy_bytes(target, source, bytes);
}
RMSPERF_INLINE void* rmsperf_memcpy(void* target, const void* source, size_t bytes) {
    return rmsperf_memmove(target, source, bytes);
}
RMSPERF_INLINE void* rmsperf_memset(void* target, int value, size_t bytes) {
    if (bytes == 0) return target;
    rmsperf::rmsperf_check_write(target, bytes);
    return rmsperf::set_bytes(target, value, bytes);
}
RMSPERF_INLINE int rmsperf_memcmp(const void* one, const void* other, size_t bytes) {
    if (bytes == 0) return 0;
    rmsperf::rmsperf_check_read(one, bytes);
    rmsperf::rmsperf_check_read(other, bytes);
    return rmsperf::compare_bytes(one, other, bytes);
}

// So that `std::memcpy` finds them too.
namespace std {
using ::rmsperf_memcmp;
using ::rmsperf_memcpy;
using ::rmsperf_memmove;
using ::rmsperf_memset;
}  // namespace std

#define memcpy rmsperf_memcpy
#define memmove rmsperf_memmove
#define memset rmsperf_memset
#define memcmp rmsperf_memcmp
