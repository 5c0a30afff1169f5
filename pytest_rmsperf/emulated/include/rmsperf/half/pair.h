// Two numbers of 16 bits in one word, with CUDA's functions that treat both alike.
#pragma once

#include "number.h"

namespace rmsperf {

template <typename T>
struct __attribute__((aligned(4))) Pair16 {
    using Self = Pair16;
    T x, y;

    Pair16() = default;
    constexpr Pair16(T x, T y) : x(x), y(y) {}

#define RMSPERF_OPERATOR(sign)                                 \
    friend RMSPERF_INLINE Self operator sign(Self a, Self b) { \
        return {a.x sign b.x, a.y sign b.y};                   \
    }                                                          \
    RMSPERF_INLINE Self& operator sign## = (Self other) { return *this = *this sign other; }
    RMSPERF_OPERATOR(+)
    RMSPERF_OPERATOR(-)
    RMSPERF_OPERATOR(*)
    RMSPERF_OPERATOR(/)
#undef RMSPERF_OPERATOR
    friend RMSPERF_INLINE Self operator-(Self a) { return {-a.x, -a.y}; }

#define RMSPERF_UNARY(name, of_one) \
    friend RMSPERF_INLINE Self name(Self a) { return {of_one(a.x), of_one(a.y)}; }
    RMSPERF_UNARY(__hneg2, __hneg)
    RMSPERF_UNARY(__habs2, __habs)
    RMSPERF_UNARY(h2sqrt, hsqrt)
    RMSPERF_UNARY(h2rsqrt, hrsqrt)
    RMSPERF_UNARY(h2rcp, hrcp)
    RMSPERF_UNARY(h2exp, hexp)
    RMSPERF_UNARY(h2exp2, hexp2)
    RMSPERF_UNARY(h2exp10, hexp10)
    RMSPERF_UNARY(h2log, hlog)
    RMSPERF_UNARY(h2log2, hlog2)
    RMSPERF_UNARY(h2log10, hlog10)
    RMSPERF_UNARY(h2sin, hsin)
    RMSPERF_UNARY(h2cos, hcos)
    RMSPERF_UNARY(h2tanh, htanh)
    RMSPERF_UNARY(h2floor, hfloor)
    RMSPERF_UNARY(h2ceil, hceil)
    RMSPERF_UNARY(h2trunc, htrunc)
    RMSPERF_UNARY(h2rint, hrint)
#undef RMSPERF_UNARY

#define RMSPERF_BINARY(name, of_one) \
    friend RMSPERF_INLINE Self name(Self a, Self b) { return {of_one(a.x, b.x), of_one(a.y, b.y)}; }
    RMSPERF_BINARY(__hadd2, __hadd)
    RMSPERF_BINARY(__hsub2, __hsub)
    RMSPERF_BINARY(__hmul2, __hmul)
    RMSPERF_BINARY(__hadd2_rn, __hadd)
    RMSPERF_BINARY(__hsub2_rn, __hsub)
    RMSPERF_BINARY(__hmul2_rn, __hmul)
    RMSPERF_BINARY(__h2div, __hdiv)
    RMSPERF_BINARY(__hadd2_sat, __hadd_sat)
    RMSPERF_BINARY(__hsub2_sat, __hsub_sat)
    RMSPERF_BINARY(__hmul2_sat, __hmul_sat)
    RMSPERF_BINARY(__hmax2, __hmax)
    RMSPERF_BINARY(__hmin2, __hmin)
    RMSPERF_BINARY(__hmax2_nan, __hmax_nan)
    RMSPERF_BINARY(__hmin2_nan, __hmin_nan)
#undef RMSPERF_BINARY

