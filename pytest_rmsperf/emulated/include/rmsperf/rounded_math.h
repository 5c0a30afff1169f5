// Arithmetic with the rounding in its name: to nearest even, to zero, up, down.
#pragma once

#include <cfenv>

#include "words.h"

namespace rmsperf {

constexpr int TO_NEAREST = FE_TONEAREST, TO_ZERO = FE_TOWARDZERO, UP = FE_UPWARD,
              DOWN = FE_DOWNWARD;

// The operands and the result go through volatile memory, so that the operation stays between the
// two changes of the rounding. Not instrumented: no fiber takes over while it is changed.
#define RMSPERF_ROUNDED_FUNCTION(name, expression)                      \
    template <typename T>                                               \
    RMSPERF_UNCHECKED T name(int rounding, T x, T y = T(), T z = T()) { \
        volatile T a = x, b = y, c = z;                                 \
        static_cast<void>(b + c);                                       \
        const int before = fegetround();                                \
        fesetround(rounding);                                           \
        volatile T result = expression;                                 \
        fesetround(before);                                             \
        return result;                                                  \
    }
RMSPERF_ROUNDED_FUNCTION(rounded_sum, a + b)
RMSPERF_ROUNDED_FUNCTION(rounded_difference, a - b)
RMSPERF_ROUNDED_FUNCTION(rounded_product, a* b)
RMSPERF_ROUNDED_FUNCTION(rounded_quotient, a / b)
RMSPERF_ROUNDED_FUNCTION(rounded_reciprocal, T(1) / a)
RMSPERF_ROUNDED_FUNCTION(rounded_root, std::sqrt(T(a)))
RMSPERF_ROUNDED_FUNCTION(rounded_fma, std::fma(T(a), T(b), T(c)))
#undef RMSPERF_ROUNDED_FUNCTION

}  // namespace rmsperf

#define RMSPERF_ROUNDED(T, prefix, suffix, rounding)                                              \
    inline T prefix##add_##suffix(T x, T y) { return rmsperf::rounded_sum(rounding, x, y); }      \
    inline T prefix##sub_##suffix(T x, T y) {                                                     \
        return rmsperf::rounded_difference(rounding, x, y);                                       \
    }                                                                                             \
    inline T prefix##mul_##suffix(T x, T y) { return rmsperf::rounded_product(rounding, x, y); }  \
    inline T prefix##div_##suffix(T x, T y) { return rmsperf::rounded_quotient(rounding, x, y); } \
    inline T prefix##rcp_##suffix(T x) { return rmsperf::rounded_reciprocal(rounding, x); }       \
    inline T prefix##sqrt_##suffix(T x) { return rmsperf::rounded_root(rounding, x); }
#define RMSPERF_ALL_ROUNDED(suffix, rounding)                    \
    RMSPERF_ROUNDED(float, __f, suffix, rounding)                \
    RMSPERF_ROUNDED(double, __d, suffix, rounding)               \
    inline float __fmaf_##suffix(float x, float y, float z) {    \
        return rmsperf::rounded_fma(rounding, x, y, z);          \
    }                                                            \
    inline double __fma_##suffix(double x, double y, double z) { \
        return rmsperf::rounded_fma(rounding, x, y, z);          \
    }

RMSPERF_ALL_ROUNDED(rn, rmsperf::TO_NEAREST)
RMSPERF_ALL_ROUNDED(rz, rmsperf::TO_ZERO)
RMSPERF_ALL_ROUNDED(ru, rmsperf::UP)
RMSPERF_ALL_ROUNDED(rd, rmsperf::DOWN)
#undef RMSPERF_ALL_ROUNDED
#undef RMSPERF_ROUNDED

inline float __frsqrt_rn(float x) {
    return static_cast<float>(1.0 / ::sqrt(static_cast<double>(x)));
}
