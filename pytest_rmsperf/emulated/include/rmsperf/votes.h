// What the lanes of a warp find out together: barriers, votes, matches and reductions.
#pragma once

#include "index.h"

namespace rmsperf {

struct Ballot {
    unsigned set;    // lanes whose value is not zero
    unsigned lanes;  // those that took part
};

// What the lanes brought lies in the runtime's memory, which only these functions look at. The
// exchange itself is called from the kernel's own code, where its line is found.
RMSPERF_UNCHECKED inline Ballot lanes_with(const WarpValues* all, bool any_but_zero,
                                           uint64_t value) {
    Ballot result = {0, all->lanes};
    for (unsigned i = 0; i < 32; ++i) {
        if ((all->lanes >> i & 1) == 0) continue;
        if (any_but_zero ? all->values[i] != 0 : all->values[i] == value) result.set |= 1u << i;
    }
    return result;
}

RMSPERF_INLINE Ballot ballot(unsigned mask, int predicate, Place place) {
    const uint64_t vote = predicate != 0;
    return lanes_with(rmsperf_warp_exchange(mask, WarpOperation::vote, vote, place), true, 0);
}

// The lanes that brought the caller's bits.
RMSPERF_INLINE Ballot match(unsigned mask, uint64_t value, Place place) {
    return lanes_with(rmsperf_warp_exchange(mask, WarpOperation::match, value, place), false,
                      value);
}

template <typename T>
RMSPERF_INLINE uint64_t word_of(T value) {
    static_assert(sizeof(T) <= 8, "one word per lane");
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    return word;
}

// What all lanes brought of a value of SIZE words.
template <size_t SIZE>
struct AllWords {
    uint64_t words[32][SIZE];
    uint32_t lanes;
};

template <size_t SIZE>
RMSPERF_UNCHECKED inline void collect(const WarpValues* all, size_t word, AllWords<SIZE>* target) {
    for (unsigned i = 0; i < 32; ++i) target->words[i][word] = all->values[i];
    target->lanes = all->lanes;
}

template <typename T>
constexpr size_t WORDS_OF = (sizeof(T) + 7) / 8;

template <typename T>
RMSPERF_INLINE void gather(unsigned mask, const T& value, AllWords<WORDS_OF<T>>* target,
                           Place place) {
    static_assert(std::is_trivially_copyable<T>::value, "lanes exchange bytes");
    uint64_t words[WORDS_OF<T>] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (size_t i = 0; i < WORDS_OF<T>; ++i)
        collect(rmsperf_warp_exchange(mask, WarpOperation::reduction, words[i], place), i, target);
}

// The values of the lanes that took part, lowest lane first; returns how many there are.
template <typename T>
RMSPERF_UNCHECKED inline unsigned values_of(const AllWords<WORDS_OF<T>>& all, T* values) {
    unsigned count = 0;
    for (unsigned i = 0; i < 32; ++i)
        if ((all.lanes >> i & 1) != 0) __builtin_memcpy(&values[count++], all.words[i], sizeof(T));
    return count;
}

template <typename T, typename Combine>
RMSPERF_UNCHECKED inline T fold(const AllWords<WORDS_OF<T>>& all, Combine& combine) {
    T values[32];
    const unsigned count = values_of(all, values);
    T result = values[0];
    for (unsigned i = 1; i < count; ++i) result = combine(result, values[i]);
    return result;
}

template <typename T, typename Combine>
RMSPERF_INLINE T reduce_lanes(unsigned mask, T value, Combine combine, Place place) {
    AllWords<WORDS_OF<T>> all;
    gather(mask, value, &all, place);
    return fold<T>(all, combine);
}

}  // namespace rmsperf

RMSPERF_INLINE void __syncwarp(unsigned mask = 0xffffffffu,
                               rmsperf::Place place = rmsperf::here()) {
    rmsperf::rmsperf_warp_exchange(mask, rmsperf::WarpOperation::barrier, 0, place);
}

// The caller alone. Which lanes are active together is the device's choice, and one lane is a
// choice it may make; a text that needs more of it is wrong, and shows it here.
RMSPERF_INLINE unsigned __activemask() { return 1u << rmsperf::lane(); }

RMSPERF_INLINE int __all_sync(unsigned mask, int predicate,
                              rmsperf::Place place = rmsperf::here()) {
    const rmsperf::Ballot votes = rmsperf::ballot(mask, predicate, place);
    return votes.set == votes.lanes;
}
RMSPERF_INLINE int __any_sync(unsigned mask, int predicate,
                              rmsperf::Place place = rmsperf::here()) {
    return rmsperf::ballot(mask, predicate, place).set != 0;
}
RMSPERF_INLINE unsigned __ballot_sync(unsigned mask, int predicate,
                                      rmsperf::Place place = rmsperf::here()) {
    return rmsperf::ballot(mask, predicate, place).set;
}
RMSPERF_INLINE int __uni_sync(unsigned mask, int predicate,
                              rmsperf::Place place = rmsperf::here()) {
    const rmsperf::Ballot votes = rmsperf::ballot(mask, predicate, place);
    return votes.set == 0 || votes.set == votes.lanes;
}

#define RMSPERF_MATCHES(T)                                                                 \
    RMSPERF_INLINE unsigned __match_any_sync(unsigned mask, T value,                       \
                                             rmsperf::Place place = rmsperf::here()) {     \
        return rmsperf::match(mask, rmsperf::word_of(value), place).set;                   \
    }                                                                                      \
    RMSPERF_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all_match,       \
                                             rmsperf::Place place = rmsperf::here()) {     \
        const rmsperf::Ballot same = rmsperf::match(mask, rmsperf::word_of(value), place); \
        *all_match = same.set == same.lanes;                                               \
        return *all_match ? same.set : 0;                                                  \
    }

RMSPERF_MATCHES(int)
RMSPERF_MATCHES(unsigned)
RMSPERF_MATCHES(long)
RMSPERF_MATCHES(unsigned long)
RMSPERF_MATCHES(long long)
RMSPERF_MATCHES(unsigned long long)
RMSPERF_MATCHES(float)
RMSPERF_MATCHES(double)
#undef RMSPERF_MATCHES

#define RMSPERF_REDUCTION(T, name, expression)                                              \
    RMSPERF_INLINE T name(unsigned mask, T value, rmsperf::Place place = rmsperf::here()) { \
        return rmsperf::reduce_lanes<T>(                                                    \
            mask, value, [](T a, T b) -> T { return expression; }, place);                  \
    }

RMSPERF_REDUCTION(unsigned, __reduce_add_sync, a + b)
RMSPERF_REDUCTION(unsigned, __reduce_min_sync, a < b ? a : b)
RMSPERF_REDUCTION(unsigned, __reduce_max_sync, a > b ? a : b)
RMSPERF_REDUCTION(unsigned, __reduce_and_sync, a& b)
RMSPERF_REDUCTION(unsigned, __reduce_or_sync, a | b)
RMSPERF_REDUCTION(unsigned, __reduce_xor_sync, a ^ b)
// The device's sum wraps.
RMSPERF_REDUCTION(int, __reduce_add_sync,
                  static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
RMSPERF_REDUCTION(int, __reduce_min_sync, a < b ? a : b)
RMSPERF_REDUCTION(int, __reduce_max_sync, a > b ? a : b)
#undef RMSPERF_REDUCTION
