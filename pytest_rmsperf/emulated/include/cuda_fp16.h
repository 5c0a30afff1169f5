// __half and half2: IEEE numbers of 16 bits.
#pragma once

#include "rmsperf/half/pair.h"

using __half_raw = rmsperf::RawBits;
using __half = rmsperf::Number16<5, 10>;
using __half2 = rmsperf::Pair16<__half>;
using half = __half;
using half2 = __half2;

RMSPERF_NUMBER16(__half, __half2)
RMSPERF_ALL_NUMBER16_CONVERSIONS(__half, half)

// ---- one number ------------------------------------------------------------------------------

RMSPERF_INLINE __half __float2half(float x) { return x; }
RMSPERF_INLINE __half __double2half(double x) { return x; }
RMSPERF_INLINE float __half2float(__half x) { return x; }
RMSPERF_INLINE short __half_as_short(__half x) { return static_cast<short>(x.bits()); }
RMSPERF_INLINE unsigned short __half_as_ushort(__half x) { return x.bits(); }
RMSPERF_INLINE __half __short_as_half(short bits) {
    return __half::of_bits(static_cast<unsigned short>(bits));
}
RMSPERF_INLINE __half __ushort_as_half(unsigned short bits) { return __half::of_bits(bits); }
RMSPERF_INLINE unsigned short __half2ushort_rz(__half x) {
    return static_cast<unsigned short>(min(__half2uint_rz(x), 65535u));
}
RMSPERF_INLINE __half __ushort2half_rn(unsigned short x) { return x; }
RMSPERF_INLINE __half __short2half_rn(short x) { return x; }

// ---- two numbers -----------------------------------------------------------------------------

RMSPERF_INLINE __half2 make_half2(__half x, __half y) { return {x, y}; }
RMSPERF_INLINE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
RMSPERF_INLINE __half2 __half2half2(__half x) { return {x, x}; }
RMSPERF_INLINE __half __low2half(__half2 x) { return x.x; }
RMSPERF_INLINE __half __high2half(__half2 x) { return x.y; }
RMSPERF_INLINE __half2 __low2half2(__half2 x) { return {x.x, x.x}; }
RMSPERF_INLINE __half2 __high2half2(__half2 x) { return {x.y, x.y}; }
RMSPERF_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
RMSPERF_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
RMSPERF_INLINE __half2 __lowhigh2highlow(__half2 x) { return {x.y, x.x}; }
RMSPERF_INLINE __half2 __float2half2_rn(float x) { return {x, x}; }
RMSPERF_INLINE __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
RMSPERF_INLINE __half2 __float22half2_rn(float2 x) { return {x.x, x.y}; }
RMSPERF_INLINE float2 __half22float2(__half2 x) { return {x.x, x.y}; }
