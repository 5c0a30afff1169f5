// What ends a kernel early, and what a kernel may ask of the clock.
#pragma once

#include "runtime.h"
#include "words.h"

#define RMSPERF_STOP_UNLESS(condition, text) \
    ((condition) ? static_cast<void>(0) : ::rmsperf::rmsperf_fault(text, ::rmsperf::here()))

// An assumption that does not hold makes the device's code wrong without a word. The texts go on
// after "thread 0 of block 0".
#define __builtin_assume(...) \
    RMSPERF_STOP_UNLESS(static_cast<bool>(__VA_ARGS__), "breaks __builtin_assume(" #__VA_ARGS__ ")")
#define __assume(...) \
    RMSPERF_STOP_UNLESS(static_cast<bool>(__VA_ARGS__), "breaks __assume(" #__VA_ARGS__ ")")

[[noreturn]] RMSPERF_INLINE void __trap(rmsperf::Place place = rmsperf::here()) {
    rmsperf::rmsperf_fault("executes __trap()", place);
}
[[noreturn]] RMSPERF_INLINE void __brkpt(int = 0, rmsperf::Place place = rmsperf::here()) {
    rmsperf::rmsperf_fault("executes __brkpt(), without a debugger to stop for", place);
}
RMSPERF_INLINE void __prof_trigger(int) {}
RMSPERF_INLINE void __pm0() {}

RMSPERF_INLINE long long clock64() { return rmsperf::rmsperf_clock(); }
// With an argument list, so that a variable may have the name; libc has the function.
#define clock() (static_cast<clock_t>(static_cast<int>(::rmsperf::rmsperf_clock())))

#include "assertion.h"
