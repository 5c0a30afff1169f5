// Atomic operations of any memory order on values of one to eight bytes.
//
// Only the compiler's builtins touch the memory: each becomes a call of the runtime.
#pragma once

#include "runtime.h"
#include "words.h"

namespace rmsperf {

template <typename T>
constexpr bool is_atomic_word =
    std::is_trivially_copyable<T>::value &&
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

template <typename T>
RMSPERF_INLINE T atomic_load(const T* address, int order) {
    static_assert(is_atomic_word<T>, "atomics of more than 8 bytes are not emulated");
    T value;
    __atomic_load(const_cast<T*>(address), &value, order);
    return value;
}

template <typename T>
RMSPERF_INLINE void atomic_store(T* address, T value, int order) {
    static_assert(is_atomic_word<T>, "atomics of more than 8 bytes are not emulated");
    __atomic_store(address, &value, order);
}

template <typename T>
RMSPERF_INLINE T atomic_exchange(T* address, T value, int order) {
    static_assert(is_atomic_word<T>, "atomics of more than 8 bytes are not emulated");
    T old;
    __atomic_exchange(address, &value, &old, order);
    return old;
}

// What a failed exchange may do of `order`: it stores nothing, so it releases nothing.
constexpr int failure_order(int order) {
    return order == __ATOMIC_ACQ_REL   ? __ATOMIC_ACQUIRE
           : order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED
                                       : order;
}

template <typename T>
RMSPERF_INLINE bool atomic_compare_exchange(T* address, T& expected, T desired, int success,
                                            int failure) {
    static_assert(is_atomic_word<T>, "atomics of more than 8 bytes are not emulated");
    return __atomic_compare_exchange(address, &expected, &desired, false, success, failure);
}

// Replaces the value by `change(value)` and returns the old one.
template <typename T, typename Change>
RMSPERF_INLINE T atomic_update(T* address, int order, Change change) {
    T old = atomic_load(address, __ATOMIC_RELAXED);
    while (!atomic_compare_exchange(address, old, change(old), order, __ATOMIC_RELAXED)) {
    }
    return old;
}

template <typename T>
RMSPERF_INLINE T atomic_add(T* address, T value, int order) {
    if constexpr (std::is_integral<T>::value) {
        return __atomic_fetch_add(address, value, order);
    } else {
        return atomic_update(address, order, [value](T old) { return old + value; });
    }
}
template <typename T>
RMSPERF_INLINE T atomic_subtract(T* address, T value, int order) {
    if constexpr (std::is_integral<T>::value) {
        return __atomic_fetch_sub(address, value, order);
    } else {
        return atomic_update(address, order, [value](T old) { return old - value; });
    }
}

// An extremum that is there already is read and not written.
template <typename T>
RMSPERF_INLINE T atomic_min(T* address, T value, int order) {
    T old = atomic_load(address, failure_order(order));
    while (value < old &&
           !atomic_compare_exchange(address, old, value, order, failure_order(order))) {
    }
    return old;
}
template <typename T>
RMSPERF_INLINE T atomic_max(T* address, T value, int order) {
    T old = atomic_load(address, failure_order(order));
    while (old < value &&
           !atomic_compare_exchange(address, old, value, order, failure_order(order))) {
    }
    return old;
}

}  // namespace rmsperf
