// What the compiler calls where a kernel does what C++ leaves undefined.
//
// These are the functions of UndefinedBehaviorSanitizer's interface, whose library is not linked;
// its records are laid out as the compiler writes them.
#include <cstdint>
#include <cstdio>

#include "scheduler.h"

namespace rmsperf {

namespace {

struct SourceLocation {
    const char* file;
    uint32_t line, column;
};

struct TypeDescriptor {
    uint16_t kind;  // 0 is an integer
    uint16_t info;  // of an integer: bit 0 signed, the rest the logarithm of its bits
    char name[1];
};

struct TypeMismatch {
    SourceLocation location;
    const TypeDescriptor* type;
    unsigned char log_alignment;
    unsigned char kind;
};

struct Overflow {
    SourceLocation location;
    const TypeDescriptor* type;
};

struct Shift {
    SourceLocation location;
    const TypeDescriptor* value_type;
    const TypeDescriptor* count_type;
};

struct OutOfBounds {
    SourceLocation location;
    const TypeDescriptor* array_type;
    const TypeDescriptor* index_type;
};

// Values of up to 64 bits come in the argument itself.
long long value_of(const TypeDescriptor& type, uintptr_t raw) {
    const unsigned bits = 1u << (type.info >> 1);
    if (bits >= 64 || !(type.info & 1)) return static_cast<long long>(raw);
    return static_cast<long long>(raw << (64 - bits)) >> (64 - bits);
}

[[noreturn]] void overflow(const Overflow& data, const char* sign, uintptr_t left, uintptr_t right,
                           const void* code) {
    fault("integer overflow", code, "computes %lld %s %lld, which does not fit %s",
          value_of(*data.type, left), sign, value_of(*data.type, right), data.type->name);
}

}  // namespace

extern "C" {

void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
    fault("misaligned access", __builtin_return_address(0),
          "accesses %s at address %p, which must be a multiple of %u", data->type->name,
          reinterpret_cast<void*>(address), 1u << data->log_alignment);
}

void __ubsan_handle_add_overflow(Overflow* data, uintptr_t left, uintptr_t right) {
    overflow(*data, "+", left, right, __builtin_return_address(0));
}

void __ubsan_handle_sub_overflow(Overflow* data, uintptr_t left, uintptr_t right) {
    overflow(*data, "-", left, right, __builtin_return_address(0));
}

void __ubsan_handle_mul_overflow(Overflow* data, uintptr_t left, uintptr_t right) {
    overflow(*data, "*", left, right, __builtin_return_address(0));
}

void __ubsan_handle_negate_overflow(Overflow* data, uintptr_t value) {
    overflow(*data, "-", 0, value, __builtin_return_address(0));
}

void __ubsan_handle_divrem_overflow(Overflow* data, uintptr_t left, uintptr_t right) {
    if (value_of(*data->type, right) == 0) {
        fault("division by zero", __builtin_return_address(0), "computes %lld / 0",
              value_of(*data->type, left));
    }
    overflow(*data, "/", left, right, __builtin_return_address(0));
}

void __ubsan_handle_shift_out_of_bounds(Shift* data, uintptr_t value, uintptr_t count) {
    fault("integer overflow", __builtin_return_address(0), "shifts %s %lld by %lld bits",
          data->value_type->name, value_of(*data->value_type, value),
          value_of(*data->count_type, count));
}

void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
    fault("out of bounds", __builtin_return_address(0), "uses index %lld of an array %s",
          value_of(*data->index_type, index), data->array_type->name);
}

}  // extern "C"

}  // namespace rmsperf
