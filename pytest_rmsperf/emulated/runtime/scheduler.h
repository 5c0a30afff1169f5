// Which thread runs when, and what is wrong when none can.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "memory.h"
#include "model.h"

namespace rmsperf {

// Bytes of a stack that must stay free for the runtime's own calls.
constexpr std::size_t STACK_RESERVE = 4096;

// Everything about the one launch that runs.
struct Launch {
    Request request{};
    Report* report = nullptr;
    Fiber* current = nullptr;
    Context scheduler;

    std::vector<std::unique_ptr<Cluster>> clusters;  // that have started and not ended
    std::vector<std::unique_ptr<Block>> blocks;      // likewise
    std::deque<Block*> ready;                        // with something to run
    std::vector<Fiber*> spinning;
    Block* in_window = nullptr;  // whose shared memory the module sees
    Fiber* left = nullptr;       // whose stack is free once it is left

    uint32_t total = 0;  // blocks to run
    uint32_t started = 0;
    uint32_t finished = 0;
    uint32_t resident = 0;
    uint32_t at_grid_barrier = 0;  // blocks of which every thread has arrived
    uint64_t begin_time = 0;       // of its first access
    uint64_t progress = 1;         // counts changes of memory
    uint64_t polls = 0;            // since the last of them
    long long clock = 0;           // in cycles
    uint64_t clock_looks = 0;      // how often it was read
    uint64_t standstill = 0;       // the progress at which time passed because nothing else did
    bool give_way = false;         // the running thread wants other blocks to run
    bool faulted = false;

    uint64_t random = 0;
    uint32_t accesses_to_preemption = 0;
    uint64_t preemptions = 0;

    bool shuffled() const { return request.seed != 0; }
    uint64_t capacity() const { return static_cast<uint64_t>(request.blocks_per_sm) * request.sms; }
};

struct State {
    Memory memory;
    StackPool stacks;
    Launch launch;
    void (*progress)(uint32_t finished, uint32_t total, Report* report) = nullptr;
};
extern State state;

// Runs the launch to its end or to its first fault, which it leaves in the report.
void run_launch();

// ---- for the running thread ------------------------------------------------------------------

// Gives the processor away until somebody makes this thread runnable again.
void wait_for(Wait wait, const void* code);
// Lets others run and goes on afterwards.
void yield();
[[noreturn]] void stack_overflow(const void* code);
// A fault when the running thread's calls and local memory have outgrown its stack.
inline void require_stack(const void* code) {
    const auto* frame = static_cast<const char*>(__builtin_frame_address(0));
    if (frame < state.launch.current->stack + STACK_RESERVE) stack_overflow(code);
}
// Yields: called before an access that others may see.
void preempt();
inline void consider_preemption() {
    if (--state.launch.accesses_to_preemption == 0) preempt();
}
// Ends the launch.
[[noreturn]] void fault(const char* kind, const void* code, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- for barriers ----------------------------------------------------------------------------

void make_runnable(Fiber& fiber);
void for_waiting(Block& block, Wait wait, void (*action)(Fiber&));
// Releases what the end of a thread completes.
void release_on_exit(Fiber& fiber);

// ---- spinning --------------------------------------------------------------------------------

// Before a plain store: it counts as progress if it changes memory, which is seen afterwards.
void expect_change(const void* address, std::size_t bytes);
void settle_expected_change();
void forget_expected_change();
void note_progress();
// After a load that a loop may be waiting on: a thread that sees the same again gives way until
// what it watches changes.
void note_poll(const void* address, std::size_t bytes);
// Makes those spinning threads runnable whose watch has changed; false when there are none.
bool wake_changed();
// When nothing else can run: makes spinning threads runnable, those whose watch has changed or else
// all that have not yet had polls for nothing since memory last changed. False when no such thread
// is left: nothing can move.
bool wake_spinning();

// ---- shared memory by its several addresses --------------------------------------------------

// The address that all threads of a cluster agree on: that in the slot of the block.
const char* place_of(const void* address);
// Where the content of such a place is now: in the window while its block is there.
const char* content_of(const char* place);

// ---- the end ---------------------------------------------------------------------------------

void report_deadlock();

}  // namespace rmsperf
