// Warp shuffles: which lane is read follows the segments of `width` lanes.
//
// What a lane that takes no part would bring is undefined. One that is named is a fault. One that
// is a distance away may be, in lanes that drop what they get, and gives poison: bits of all ones,
// which is a NaN.
#pragma once

#include "index.h"

namespace rmsperf {

struct Source {
    unsigned lane;
    const char* function;   // as the text calls it
    bool may_miss = false;  // whether a lane that takes no part gives poison, and no fault
};

constexpr uint64_t POISON = ~uint64_t{0};

// One fiber after another: the text is reported before another can be written.
RMSPERF_UNCHECKED inline const char* width_text(int width, const char* function) {
    static char text[160];
    snprintf(text, sizeof text, "calls %s with a width of %d, which is no power of two up to 32",
             function, width);
    return text;
}

RMSPERF_UNCHECKED inline const char* lane_text(unsigned mask, Source source) {
    static char text[160];
    snprintf(text, sizeof text, "reads lane %u by %s, a lane that %s (mask 0x%08x)", source.lane,
             source.function,
             source.lane < 32 && (mask >> source.lane & 1) != 0
                 ? "is in the mask but has left the kernel"
                 : "is not in the mask",
             mask);
    return text;
}

// The lanes of a segment are numbered from `first`; no lane beyond `last` is read.
struct Segment {
    unsigned first, last;
};

RMSPERF_INLINE Segment segment_of(unsigned lane, int width, const char* function, Place place) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0)
        rmsperf_fault(width_text(width, function), place);
    const unsigned first = lane & ~(static_cast<unsigned>(width) - 1);
    return {first, first + width - 1};
}

// The device looks at the five low bits of a lane, a delta or a lane mask. A source outside of the
// segment leaves the caller's own value; only the exclusive or may read an earlier segment.
RMSPERF_INLINE unsigned indexed_lane(int source, int width, const char* function, Place place) {
    const Segment segment = segment_of(lane(), width, function, place);
    return segment.first | (static_cast<unsigned>(source) & (segment.last - segment.first));
}
RMSPERF_INLINE unsigned lane_above(unsigned delta, int width, const char* function, Place place) {
    const unsigned own = lane();
    const Segment segment = segment_of(own, width, function, place);
    return own >= segment.first + (delta & 31) ? own - (delta & 31) : own;
}
RMSPERF_INLINE unsigned lane_below(unsigned delta, int width, const char* function, Place place) {
    const unsigned own = lane();
    const Segment segment = segment_of(own, width, function, place);
    return own + (delta & 31) <= segment.last ? own + (delta & 31) : own;
}
RMSPERF_INLINE unsigned lane_across(int lanes, int width, const char* function, Place place) {
    const unsigned own = lane();
    const Segment segment = segment_of(own, width, function, place);
    const unsigned source = own ^ (static_cast<unsigned>(lanes) & 31);
    return source <= segment.last ? source : own;
}

struct Brought {
    uint64_t word;
    bool took_part;
};

RMSPERF_UNCHECKED inline Brought brought_by(const WarpValues* all, unsigned lane) {
    if (lane >= 32 || (all->lanes >> lane & 1) == 0) return {0, false};
    return {all->values[lane], true};
}

// The runtime is called from the kernel's own code, which is where it finds the line to report.
RMSPERF_INLINE uint64_t shuffle_word(unsigned mask, uint64_t value, Source source, Place place) {
    const WarpValues* all = rmsperf_warp_exchange(mask, WarpOperation::shuffle, value, place);
    const Brought brought = brought_by(all, source.lane);
    if (brought.took_part) return brought.word;
    if (!source.may_miss) rmsperf_fault(lane_text(mask, source), place);
    return POISON;
}

// Values wider than a word, as the groups may have them, go word by word.
template <typename T>
RMSPERF_INLINE T shuffle(unsigned mask, const T& value, Source source, Place place) {
    static_assert(std::is_trivially_copyable<T>::value, "a shuffle copies bytes");
    constexpr size_t WORDS = (sizeof(T) + 7) / 8;
    uint64_t words[WORDS] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (size_t i = 0; i < WORDS; ++i) words[i] = shuffle_word(mask, words[i], source, place);
    T result;
    __builtin_memcpy(&result, words, sizeof(T));
    return result;
}

}  // namespace rmsperf

// Overloads and no template, so that a char is an int here as it is there.
#define RMSPERF_SHUFFLE(T, name, parameter, may_miss, source_lane)                               \
    RMSPERF_INLINE T name(unsigned mask, T value, parameter, int width = warpSize,               \
                          rmsperf::Place place = rmsperf::here()) {                              \
        return rmsperf::shuffle<T>(mask, value, {rmsperf::source_lane, #name, may_miss}, place); \
    }
#define RMSPERF_SHUFFLES(T)                                              \
    RMSPERF_SHUFFLE(T, __shfl_sync, int source, false,                   \
                    indexed_lane(source, width, "__shfl_sync", place))   \
    RMSPERF_SHUFFLE(T, __shfl_up_sync, unsigned delta, true,             \
                    lane_above(delta, width, "__shfl_up_sync", place))   \
    RMSPERF_SHUFFLE(T, __shfl_down_sync, unsigned delta, true,           \
                    lane_below(delta, width, "__shfl_down_sync", place)) \
    RMSPERF_SHUFFLE(T, __shfl_xor_sync, int lanes, true,                 \
                    lane_across(lanes, width, "__shfl_xor_sync", place))

RMSPERF_SHUFFLES(int)
RMSPERF_SHUFFLES(unsigned)
RMSPERF_SHUFFLES(long)
RMSPERF_SHUFFLES(unsigned long)
RMSPERF_SHUFFLES(long long)
RMSPERF_SHUFFLES(unsigned long long)
RMSPERF_SHUFFLES(float)
RMSPERF_SHUFFLES(double)
