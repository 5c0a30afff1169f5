// The vector types, aligned as on the device: a float4 is one access of 16 bytes.
#pragma once

#include "words.h"

// `align` are the alignments of the vectors of one, two, three and four elements.
#define RMSPERF_VECTORS(name, T, align1, align2, align3, align4)                         \
    struct __attribute__((aligned(align1))) name##1 { T x; };                            \
    struct __attribute__((aligned(align2))) name##2 { T x, y; };                         \
    struct __attribute__((aligned(align3))) name##3 { T x, y, z; };                      \
    struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                   \
    constexpr RMSPERF_INLINE name##1 make_##name##1(T x) { return {x}; }                 \
    constexpr RMSPERF_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    constexpr RMSPERF_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    constexpr RMSPERF_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

RMSPERF_VECTORS(char, signed char, 1, 2, 1, 4)
RMSPERF_VECTORS(uchar, unsigned char, 1, 2, 1, 4)
RMSPERF_VECTORS(short, short, 2, 4, 2, 8)
RMSPERF_VECTORS(ushort, unsigned short, 2, 4, 2, 8)
RMSPERF_VECTORS(int, int, 4, 8, 4, 16)
RMSPERF_VECTORS(uint, unsigned, 4, 8, 4, 16)
RMSPERF_VECTORS(long, long, 8, 16, 8, 16)
RMSPERF_VECTORS(ulong, unsigned long, 8, 16, 8, 16)
RMSPERF_VECTORS(longlong, long long, 8, 16, 8, 16)
RMSPERF_VECTORS(ulonglong, unsigned long long, 8, 16, 8, 16)
RMSPERF_VECTORS(float, float, 4, 8, 4, 16)
RMSPERF_VECTORS(double, double, 8, 16, 8, 16)
#undef RMSPERF_VECTORS

// CUDA 13 names the alignment of the vectors of 32 bytes.
#define RMSPERF_ALIGNED_VECTOR(name, T, align)                                                  \
    struct __attribute__((aligned(align))) name##4_##align##a { T x, y, z, w; };                \
    constexpr RMSPERF_INLINE name##4_##align##a make_##name##4_##align##a(T x, T y, T z, T w) { \
        return {x, y, z, w};                                                                    \
    }
#define RMSPERF_ALIGNED_VECTORS(name, T) \
    RMSPERF_ALIGNED_VECTOR(name, T, 16)  \
    RMSPERF_ALIGNED_VECTOR(name, T, 32)

RMSPERF_ALIGNED_VECTORS(long, long)
RMSPERF_ALIGNED_VECTORS(ulong, unsigned long)
RMSPERF_ALIGNED_VECTORS(longlong, long long)
RMSPERF_ALIGNED_VECTORS(ulonglong, unsigned long long)
RMSPERF_ALIGNED_VECTORS(double, double)
#undef RMSPERF_ALIGNED_VECTORS
#undef RMSPERF_ALIGNED_VECTOR

struct dim3 {
    unsigned x, y, z;

    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 other) : x(other.x), y(other.y), z(other.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
