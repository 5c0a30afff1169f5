// CUDA's atomic functions: relaxed, as on the device, and without a scope.
//
// An atomic of block scope that several blocks share is therefore not caught.
#pragma once

#include "atomic_words.h"
#include "loads.h"
#include "vectors.h"

namespace rmsperf {

template <typename T>
constexpr bool is_atomic_integer =
    std::is_integral<T>::value && !std::is_same<T, bool>::value && sizeof(T) >= 4;
template <typename T>
constexpr bool is_atomic_number =
    is_atomic_integer<T> || std::is_same<T, float>::value || std::is_same<T, double>::value;

}  // namespace rmsperf

// `allowed` says for which T the device has the function.
#define RMSPERF_ATOMIC_IN(name, scope, allowed, expression)                     \
    template <typename T>                                                       \
    RMSPERF_INLINE T name##scope(T* address, const rmsperf::same<T> value) {    \
        static_assert(allowed, #name #scope ": the type has no such function"); \
        return expression;                                                      \
    }
#define RMSPERF_ATOMIC(name, allowed, expression)        \
    RMSPERF_ATOMIC_IN(name, , allowed, expression)       \
    RMSPERF_ATOMIC_IN(name, _block, allowed, expression) \
    RMSPERF_ATOMIC_IN(name, _system, allowed, expression)

RMSPERF_ATOMIC(atomicAdd, rmsperf::is_atomic_number<T>,
               rmsperf::atomic_add(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicSub, rmsperf::is_atomic_integer<T>,
               rmsperf::atomic_subtract(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicExch, rmsperf::is_atomic_number<T>,
               rmsperf::atomic_exchange(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicMin, rmsperf::is_atomic_integer<T>,
               rmsperf::atomic_min(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicMax, rmsperf::is_atomic_integer<T>,
               rmsperf::atomic_max(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicAnd, rmsperf::is_atomic_integer<T>,
               __atomic_fetch_and(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicOr, rmsperf::is_atomic_integer<T>,
               __atomic_fetch_or(address, value, __ATOMIC_RELAXED))
RMSPERF_ATOMIC(atomicXor, rmsperf::is_atomic_integer<T>,
               __atomic_fetch_xor(address, value, __ATOMIC_RELAXED))
#undef RMSPERF_ATOMIC
#undef RMSPERF_ATOMIC_IN

// Counters that start anew: above `limit` at 0, below 0 at `limit`.
#define RMSPERF_ATOMIC_IN(scope)                                                                 \
    RMSPERF_INLINE unsigned atomicInc##scope(unsigned* address, unsigned limit) {                \
        return rmsperf::atomic_update(address, __ATOMIC_RELAXED, [limit](unsigned old) {         \
            return old >= limit ? 0u : old + 1;                                                  \
        });                                                                                      \
    }                                                                                            \
    RMSPERF_INLINE unsigned atomicDec##scope(unsigned* address, unsigned limit) {                \
        return rmsperf::atomic_update(address, __ATOMIC_RELAXED, [limit](unsigned old) {         \
            return old == 0 || old > limit ? limit : old - 1;                                    \
        });                                                                                      \
    }                                                                                            \
    template <typename T>                                                                        \
    RMSPERF_INLINE T atomicCAS##scope(T* address, rmsperf::same<T> expected,                     \
                                      const rmsperf::same<T> desired) {                          \
        static_assert(std::is_integral<T>::value && sizeof(T) >= 2,                              \
                      "atomicCAS" #scope ": the type has no such function");                     \
        rmsperf::atomic_compare_exchange(address, expected, desired, __ATOMIC_RELAXED,           \
                                         __ATOMIC_RELAXED);                                      \
        return expected;                                                                         \
    }                                                                                            \
    /* The device adds the elements one by one, too. */                                          \
    RMSPERF_INLINE float2 atomicAdd##scope(float2* address, float2 value) {                      \
        return {atomicAdd##scope(&address->x, value.x), atomicAdd##scope(&address->y, value.y)}; \
    }                                                                                            \
    RMSPERF_INLINE float4 atomicAdd##scope(float4* address, float4 value) {                      \
        return {atomicAdd##scope(&address->x, value.x), atomicAdd##scope(&address->y, value.y),  \
                atomicAdd##scope(&address->z, value.z), atomicAdd##scope(&address->w, value.w)}; \
    }

RMSPERF_ATOMIC_IN()
RMSPERF_ATOMIC_IN(_block)
RMSPERF_ATOMIC_IN(_system)
#undef RMSPERF_ATOMIC_IN
