// Integer intrinsics, and numbers read as other numbers' bits.
#pragma once

#include "vectors.h"

namespace rmsperf {
template <typename To, typename From>
RMSPERF_INLINE To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits are neither lost nor made up");
    To result;
    __builtin_memcpy(&result, &value, sizeof(To));
    return result;
}
}  // namespace rmsperf

// ---- bits of floats --------------------------------------------------------------------------

RMSPERF_INLINE int __float_as_int(float x) { return rmsperf::bits_as<int>(x); }
RMSPERF_INLINE unsigned __float_as_uint(float x) { return rmsperf::bits_as<unsigned>(x); }
RMSPERF_INLINE float __int_as_float(int x) { return rmsperf::bits_as<float>(x); }
RMSPERF_INLINE float __uint_as_float(unsigned x) { return rmsperf::bits_as<float>(x); }
RMSPERF_INLINE long long __double_as_longlong(double x) { return rmsperf::bits_as<long long>(x); }
RMSPERF_INLINE double __longlong_as_double(long long x) { return rmsperf::bits_as<double>(x); }
RMSPERF_INLINE int __double2hiint(double x) {
    return static_cast<int>(__double_as_longlong(x) >> 32);
}
RMSPERF_INLINE int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
RMSPERF_INLINE double __hiloint2double(int high, int low) {
    return rmsperf::bits_as<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                                    static_cast<unsigned>(low));
}

// ---- counting and moving bits ----------------------------------------------------------------

RMSPERF_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
RMSPERF_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
RMSPERF_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
RMSPERF_INLINE int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
RMSPERF_INLINE int __ffs(int x) { return __builtin_ffs(x); }
RMSPERF_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }

RMSPERF_INLINE unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
RMSPERF_INLINE unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}

// Each nibble of the selector names a byte of y:x; its high bit spreads that byte's sign bit.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned chosen = selector >> 4 * i & 7;
        const unsigned byte = static_cast<unsigned>(both >> 8 * chosen) & 0xffu;
        result |= byte << 8 * i;
    }
    return result;
}

namespace rmsperf {
RMSPERF_INLINE unsigned long long joined(unsigned low, unsigned high) {
    return static_cast<unsigned long long>(high) << 32 | low;
}
}  // namespace rmsperf

RMSPERF_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(rmsperf::joined(low, high) << (shift & 31) >> 32);
}
RMSPERF_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(rmsperf::joined(low, high) << (shift < 32 ? shift : 32) >> 32);
}
RMSPERF_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(rmsperf::joined(low, high) >> (shift & 31));
}
RMSPERF_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>(rmsperf::joined(low, high) >> (shift < 32 ? shift : 32));
}

// ---- products, averages, differences ---------------------------------------------------------

RMSPERF_INLINE int __mulhi(int a, int b) {
    return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
RMSPERF_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
RMSPERF_INLINE long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
RMSPERF_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
// Of the 24 low bits; the 32 low bits of the product.
RMSPERF_INLINE unsigned __umul24(unsigned a, unsigned b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
RMSPERF_INLINE int __mul24(int a, int b) {
    const int left = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
    const int right = static_cast<int>(static_cast<unsigned>(b) << 8) >> 8;
    return static_cast<int>(static_cast<unsigned>(left) * static_cast<unsigned>(right));
}
RMSPERF_INLINE int mul24(int a, int b) { return __mul24(a, b); }
RMSPERF_INLINE unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
RMSPERF_INLINE int mulhi(int a, int b) { return __mulhi(a, b); }
RMSPERF_INLINE unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
RMSPERF_INLINE long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
RMSPERF_INLINE unsigned long long umul64hi(unsigned long long a, unsigned long long b) {
    return __umul64hi(a, b);
}

// Averages do not overflow; the rounding ones round up.
RMSPERF_INLINE int __hadd(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
RMSPERF_INLINE int __rhadd(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
RMSPERF_INLINE unsigned __uhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
RMSPERF_INLINE unsigned __urhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
RMSPERF_INLINE unsigned __sad(int a, int b, unsigned sum) {
    const long long difference = static_cast<long long>(a) - b;
    return static_cast<unsigned>(difference < 0 ? -difference : difference) + sum;
}
RMSPERF_INLINE unsigned __usad(unsigned a, unsigned b, unsigned sum) {
    return (a < b ? b - a : a - b) + sum;
}

// ---- dot products of bytes and of halves of words --------------------------------------------

namespace rmsperf {
template <typename Left, typename Right>
RMSPERF_INLINE unsigned dot4(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 4; ++i)
        sum += static_cast<unsigned>(static_cast<Left>(a >> 8 * i)) *
               static_cast<unsigned>(static_cast<Right>(b >> 8 * i));
    return sum;
}
// `first` is the byte of b that the low half of a meets.
template <typename Left, typename Right>
RMSPERF_INLINE unsigned dot2(unsigned a, unsigned b, unsigned sum, int first) {
    for (int i = 0; i < 2; ++i)
        sum += static_cast<unsigned>(static_cast<Left>(a >> 16 * i)) *
               static_cast<unsigned>(static_cast<Right>(b >> 8 * (first + i)));
    return sum;
}
}  // namespace rmsperf

RMSPERF_INLINE int __dp4a(int a, int b, int sum) {
    return static_cast<int>(rmsperf::dot4<signed char, signed char>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(sum)));
}
RMSPERF_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    return rmsperf::dot4<unsigned char, unsigned char>(a, b, sum);
}
RMSPERF_INLINE int __dp4a(char4 a, char4 b, int sum) {
    return __dp4a(rmsperf::bits_as<int>(a), rmsperf::bits_as<int>(b), sum);
}
RMSPERF_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
    return __dp4a(rmsperf::bits_as<unsigned>(a), rmsperf::bits_as<unsigned>(b), sum);
}
RMSPERF_INLINE int __dp2a_lo(int a, int b, int sum) {
    return static_cast<int>(rmsperf::dot2<short, signed char>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(sum), 0));
}
RMSPERF_INLINE int __dp2a_hi(int a, int b, int sum) {
    return static_cast<int>(rmsperf::dot2<short, signed char>(
        static_cast<unsigned>(a), static_cast<unsigned>(b), static_cast<unsigned>(sum), 2));
}
RMSPERF_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
    return rmsperf::dot2<unsigned short, unsigned char>(a, b, sum, 0);
}
RMSPERF_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) {
    return rmsperf::dot2<unsigned short, unsigned char>(a, b, sum, 2);
}
