// What cuda::atomic and cuda::atomic_ref can do with the value that they are about.
#pragma once

#include <rmsperf/prelude.h>

#include "scopes.h"

namespace cuda {

template <typename T, thread_scope Scope>
class atomic_ref;

}  // namespace cuda

namespace rmsperf {

// By how much one moves: a pointer by elements.
template <typename T>
struct atomic_step {
    using type = T;
};
template <typename T>
struct atomic_step<T*> {
    using type = ptrdiff_t;
};

// What an atomic holds after a step from `old`: integers wrap, signed ones too.
template <typename T, typename Step>
RMSPERF_INLINE T stepped(T old, Step step) {
    if constexpr (std::is_integral<T>::value) {
        return static_cast<T>(static_cast<unsigned long long>(old) +
                              static_cast<unsigned long long>(step));
    } else {
        return static_cast<T>(old + step);
    }
}
template <typename T, typename Step>
RMSPERF_INLINE T stepped_back(T old, Step step) {
    if constexpr (std::is_integral<T>::value) {
        return static_cast<T>(static_cast<unsigned long long>(old) -
                              static_cast<unsigned long long>(step));
    } else {
        return static_cast<T>(old - step);
    }
}

// `Self` has a function `address()` that returns a T*.
template <typename Self, typename T>
class AtomicAccess {
    using Order = cuda::memory_order;
    using Step = typename atomic_step<T>::type;

public:
    using value_type = T;

    RMSPERF_INLINE T load(Order order = cuda::memory_order_seq_cst) const {
        return atomic_load(where(), order);
    }
    RMSPERF_INLINE operator T() const { return load(); }
    RMSPERF_INLINE void store(T value, Order order = cuda::memory_order_seq_cst) const {
        atomic_store(where(), value, order);
    }
    RMSPERF_INLINE T exchange(T value, Order order = cuda::memory_order_seq_cst) const {
        return atomic_exchange(where(), value, order);
    }

    RMSPERF_INLINE bool compare_exchange_strong(T& expected, T desired, Order success,
                                                Order failure) const {
        return atomic_compare_exchange(where(), expected, desired, success, failure);
    }
    RMSPERF_INLINE bool compare_exchange_strong(T& expected, T desired,
                                                Order order = cuda::memory_order_seq_cst) const {
        return atomic_compare_exchange(where(), expected, desired, order, failure_order(order));
    }
    // The weak one may fail for no reason; that it never does here hides a missing loop.
    RMSPERF_INLINE bool compare_exchange_weak(T& expected, T desired, Order success,
                                              Order failure) const {
        return atomic_compare_exchange(where(), expected, desired, success, failure);
    }
    RMSPERF_INLINE bool compare_exchange_weak(T& expected, T desired,
                                              Order order = cuda::memory_order_seq_cst) const {
        return atomic_compare_exchange(where(), expected, desired, order, failure_order(order));
    }

    RMSPERF_INLINE T fetch_add(Step step, Order order = cuda::memory_order_seq_cst) const {
        if constexpr (std::is_pointer<T>::value) {
            return atomic_update(where(), order, [step](T old) { return old + step; });
        } else {
            return atomic_add(where(), step, order);
        }
    }
    RMSPERF_INLINE T fetch_sub(Step step, Order order = cuda::memory_order_seq_cst) const {
        if constexpr (std::is_pointer<T>::value) {
            return atomic_update(where(), order, [step](T old) { return old - step; });
        } else {
            return atomic_subtract(where(), step, order);
        }
    }
    RMSPERF_INLINE T fetch_and(T value, Order order = cuda::memory_order_seq_cst) const {
        return __atomic_fetch_and(where(), value, order);
    }
    RMSPERF_INLINE T fetch_or(T value, Order order = cuda::memory_order_seq_cst) const {
        return __atomic_fetch_or(where(), value, order);
    }
    RMSPERF_INLINE T fetch_xor(T value, Order order = cuda::memory_order_seq_cst) const {
        return __atomic_fetch_xor(where(), value, order);
    }
    RMSPERF_INLINE T fetch_min(T value, Order order = cuda::memory_order_seq_cst) const {
        return atomic_min(where(), value, order);
    }
    RMSPERF_INLINE T fetch_max(T value, Order order = cuda::memory_order_seq_cst) const {
        return atomic_max(where(), value, order);
    }

    RMSPERF_INLINE T operator++(int) const { return fetch_add(1); }
    RMSPERF_INLINE T operator--(int) const { return fetch_sub(1); }
    RMSPERF_INLINE T operator++() const { return stepped(fetch_add(1), 1); }
    RMSPERF_INLINE T operator--() const { return stepped_back(fetch_sub(1), 1); }
    RMSPERF_INLINE T operator+=(Step step) const { return stepped(fetch_add(step), step); }
    RMSPERF_INLINE T operator-=(Step step) const { return stepped_back(fetch_sub(step), step); }
    RMSPERF_INLINE T operator&=(T value) const { return fetch_and(value) & value; }
    RMSPERF_INLINE T operator|=(T value) const { return fetch_or(value) | value; }
    RMSPERF_INLINE T operator^=(T value) const { return fetch_xor(value) ^ value; }

    // Reads until the value is another one; the runtime lets the others go ahead meanwhile.
    RMSPERF_INLINE void wait(T old, Order order = cuda::memory_order_seq_cst) const {
        while (is_still(old, order)) {
        }
    }
    RMSPERF_INLINE void notify_one() const {}
    RMSPERF_INLINE void notify_all() const {}

    static constexpr bool is_always_lock_free = true;
    constexpr bool is_lock_free() const { return true; }

private:
    RMSPERF_INLINE T* where() const { return static_cast<const Self*>(this)->address(); }
    // By its bits, as the standard has it.
    RMSPERF_INLINE bool is_still(T old, Order order) const {
        const T now = load(order);
        return __builtin_memcmp(&now, &old, sizeof(T)) == 0;
    }
};

}  // namespace rmsperf
