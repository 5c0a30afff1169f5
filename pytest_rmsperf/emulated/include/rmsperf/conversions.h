// Conversions with the rounding in their name, which saturate where a cast in C++ is undefined.
//
// A cast itself (`int(1e30f)`) is the host's: it gives the most negative integer.
#pragma once

#include "rounded_math.h"
#include "words.h"

namespace rmsperf {

template <int ROUNDING, typename T>
RMSPERF_INLINE T integral(T x) {
    return ROUNDING == TO_ZERO ? std::trunc(x)
           : ROUNDING == UP    ? std::ceil(x)
           : ROUNDING == DOWN  ? std::floor(x)
                               : std::nearbyint(x);
}

// The device turns NaN into 0, or, where double or 64 bits take part, into the highest bit alone.
template <typename Integer, int ROUNDING, typename T>
inline Integer saturated(T x) {
    using Limits = std::numeric_limits<Integer>;
    constexpr bool WIDE = sizeof(Integer) == 8 || sizeof(T) == 8;
    if (x != x) {
        return WIDE ? static_cast<Integer>(1ull << (8 * sizeof(Integer) - 1)) : Integer(0);
    }
    const T rounded = integral<ROUNDING>(x);
    // Both limits or their neighbours are powers of two, so they are exact.
    constexpr T END = static_cast<T>(1ull << (Limits::digits - 1)) * 2;
    if (rounded >= END) return Limits::max();
    if (rounded < static_cast<T>(Limits::min())) return Limits::min();
    return static_cast<Integer>(rounded);
}

// By way of the host's conversion, which follows the rounding that is set.
template <typename To, typename From>
RMSPERF_UNCHECKED To rounded_conversion(int rounding, From x) {
    volatile From value = x;
    const int before = fegetround();
    fesetround(rounding);
    volatile To result = static_cast<To>(value);
    fesetround(before);
    return result;
}

}  // namespace rmsperf

#define RMSPERF_CONVERSIONS(suffix, rounding)                                                   \
    inline int __float2int_##suffix(float x) { return rmsperf::saturated<int, rounding>(x); }   \
    inline unsigned __float2uint_##suffix(float x) {                                            \
        return rmsperf::saturated<unsigned, rounding>(x);                                       \
    }                                                                                           \
    inline long long __float2ll_##suffix(float x) {                                             \
        return rmsperf::saturated<long long, rounding>(x);                                      \
    }                                                                                           \
    inline unsigned long long __float2ull_##suffix(float x) {                                   \
        return rmsperf::saturated<unsigned long long, rounding>(x);                             \
    }                                                                                           \
    inline int __double2int_##suffix(double x) { return rmsperf::saturated<int, rounding>(x); } \
    inline unsigned __double2uint_##suffix(double x) {                                          \
        return rmsperf::saturated<unsigned, rounding>(x);                                       \
    }                                                                                           \
    inline long long __double2ll_##suffix(double x) {                                           \
        return rmsperf::saturated<long long, rounding>(x);                                      \
    }                                                                                           \
    inline unsigned long long __double2ull_##suffix(double x) {                                 \
        return rmsperf::saturated<unsigned long long, rounding>(x);                             \
    }                                                                                           \
    inline float __double2float_##suffix(double x) {                                            \
        return rmsperf::rounded_conversion<float>(rounding, x);                                 \
    }                                                                                           \
    inline float __int2float_##suffix(int x) {                                                  \
        return rmsperf::rounded_conversion<float>(rounding, x);                                 \
    }                                                                                           \
    inline float __uint2float_##suffix(unsigned x) {                                            \
        return rmsperf::rounded_conversion<float>(rounding, x);                                 \
    }                                                                                           \
    inline float __ll2float_##suffix(long long x) {                                             \
        return rmsperf::rounded_conversion<float>(rounding, x);                                 \
    }                                                                                           \
    inline float __ull2float_##suffix(unsigned long long x) {                                   \
        return rmsperf::rounded_conversion<float>(rounding, x);                                 \
    }                                                                                           \
    inline double __ll2double_##suffix(long long x) {                                           \
        return rmsperf::rounded_conversion<double>(rounding, x);                                \
    }                                                                                           \
    inline double __ull2double_##suffix(unsigned long long x) {                                 \
        return rmsperf::rounded_conversion<double>(rounding, x);                                \
    }

RMSPERF_CONVERSIONS(rn, rmsperf::TO_NEAREST)
RMSPERF_CONVERSIONS(rz, rmsperf::TO_ZERO)
RMSPERF_CONVERSIONS(ru, rmsperf::UP)
RMSPERF_CONVERSIONS(rd, rmsperf::DOWN)
#undef RMSPERF_CONVERSIONS

inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
