// CUDA's mathematical functions that the host's library lacks or has in another namespace.
#pragma once

#include "words.h"

// ---- roots -----------------------------------------------------------------------------------

RMSPERF_INLINE float rsqrtf(float x) {
    return static_cast<float>(1.0 / ::sqrt(static_cast<double>(x)));
}
RMSPERF_INLINE double rsqrt(double x) { return 1.0 / ::sqrt(x); }
RMSPERF_INLINE float rsqrt(float x) { return rsqrtf(x); }
RMSPERF_INLINE float rcbrtf(float x) {
    return static_cast<float>(1.0 / ::cbrt(static_cast<double>(x)));
}
RMSPERF_INLINE double rcbrt(double x) { return 1.0 / ::cbrt(x); }
RMSPERF_INLINE float rcbrt(float x) { return rcbrtf(x); }

// ---- lengths ---------------------------------------------------------------------------------

namespace rmsperf {
// Scaled by the largest, so that no square overflows.
RMSPERF_INLINE double length(const double* values, int count) {
    double largest = 0.0, total = 0.0;
    for (int i = 0; i < count; ++i) {
        if (std::isinf(values[i])) return std::numeric_limits<double>::infinity();
        largest = ::fmax(largest, ::fabs(values[i]));
    }
    const double scale = largest > 0.0 ? largest : 1.0;
    for (int i = 0; i < count; ++i) total += (values[i] / scale) * (values[i] / scale);
    return scale * ::sqrt(total);
}
template <typename... T>
inline double length_of(T... values) {
    const double all[] = {static_cast<double>(values)...};
    return length(all, sizeof...(T));
}
}  // namespace rmsperf

RMSPERF_INLINE double norm(int count, const double* values) {
    return rmsperf::length(values, count);
}
RMSPERF_INLINE float normf(int count, const float* values) {
    double total = 0.0;
    for (int i = 0; i < count; ++i) {
        if (std::isinf(values[i])) return std::numeric_limits<float>::infinity();
        total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    return static_cast<float>(::sqrt(total));
}

#define RMSPERF_LENGTH(T, suffix)                                    \
    RMSPERF_INLINE T norm3d##suffix(T a, T b, T c) {                 \
        return static_cast<T>(rmsperf::length_of(a, b, c));          \
    }                                                                \
    RMSPERF_INLINE T norm4d##suffix(T a, T b, T c, T d) {            \
        return static_cast<T>(rmsperf::length_of(a, b, c, d));       \
    }                                                                \
    RMSPERF_INLINE T rhypot##suffix(T a, T b) {                      \
        return static_cast<T>(1.0 / rmsperf::length_of(a, b));       \
    }                                                                \
    RMSPERF_INLINE T rnorm3d##suffix(T a, T b, T c) {                \
        return static_cast<T>(1.0 / rmsperf::length_of(a, b, c));    \
    }                                                                \
    RMSPERF_INLINE T rnorm4d##suffix(T a, T b, T c, T d) {           \
        return static_cast<T>(1.0 / rmsperf::length_of(a, b, c, d)); \
    }
RMSPERF_LENGTH(float, f)
RMSPERF_LENGTH(double, )
#undef RMSPERF_LENGTH

// ---- angles in half turns --------------------------------------------------------------------

namespace rmsperf {
constexpr double PI = 3.14159265358979323846;
// Reduced before the product with pi, so that whole and half numbers give exact results.
inline double sine_of_half_turns(double x) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    const double turned = ::fmod(x, 2.0);
    const double size = ::fabs(turned);
    double sine = 0.0;
    if (size <= 0.25)
        sine = ::sin(PI * size);
    else if (size < 0.75)
        sine = ::cos(PI * (size - 0.5));
    else if (size <= 1.25)
        sine = ::sin(PI * (1.0 - size));
    else if (size < 1.75)
        sine = -::cos(PI * (size - 1.5));
    else
        sine = ::sin(PI * (size - 2.0));
    return std::signbit(turned) ? -sine : sine;
}
inline double cosine_of_half_turns(double x) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    const double size = ::fmod(::fabs(x), 2.0);
    if (size <= 0.25) return ::cos(PI * size);
    if (size < 0.75) return ::sin(PI * (0.5 - size));
    if (size <= 1.25) return -::cos(PI * (1.0 - size));
    if (size < 1.75) return ::sin(PI * (size - 1.5));
    return ::cos(PI * (2.0 - size));
}
}  // namespace rmsperf

#define RMSPERF_HALF_TURNS(T, suffix)                                                              \
    RMSPERF_INLINE T sinpi##suffix(T x) { return static_cast<T>(rmsperf::sine_of_half_turns(x)); } \
    RMSPERF_INLINE T cospi##suffix(T x) {                                                          \
        return static_cast<T>(rmsperf::cosine_of_half_turns(x));                                   \
    }                                                                                              \
    RMSPERF_INLINE void sincospi##suffix(T x, T* sine, T* cosine) {                                \
        *sine = sinpi##suffix(x);                                                                  \
        *cosine = cospi##suffix(x);                                                                \
    }
RMSPERF_HALF_TURNS(float, f)
RMSPERF_HALF_TURNS(double, )
#undef RMSPERF_HALF_TURNS

// ---- the normal distribution -----------------------------------------------------------------

RMSPERF_INLINE double normcdf(double x) { return 0.5 * ::erfc(-x * 0.70710678118654752440); }
RMSPERF_INLINE float normcdff(float x) {
    return static_cast<float>(normcdf(static_cast<double>(x)));
}

// ---- extrema: of two types, as CUDA mixes them -----------------------------------------------

#define RMSPERF_EXTREMA(A, B, result)                                                    \
    constexpr RMSPERF_INLINE result min(A a, B b) {                                      \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)  \
                                                               : static_cast<result>(b); \
    }                                                                                    \
    constexpr RMSPERF_INLINE result max(A a, B b) {                                      \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b)  \
                                                               : static_cast<result>(a); \
    }
#define RMSPERF_MIXED_EXTREMA(T, U) \
    RMSPERF_EXTREMA(T, T, T)        \
    RMSPERF_EXTREMA(U, U, U)        \
    RMSPERF_EXTREMA(T, U, U)        \
    RMSPERF_EXTREMA(U, T, U)
RMSPERF_MIXED_EXTREMA(int, unsigned)
RMSPERF_MIXED_EXTREMA(long, unsigned long)
RMSPERF_MIXED_EXTREMA(long long, unsigned long long)
#undef RMSPERF_MIXED_EXTREMA
#undef RMSPERF_EXTREMA

// Of a number and NaN, the number.
RMSPERF_INLINE float min(float a, float b) { return fminf(a, b); }
RMSPERF_INLINE float max(float a, float b) { return fmaxf(a, b); }
RMSPERF_INLINE double min(double a, double b) { return ::fmin(a, b); }
RMSPERF_INLINE double max(double a, double b) { return ::fmax(a, b); }
RMSPERF_INLINE double min(float a, double b) { return ::fmin(static_cast<double>(a), b); }
RMSPERF_INLINE double min(double a, float b) { return ::fmin(a, static_cast<double>(b)); }
RMSPERF_INLINE double max(float a, double b) { return ::fmax(static_cast<double>(a), b); }
RMSPERF_INLINE double max(double a, float b) { return ::fmax(a, static_cast<double>(b)); }

RMSPERF_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
RMSPERF_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
RMSPERF_INLINE long long llmin(long long a, long long b) { return min(a, b); }
RMSPERF_INLINE long long llmax(long long a, long long b) { return max(a, b); }
RMSPERF_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
RMSPERF_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}
