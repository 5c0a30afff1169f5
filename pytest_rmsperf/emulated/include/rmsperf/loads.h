// Loads and stores with a cache's name: plain ones, for there are no caches here.
//
// A kernel that needs one of them to see another block's writes is therefore not caught.
#pragma once

#include "runtime.h"
#include "words.h"

namespace rmsperf {
template <typename T>
struct same_type {
    using type = T;
};
// A parameter of this type takes no part in the deduction of T.
template <typename T>
using same = typename same_type<T>::type;
}  // namespace rmsperf

#define RMSPERF_LOAD(name)                   \
    template <typename T>                    \
    RMSPERF_INLINE T name(const T* source) { \
        return *source;                      \
    }
RMSPERF_LOAD(__ldg)
RMSPERF_LOAD(__ldca)
RMSPERF_LOAD(__ldcg)
RMSPERF_LOAD(__ldcs)
RMSPERF_LOAD(__ldlu)
RMSPERF_LOAD(__ldcv)
#undef RMSPERF_LOAD

#define RMSPERF_STORE(name)                                              \
    template <typename T>                                                \
    RMSPERF_INLINE void name(T* target, const rmsperf::same<T>& value) { \
        *target = value;                                                 \
    }
RMSPERF_STORE(__stwb)
RMSPERF_STORE(__stcg)
RMSPERF_STORE(__stcs)
RMSPERF_STORE(__stwt)
#undef RMSPERF_STORE

// ---- address spaces --------------------------------------------------------------------------

RMSPERF_INLINE unsigned __isShared(const void* address) {
    return rmsperf::rmsperf_is_shared(address) != 0;
}
RMSPERF_INLINE unsigned __isGlobal(const void* address) {
    return rmsperf::rmsperf_is_shared(address) == 0;
}
RMSPERF_INLINE size_t __cvta_generic_to_shared(const void* address) {
    return rmsperf::rmsperf_shared_to_number(address);
}
RMSPERF_INLINE void* __cvta_shared_to_generic(size_t number) {
    return rmsperf::rmsperf_number_to_shared(static_cast<uint32_t>(number));
}
RMSPERF_INLINE size_t __cvta_generic_to_global(const void* address) {
    return reinterpret_cast<size_t>(address);
}
RMSPERF_INLINE void* __cvta_global_to_generic(size_t number) {
    return reinterpret_cast<void*>(number);
}
