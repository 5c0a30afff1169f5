// What the compiler calls for every load, store and atomic operation of a kernel.
//
// These are the functions of ThreadSanitizer's interface, whose library is not linked.
#include <cstdint>
#include <cstring>

#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

void read(const void* address, std::size_t bytes, const void* code, bool whole = false) {
    check_access(address, bytes, Access::read, code, whole);
}

void write(void* address, std::size_t bytes, const void* code, Access access = Access::write) {
    settle_expected_change();
    check_access(address, bytes, access, code);
    expect_change(address, bytes);
}

void volatile_read(const void* address, std::size_t bytes, const void* code) {
    check_access(address, bytes, Access::volatile_read, code);
    state.launch.current->code = code;
    note_poll(address, bytes);
    order_by_access(address, bytes, true, false);
}

void volatile_write(void* address, std::size_t bytes, const void* code) {
    write(address, bytes, code, Access::volatile_write);
    order_by_access(address, bytes, false, true);
}

void require_alignment(const void* address, std::size_t bytes, const void* code) {
    if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return;
    fault("misaligned access", code, "makes an atomic access of %zu bytes at address %p", bytes,
          address);
}

template <class T>
T atomic_load(const volatile T* address, const void* code) {
    const void* plain = const_cast<const T*>(address);
    require_alignment(plain, sizeof(T), code);
    check_access(plain, sizeof(T), Access::atomic_read, code);
    state.launch.current->code = code;
    note_poll(plain, sizeof(T));
    order_by_access(plain, sizeof(T), true, false);
    return *address;
}

// One thread runs at a time, so that a plain update is atomic.
template <class T, class Update>
T atomic_update(volatile T* address, Access access, const void* code, Update update) {
    void* plain = const_cast<T*>(address);
    require_alignment(plain, sizeof(T), code);
    check_access(plain, sizeof(T), access, code);
    settle_expected_change();
    order_by_access(plain, sizeof(T), access == Access::update, true);
    state.launch.current->code = code;
    const T before = *address;
    const T after = update(before);
    *address = after;
    if (std::memcmp(&before, &after, sizeof(T)) != 0) {
        note_progress();
    } else {
        note_poll(plain, sizeof(T));
    }
    return before;
}

template <class T>
int compare_exchange(volatile T* address, T* expected, T desired, const void* code) {
    const T wanted = *expected;
    const T before = atomic_update(address, Access::update, code, [=](T old) {
        return std::memcmp(&old, &wanted, sizeof(T)) ? old : desired;
    });
    if (std::memcmp(&before, &wanted, sizeof(T)) == 0) return 1;
    *expected = before;
    return 0;
}

}  // namespace

}  // namespace rmsperf

#define CODE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}

#define PLAIN(BYTES)                                                                            \
    void __tsan_read##BYTES(void* address) { rmsperf::read(address, BYTES, CODE, BYTES > 8); }  \
    void __tsan_write##BYTES(void* address) { rmsperf::write(address, BYTES, CODE); }           \
    void __tsan_unaligned_read##BYTES(void* address) {                                          \
        rmsperf::read(address, BYTES, CODE, BYTES > 8);                                         \
    }                                                                                           \
    void __tsan_unaligned_write##BYTES(void* address) { rmsperf::write(address, BYTES, CODE); } \
    void __tsan_volatile_read##BYTES(void* address) {                                           \
        rmsperf::volatile_read(address, BYTES, CODE);                                           \
    }                                                                                           \
    void __tsan_volatile_write##BYTES(void* address) {                                          \
        rmsperf::volatile_write(address, BYTES, CODE);                                          \
    }                                                                                           \
    void __tsan_unaligned_volatile_read##BYTES(void* address) {                                 \
        rmsperf::volatile_read(address, BYTES, CODE);                                           \
    }                                                                                           \
    void __tsan_unaligned_volatile_write##BYTES(void* address) {                                \
        rmsperf::volatile_write(address, BYTES, CODE);                                          \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void* address, std::size_t bytes) {
    rmsperf::read(address, bytes, CODE, true);
}
void __tsan_write_range(void* address, std::size_t bytes) { rmsperf::write(address, bytes, CODE); }

void __tsan_vptr_update(void**, void*) {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

#define UPDATE(BITS, T, NAME, RESULT)                                                 \
    T __tsan_atomic##BITS##_##NAME(volatile T* address, T value, int) {               \
        return rmsperf::atomic_update(address, rmsperf::Access::update, CODE,         \
                                      [=](T old) { return static_cast<T>(RESULT); }); \
    }

#define ATOMIC(BITS, T)                                                                            \
    T __tsan_atomic##BITS##_load(const volatile T* address, int) {                                 \
        return rmsperf::atomic_load(address, CODE);                                                \
    }                                                                                              \
    void __tsan_atomic##BITS##_store(volatile T* address, T value, int) {                          \
        rmsperf::atomic_update(address, rmsperf::Access::atomic_write, CODE,                       \
                               [=](T) { return value; });                                          \
    }                                                                                              \
    UPDATE(BITS, T, exchange, (static_cast<void>(old), value))                                     \
    UPDATE(BITS, T, fetch_add, old + value)                                                        \
    UPDATE(BITS, T, fetch_sub, old - value)                                                        \
    UPDATE(BITS, T, fetch_and, old& value)                                                         \
    UPDATE(BITS, T, fetch_or, old | value)                                                         \
    UPDATE(BITS, T, fetch_xor, old ^ value)                                                        \
    UPDATE(BITS, T, fetch_nand, ~(old & value))                                                    \
    int __tsan_atomic##BITS##_compare_exchange_strong(volatile T* address, T* expected, T desired, \
                                                      int, int) {                                  \
        return rmsperf::compare_exchange(address, expected, desired, CODE);                        \
    }                                                                                              \
    int __tsan_atomic##BITS##_compare_exchange_weak(volatile T* address, T* expected, T desired,   \
                                                    int, int) {                                    \
        return rmsperf::compare_exchange(address, expected, desired, CODE);                        \
    }                                                                                              \
    T __tsan_atomic##BITS##_compare_exchange_val(volatile T* address, T expected, T desired, int,  \
                                                 int) {                                            \
        rmsperf::compare_exchange(address, &expected, desired, CODE);                              \
        return expected;                                                                           \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
ATOMIC(128, unsigned __int128)

}  // extern "C"
