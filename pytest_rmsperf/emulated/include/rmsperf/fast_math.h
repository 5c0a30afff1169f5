// The device's approximate functions, in the steps and roundings that the device takes.
//
// The special function unit's last bits are not known: its results are computed in double and
// rounded once, so they differ from the device's by its documented error at most.
#pragma once

#include "words.h"

namespace rmsperf {
RMSPERF_INLINE float exponential_of_two(float x) {
    return static_cast<float>(::exp2(static_cast<double>(x)));
}
RMSPERF_INLINE float logarithm_of_two(float x) {
    return static_cast<float>(::log2(static_cast<double>(x)));
}
}  // namespace rmsperf

// The product is rounded to float before the exponential: for large x that is most of the error.
RMSPERF_INLINE float __expf(float x) {
    return rmsperf::exponential_of_two(x * 1.4426950408889634f);
}
RMSPERF_INLINE float __exp10f(float x) {
    return rmsperf::exponential_of_two(x * 3.3219280948873623f);
}
RMSPERF_INLINE float __log2f(float x) { return rmsperf::logarithm_of_two(x); }
RMSPERF_INLINE float __logf(float x) { return rmsperf::logarithm_of_two(x) * 0.6931471805599453f; }
RMSPERF_INLINE float __log10f(float x) {
    return rmsperf::logarithm_of_two(x) * 0.30102999566398120f;
}
RMSPERF_INLINE float __powf(float x, float y) {
    return rmsperf::exponential_of_two(y * rmsperf::logarithm_of_two(x));
}
RMSPERF_INLINE float __sinf(float x) { return static_cast<float>(::sin(static_cast<double>(x))); }
RMSPERF_INLINE float __cosf(float x) { return static_cast<float>(::cos(static_cast<double>(x))); }
RMSPERF_INLINE void __sincosf(float x, float* sine, float* cosine) {
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
RMSPERF_INLINE float __tanhf(float x) { return static_cast<float>(::tanh(static_cast<double>(x))); }

// Divides by way of a reciprocal, which is lost where it would be below the normal floats:
// 2^126 < |divisor| < 2^128 gives 0, and NaN under an infinity.
RMSPERF_INLINE float __fdividef(float dividend, float divisor) {
    const float size = fabsf(divisor);
    if (size > 0x1p126f && size <= std::numeric_limits<float>::max()) return dividend * 0.0f;
    return dividend / divisor;
}
RMSPERF_INLINE float fdividef(float dividend, float divisor) { return dividend / divisor; }
RMSPERF_INLINE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }

RMSPERF_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