    friend RMSPERF_INLINE Self __hfma2(Self a, Self b, Self c) {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    friend RMSPERF_INLINE Self __hfma2_relu(Self a, Self b, Self c) {
        return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
    }
    friend RMSPERF_INLINE Self __hfma2_sat(Self a, Self b, Self c) {
        return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
    }

    // 1 or 0 for each; with a b, whether it holds for both.
#define RMSPERF_COMPARISON(name)                                                             \
    friend RMSPERF_INLINE Self __h##name##2(Self a, Self b) {                                \
        return {T(__h##name(a.x, b.x) ? 1.0f : 0.0f), T(__h##name(a.y, b.y) ? 1.0f : 0.0f)}; \
    }                                                                                        \
    friend RMSPERF_INLINE bool __hb##name##2(Self a, Self b) {                               \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                   \
    }
    RMSPERF_COMPARISON(eq)
    RMSPERF_COMPARISON(ne)
    RMSPERF_COMPARISON(lt)
    RMSPERF_COMPARISON(le)
    RMSPERF_COMPARISON(gt)
    RMSPERF_COMPARISON(ge)
    RMSPERF_COMPARISON(equ)
    RMSPERF_COMPARISON(neu)
    RMSPERF_COMPARISON(ltu)
    RMSPERF_COMPARISON(leu)
    RMSPERF_COMPARISON(gtu)
    RMSPERF_COMPARISON(geu)
#undef RMSPERF_COMPARISON
    friend RMSPERF_INLINE bool operator==(Self a, Self b) { return __hbeq2(a, b); }
    friend RMSPERF_INLINE bool operator!=(Self a, Self b) { return __hbneu2(a, b); }
    friend RMSPERF_INLINE bool operator<(Self a, Self b) { return __hblt2(a, b); }
    friend RMSPERF_INLINE bool operator<=(Self a, Self b) { return __hble2(a, b); }
    friend RMSPERF_INLINE bool operator>(Self a, Self b) { return __hbgt2(a, b); }
    friend RMSPERF_INLINE bool operator>=(Self a, Self b) { return __hbge2(a, b); }
    friend RMSPERF_INLINE Self __hisnan2(Self a) {
        return {T(__hisnan(a.x) ? 1.0f : 0.0f), T(__hisnan(a.y) ? 1.0f : 0.0f)};
    }

    friend RMSPERF_INLINE float __low2float(Self a) { return a.x; }
    friend RMSPERF_INLINE float __high2float(Self a) { return a.y; }
};

}  // namespace rmsperf

// What both kinds of numbers call by the same names outside of their classes.
#define RMSPERF_NUMBER16(T, T2)            \
    RMSPERF_SHUFFLES(T)                    \
    RMSPERF_SHUFFLES(T2)                   \
    RMSPERF_NUMBER16_ATOMIC(T, T2, )       \
    RMSPERF_NUMBER16_ATOMIC(T, T2, _block) \
    RMSPERF_NUMBER16_ATOMIC(T, T2, _system)
#define RMSPERF_NUMBER16_ATOMIC(T, T2, scope)                                                    \
    RMSPERF_INLINE T atomicAdd##scope(T* address, T value) {                                     \
        return rmsperf::atomic_update(address, __ATOMIC_RELAXED,                                 \
                                      [value](T old) { return old + value; });                   \
    }                                                                                            \
    RMSPERF_INLINE T2 atomicAdd##scope(T2* address, T2 value) {                                  \
        return {atomicAdd##scope(&address->x, value.x), atomicAdd##scope(&address->y, value.y)}; \
    }

#define RMSPERF_NUMBER16_CONVERSIONS(T, word, suffix, rounding, integer_rounding)     \
    RMSPERF_INLINE T __float2##word##_##suffix(float x) {                             \
        return T(static_cast<double>(x), rounding);                                   \
    }                                                                                 \
    RMSPERF_INLINE T __int2##word##_##suffix(int x) {                                 \
        return T(static_cast<double>(x), rounding);                                   \
    }                                                                                 \
    RMSPERF_INLINE T __uint2##word##_##suffix(unsigned x) {                           \
        return T(static_cast<double>(x), rounding);                                   \
    }                                                                                 \
    RMSPERF_INLINE int __##word##2int_##suffix(T x) {                                 \
        return rmsperf::saturated<int, integer_rounding>(static_cast<float>(x));      \
    }                                                                                 \
    RMSPERF_INLINE unsigned __##word##2uint_##suffix(T x) {                           \
        return rmsperf::saturated<unsigned, integer_rounding>(static_cast<float>(x)); \
    }
#define RMSPERF_ALL_NUMBER16_CONVERSIONS(T, word)                                              \
    RMSPERF_NUMBER16_CONVERSIONS(T, word, rn, rmsperf::Rounding::nearest, rmsperf::TO_NEAREST) \
    RMSPERF_NUMBER16_CONVERSIONS(T, word, rz, rmsperf::Rounding::zero, rmsperf::TO_ZERO)       \
    RMSPERF_NUMBER16_CONVERSIONS(T, word, ru, rmsperf::Rounding::up, rmsperf::UP)              \
    RMSPERF_NUMBER16_CONVERSIONS(T, word, rd, rmsperf::Rounding::down, rmsperf::DOWN)
