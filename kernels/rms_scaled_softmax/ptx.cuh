// Accesses of device scope that CUDA C++ has no words for, as PTX; twins in C++ for the emulated
// device.
#pragma once

#ifdef RMSPERF_EMULATED

inline void add_release(unsigned* counter, unsigned value) {
    __atomic_fetch_add(counter, value, __ATOMIC_RELEASE);
}

inline unsigned load_acquire(const unsigned* counter) {
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

inline void store_relaxed(unsigned* counter, unsigned value) {
    __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

#else

__device__ inline void add_release(unsigned* counter, unsigned value) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}

__device__ inline unsigned load_acquire(const unsigned* counter) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    return value;
}

__device__ inline void store_relaxed(unsigned* counter, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
}

#endif
