// Switching between the stacks of one thread of the operating system.
//
// A switch costs a few nanoseconds where this file knows the machine, and a system call elsewhere.
#pragma once

#include <cstddef>
#include <vector>

// Tests ask for it where it is not needed.
#if !defined(__x86_64__) && !defined(__aarch64__)
#define RMSPERF_UCONTEXT
#endif
#ifdef RMSPERF_UCONTEXT
#include <ucontext.h>
#endif

namespace rmsperf {

#ifdef RMSPERF_UCONTEXT
struct Context {
    ucontext_t state;
};
#else
struct Context {
    void* stack_pointer = nullptr;
};
#endif

// Makes `context` begin `entry` on a stack whose highest address is `top` (16-byte aligned).
// `entry` never returns.
void prepare(Context& context, char* bottom, char* top, void (*entry)());

// Goes on in `to`; returns when somebody switches back to `from`.
void switch_context(Context& from, Context& to);

// What a thread may use for its local memory. Only touched pages take memory.
constexpr std::size_t STACK_BYTES = 128 * 1024;

// Stacks by the thousand: reserved in pieces, handed out again last in, first out.
class StackPool {
public:
    char* take();  // lowest address
    void give_back(char* stack);
    // Keeps a few pieces for the next launch and gives the others back to the system; no stack may
    // be in use.
    void clear();

private:
    void add_stacks(char* piece);

    std::vector<char*> pieces_;
    std::vector<char*> free_;
};

}  // namespace rmsperf
