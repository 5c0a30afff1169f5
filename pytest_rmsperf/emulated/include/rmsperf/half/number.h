// A number of 16 bits with CUDA's functions: computed in float, which is wide enough for the result
// of one operation to be rounded only once.
#pragma once

#include "formats.h"

namespace rmsperf {

struct __attribute__((aligned(2))) RawBits {
    unsigned short x;
};

template <int EXPONENT_BITS, int FRACTION_BITS>
class __attribute__((aligned(2))) Number16 {
    using Self = Number16;

public:
    Number16() = default;  // trivial, so that it may lie in shared memory
    RMSPERF_INLINE Number16(RawBits raw) : bits_(raw.x) {}
    RMSPERF_INLINE Number16(float value) : Number16(static_cast<double>(value)) {}
    RMSPERF_INLINE Number16(double value) : Number16(value, Rounding::nearest) {}
    RMSPERF_INLINE Number16(double value, Rounding rounding)
        : bits_(narrowed<EXPONENT_BITS, FRACTION_BITS>(value, rounding)) {}
    template <typename Integer,
              typename = typename std::enable_if<std::is_integral<Integer>::value>::type>
    RMSPERF_INLINE Number16(Integer value) : Number16(static_cast<double>(value)) {}

    RMSPERF_INLINE operator float() const { return widened<EXPONENT_BITS, FRACTION_BITS>(bits_); }
    RMSPERF_INLINE operator RawBits() const { return {bits_}; }
    static RMSPERF_INLINE Self of_bits(unsigned short bits) { return Self(RawBits{bits}); }
    RMSPERF_INLINE unsigned short bits() const { return bits_; }

    // ---- arithmetic --------------------------------------------------------------------------

    friend RMSPERF_INLINE Self operator+(Self a, Self b) { return float(a) + float(b); }
    friend RMSPERF_INLINE Self operator-(Self a, Self b) { return float(a) - float(b); }
    friend RMSPERF_INLINE Self operator*(Self a, Self b) { return float(a) * float(b); }
    friend RMSPERF_INLINE Self operator/(Self a, Self b) { return float(a) / float(b); }
    friend RMSPERF_INLINE Self operator-(Self a) { return of_bits(a.bits_ ^ 0x8000u); }
    friend RMSPERF_INLINE Self operator+(Self a) { return a; }
    RMSPERF_INLINE Self& operator+=(Self other) { return *this = *this + other; }
    RMSPERF_INLINE Self& operator-=(Self other) { return *this = *this - other; }
    RMSPERF_INLINE Self& operator*=(Self other) { return *this = *this * other; }
    RMSPERF_INLINE Self& operator/=(Self other) { return *this = *this / other; }
    RMSPERF_INLINE Self& operator++() { return *this += Self(1.0f); }
    RMSPERF_INLINE Self& operator--() { return *this -= Self(1.0f); }

    friend RMSPERF_INLINE Self __hadd(Self a, Self b) { return a + b; }
    friend RMSPERF_INLINE Self __hsub(Self a, Self b) { return a - b; }
    friend RMSPERF_INLINE Self __hmul(Self a, Self b) { return a * b; }
    friend RMSPERF_INLINE Self __hdiv(Self a, Self b) { return a / b; }
    friend RMSPERF_INLINE Self __hadd_rn(Self a, Self b) { return a + b; }
    friend RMSPERF_INLINE Self __hsub_rn(Self a, Self b) { return a - b; }
    friend RMSPERF_INLINE Self __hmul_rn(Self a, Self b) { return a * b; }
    friend RMSPERF_INLINE Self __hneg(Self a) { return -a; }
    friend RMSPERF_INLINE Self __habs(Self a) { return of_bits(a.bits_ & 0x7fffu); }
    friend RMSPERF_INLINE Self __hfma(Self a, Self b, Self c) {
        return odd_fma(float(a), float(b), float(c));
    }
    friend RMSPERF_INLINE Self __hfma_relu(Self a, Self b, Self c) {
        const Self result = __hfma(a, b, c);
        return float(result) < 0.0f ? Self(0.0f) : result;
    }
    friend RMSPERF_INLINE Self __hadd_sat(Self a, Self b) { return __saturatef(a + b); }
    friend RMSPERF_INLINE Self __hsub_sat(Self a, Self b) { return __saturatef(a - b); }
    friend RMSPERF_INLINE Self __hmul_sat(Self a, Self b) { return __saturatef(a * b); }
    friend RMSPERF_INLINE Self __hfma_sat(Self a, Self b, Self c) {
        return __saturatef(__hfma(a, b, c));
    }

