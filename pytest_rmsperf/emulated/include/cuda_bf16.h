// __nv_bfloat16 and __nv_bfloat162: the upper half of a float.
#pragma once

#include "rmsperf/half/pair.h"

using __nv_bfloat16_raw = rmsperf::RawBits;
using __nv_bfloat16 = rmsperf::Number16<8, 7>;
using __nv_bfloat162 = rmsperf::Pair16<__nv_bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

RMSPERF_NUMBER16(__nv_bfloat16, __nv_bfloat162)
RMSPERF_ALL_NUMBER16_CONVERSIONS(__nv_bfloat16, bfloat16)

// ---- one number ------------------------------------------------------------------------------

RMSPERF_INLINE __nv_bfloat16 __float2bfloat16(float x) { return x; }
RMSPERF_INLINE __nv_bfloat16 __double2bfloat16(double x) { return x; }
RMSPERF_INLINE float __bfloat162float(__nv_bfloat16 x) { return x; }
RMSPERF_INLINE short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.bits()); }
RMSPERF_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits(); }
RMSPERF_INLINE __nv_bfloat16 __short_as_bfloat16(short bits) {
    return __nv_bfloat16::of_bits(static_cast<unsigned short>(bits));
}
RMSPERF_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    return __nv_bfloat16::of_bits(bits);
}

// ---- two numbers -----------------------------------------------------------------------------

RMSPERF_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
RMSPERF_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return {x, y};
}
RMSPERF_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
RMSPERF_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
RMSPERF_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
RMSPERF_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x) { return {x.x, x.x}; }
RMSPERF_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x) { return {x.y, x.y}; }
RMSPERF_INLINE __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {a.x, b.x};
}
RMSPERF_INLINE __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {a.y, b.y};
}
RMSPERF_INLINE __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x) { return {x.y, x.x}; }
RMSPERF_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
RMSPERF_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
RMSPERF_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 x) { return {x.x, x.y}; }
RMSPERF_INLINE float2 __bfloat1622float2(__nv_bfloat162 x) { return {x.x, x.y}; }
