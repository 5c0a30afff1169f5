// Numbers of 16 bits: their bits from a double, rounded once, and back.
#pragma once

#include <rmsperf/prelude.h>

namespace rmsperf {

enum class Rounding { nearest, zero, up, down };

template <int EXPONENT_BITS, int FRACTION_BITS>
inline uint16_t narrowed(double value, Rounding rounding = Rounding::nearest) {
    constexpr int BIAS = (1 << (EXPONENT_BITS - 1)) - 1;
    constexpr uint64_t INFINITE = ((1ull << EXPONENT_BITS) - 1) << FRACTION_BITS;
    const uint64_t bits = bits_as<uint64_t>(value);
    const bool negative = bits >> 63 != 0;
    const uint64_t sign = negative ? 0x8000u : 0u, fraction = bits & ((1ull << 52) - 1);
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff && fraction != 0) return 0x7fff;  // the device's only NaN
    if (exponent == 0x7ff) return static_cast<uint16_t>(sign | INFINITE);

    const int target = exponent - 1023 + BIAS;
    int shift = 52 - FRACTION_BITS + (target <= 0 ? 1 - target : 0);
    if (shift > 55) shift = 55;  // nothing is kept, and less than half a unit is left
    const uint64_t whole = fraction | (exponent != 0 ? 1ull << 52 : 0);
    const uint64_t kept = whole >> shift, rest = whole & ((1ull << shift) - 1);
    const uint64_t middle = 1ull << (shift - 1);
    const bool away = rounding == Rounding::nearest ? rest + (kept & 1) > middle
                      : rounding == Rounding::up    ? rest != 0 && !negative
                      : rounding == Rounding::down  ? rest != 0 && negative
                                                    : false;
    const uint64_t base = target > 0 ? static_cast<uint64_t>(target - 1) << FRACTION_BITS : 0;
    const uint64_t size = base + kept + (away ? 1 : 0);
    if (size < INFINITE) return static_cast<uint16_t>(sign | size);
    const bool overflows =
        rounding == Rounding::nearest || rounding == (negative ? Rounding::down : Rounding::up);
    return static_cast<uint16_t>(sign | (overflows ? INFINITE : INFINITE - 1));
}

template <int EXPONENT_BITS, int FRACTION_BITS>
inline float widened(uint16_t bits) {
    constexpr int BIAS = (1 << (EXPONENT_BITS - 1)) - 1;
    constexpr unsigned LARGEST = (1u << EXPONENT_BITS) - 1;
    const unsigned sign = (bits & 0x8000u) << 16;
    const unsigned exponent = bits >> FRACTION_BITS & LARGEST;
    const unsigned fraction = (bits & ((1u << FRACTION_BITS) - 1)) << (23 - FRACTION_BITS);
    if (exponent == LARGEST) return bits_as<float>(sign | 0x7f800000u | fraction);
    if (EXPONENT_BITS == 8) return bits_as<float>(sign | exponent << 23 | fraction);
    if (exponent != 0) return bits_as<float>(sign | (exponent + 127 - BIAS) << 23 | fraction);
    // A multiple of the smallest number, which a float holds as a normal one.
    const float size = static_cast<float>(fraction) * bits_as<float>((127u - 23 + 1 - BIAS) << 23);
    return sign != 0 ? -size : size;
}

// a * b + c, rounded to odd: a last bit that says "inexact" survives the rounding to 16 bits, so
// that the two roundings are as good as one. The product of two such numbers is exact.
inline double odd_fma(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const double addend = static_cast<double>(c), sum = product + addend;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (addend - back);
    const uint64_t bits = bits_as<uint64_t>(sum);
    if (!(error != 0.0) || !std::isfinite(sum) || (bits & 1) != 0) return sum;
    const bool grows = (error > 0.0) == (sum > 0.0);
    return bits_as<double>(grows ? bits + 1 : bits - 1);
}

}  // namespace rmsperf