    // ---- comparisons: false for NaN, but for `!=` and those with a u --------------------------

#define RMSPERF_COMPARISON(name, sign)                                                          \
    friend RMSPERF_INLINE bool operator sign(Self a, Self b) { return float(a) sign float(b); } \
    friend RMSPERF_INLINE bool __h##name(Self a, Self b) {                                      \
        return !either_nan(a, b) && float(a) sign float(b);                                     \
    }                                                                                           \
    friend RMSPERF_INLINE bool __h##name##u(Self a, Self b) {                                   \
        return either_nan(a, b) || float(a) sign float(b);                                      \
    }
    RMSPERF_COMPARISON(eq, ==)
    RMSPERF_COMPARISON(ne, !=)
    RMSPERF_COMPARISON(lt, <)
    RMSPERF_COMPARISON(le, <=)
    RMSPERF_COMPARISON(gt, >)
    RMSPERF_COMPARISON(ge, >=)
#undef RMSPERF_COMPARISON

    friend RMSPERF_INLINE bool __hisnan(Self a) { return std::isnan(float(a)); }
    friend RMSPERF_INLINE int __hisinf(Self a) {
        return !std::isinf(float(a)) ? 0 : float(a) < 0.0f ? -1 : 1;
    }
    // Of a number and NaN the number, and +0 above -0.
    friend RMSPERF_INLINE Self __hmax(Self a, Self b) {
        if (__hisnan(a) || __hisnan(b)) return __hisnan(a) ? quiet(b) : a;
        return float(a) > float(b) || (float(a) == float(b) && (a.bits_ & 0x8000u) == 0) ? a : b;
    }
    friend RMSPERF_INLINE Self __hmin(Self a, Self b) {
        if (__hisnan(a) || __hisnan(b)) return __hisnan(a) ? quiet(b) : a;
        return float(a) < float(b) || (float(a) == float(b) && (a.bits_ & 0x8000u) != 0) ? a : b;
    }
    friend RMSPERF_INLINE Self __hmax_nan(Self a, Self b) {
        return either_nan(a, b) ? of_bits(0x7fff) : __hmax(a, b);
    }
    friend RMSPERF_INLINE Self __hmin_nan(Self a, Self b) {
        return either_nan(a, b) ? of_bits(0x7fff) : __hmin(a, b);
    }

    // ---- functions: in double, rounded once --------------------------------------------------

#define RMSPERF_FUNCTION(name, expression)              \
    friend RMSPERF_INLINE Self h##name(Self a) {        \
        const double x = static_cast<double>(float(a)); \
        return Self(expression);                        \
    }
    RMSPERF_FUNCTION(sqrt, ::sqrt(x))
    RMSPERF_FUNCTION(rsqrt, 1.0 / ::sqrt(x))
    RMSPERF_FUNCTION(rcp, 1.0 / x)
    RMSPERF_FUNCTION(exp, ::exp(x))
    RMSPERF_FUNCTION(exp2, ::exp2(x))
    RMSPERF_FUNCTION(exp10, ::exp10(x))
    RMSPERF_FUNCTION(log, ::log(x))
    RMSPERF_FUNCTION(log2, ::log2(x))
    RMSPERF_FUNCTION(log10, ::log10(x))
    RMSPERF_FUNCTION(sin, ::sin(x))
    RMSPERF_FUNCTION(cos, ::cos(x))
    RMSPERF_FUNCTION(tanh, ::tanh(x))
    RMSPERF_FUNCTION(floor, ::floor(x))
    RMSPERF_FUNCTION(ceil, ::ceil(x))
    RMSPERF_FUNCTION(trunc, ::trunc(x))
    RMSPERF_FUNCTION(rint, ::nearbyint(x))
#undef RMSPERF_FUNCTION

private:
    static RMSPERF_INLINE bool either_nan(Self a, Self b) { return __hisnan(a) || __hisnan(b); }
    static RMSPERF_INLINE Self quiet(Self a) { return __hisnan(a) ? of_bits(0x7fff) : a; }

    unsigned short bits_;
};

}  // namespace rmsperf
