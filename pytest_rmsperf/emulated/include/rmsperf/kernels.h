// The table of a module's kernels: how to call each with one address per argument.
//
//     RMSPERF_KERNELS(RMSPERF_KERNEL("scale", scale), RMSPERF_KERNEL("_Z3addIfEvPT_", add<float>))
#pragma once

#include <utility>

#include "runtime.h"

namespace rmsperf {

template <typename T>
constexpr Parameter parameter_of() {
    const char kind = std::is_pointer<T>::value                              ? 'p'
                      : std::is_integral<T>::value || std::is_enum<T>::value ? 'i'
                      : std::is_floating_point<T>::value                     ? 'f'
                                                                             : 's';
    return {kind, sizeof(T)};
}

template <typename Function, Function kernel>
struct Entry;

template <typename... A, void (*kernel)(A...)>
struct Entry<void (*)(A...), kernel> {
    // One more than there are, for a kernel may have none.
    static constexpr Parameter parameters[] = {parameter_of<A>()..., Parameter{'\0', 0}};
    static constexpr int parameter_count = sizeof...(A);

    template <size_t... I>
    __attribute__((no_sanitize("thread", "undefined"))) static void unpack(
        void* const* arguments, std::index_sequence<I...>) {
        static_cast<void>(arguments);
        kernel(*static_cast<std::remove_cv_t<A>*>(arguments[I])...);
    }
    // The arguments lie in the launcher's memory, which no kernel may touch.
    __attribute__((no_sanitize("thread", "undefined"))) static void call(void* const* arguments) {
        unpack(arguments, std::index_sequence_for<A...>());
    }
};

template <typename... A, void (*kernel)(A...) noexcept>
struct Entry<void (*)(A...) noexcept, kernel> : Entry<void (*)(A...), kernel> {};

template <auto kernel>
constexpr Kernel kernel_named(const char* name) {
    using Found = Entry<decltype(kernel), kernel>;
    return {name, &Found::call, Found::parameters, Found::parameter_count};
}

}  // namespace rmsperf

#define RMSPERF_KERNEL(name, ...) ::rmsperf::kernel_named<(&__VA_ARGS__)>(name)

#define RMSPERF_KERNELS(...)                                                              \
    extern "C" __attribute__((visibility("default"), no_sanitize("thread", "undefined"))) \
    const ::rmsperf::Kernel*                                                              \
    rmsperf_kernels(int* count) {                                                         \
        static constexpr ::rmsperf::Kernel kernels[] = {__VA_ARGS__};                     \
        *count = static_cast<int>(sizeof kernels / sizeof kernels[0]);                    \
        return kernels;                                                                   \
    }
