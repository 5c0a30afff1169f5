// Switching between stacks: x86-64, aarch64, and by ucontext elsewhere.
#include "fiber.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

namespace rmsperf {

namespace {
constexpr std::size_t STACKS_PER_PIECE = 1024;
// Below the lowest stack: a frame larger than a stack ends here at worst, and is told as a fault.
// The device allows 512 KiB of local memory for a thread.
constexpr std::size_t RUNOFF_BYTES = 1024 * 1024;
constexpr std::size_t PIECE_BYTES = RUNOFF_BYTES + STACKS_PER_PIECE * STACK_BYTES;
constexpr std::size_t KEPT_PIECES = 8;  // their touched pages are 32 MiB where frames are small
}  // namespace

char* StackPool::take() {
    if (free_.empty()) {
        void* piece = mmap(nullptr, PIECE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (piece == MAP_FAILED) throw std::bad_alloc();
        pieces_.push_back(static_cast<char*>(piece));
        add_stacks(pieces_.back());
    }
    char* stack = free_.back();
    free_.pop_back();
    return stack;
}

void StackPool::add_stacks(char* piece) {
    for (std::size_t i = STACKS_PER_PIECE; i > 0; --i) {
        free_.push_back(piece + RUNOFF_BYTES + (i - 1) * STACK_BYTES);
    }
}

void StackPool::give_back(char* stack) { free_.push_back(stack); }

void StackPool::clear() {
    while (pieces_.size() > KEPT_PIECES) {
        munmap(pieces_.back(), PIECE_BYTES);
        pieces_.pop_back();
    }
    free_.clear();
    std::for_each(pieces_.rbegin(), pieces_.rend(), [this](char* piece) { add_stacks(piece); });
}

#if defined(RMSPERF_UCONTEXT)
// Needs nothing of its own.

#elif defined(__x86_64__)

// Saves the registers that a callee must keep, and the stack pointer behind the first argument.
asm(R"(
.text
.globl rmsperf_switch_stack
.hidden rmsperf_switch_stack
.type rmsperf_switch_stack, @function
rmsperf_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size rmsperf_switch_stack, . - rmsperf_switch_stack
)");
constexpr std::size_t SAVED_WORDS = 6;
constexpr std::size_t RETURN_WORD = 6;
constexpr std::size_t FRAME_WORDS = 8;  // a return address of nobody, so that entry is aligned

#elif defined(__aarch64__)

asm(R"(
.text
.globl rmsperf_switch_stack
.hidden rmsperf_switch_stack
.type rmsperf_switch_stack, %function
rmsperf_switch_stack:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size rmsperf_switch_stack, . - rmsperf_switch_stack
)");
constexpr std::size_t RETURN_WORD = 11;  // x30
constexpr std::size_t FRAME_WORDS = 20;

#endif

#ifndef RMSPERF_UCONTEXT

extern "C" void rmsperf_switch_stack(void** from, void* to);

void prepare(Context& context, char*, char* top, void (*entry)()) {
    auto* frame = reinterpret_cast<std::uint64_t*>(top) - FRAME_WORDS;
    std::memset(frame, 0, FRAME_WORDS * sizeof(*frame));
    frame[RETURN_WORD] = reinterpret_cast<std::uint64_t>(entry);
    context.stack_pointer = frame;
}

void switch_context(Context& from, Context& to) {
    rmsperf_switch_stack(&from.stack_pointer, to.stack_pointer);
}

#else

void prepare(Context& context, char* bottom, char* top, void (*entry)()) {
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = bottom;
    context.state.uc_stack.ss_size = static_cast<std::size_t>(top - bottom);
    context.state.uc_link = nullptr;
    makecontext(&context.state, entry, 0);
}

void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

#endif

}  // namespace rmsperf
