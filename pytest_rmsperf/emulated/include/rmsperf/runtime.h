// What a kernel compiled for the emulated device asks of its runtime.
//
// The stand-in headers turn CUDA's words into these calls; the runtime answers them for the fiber
// that is running. Loads and stores need no call here: the compiler instruments every access that
// may leave the thread (`-fsanitize=thread` without its library), and the runtime defines those
// hooks. Atomics are the compiler's `__atomic` builtins, which are hooks as well.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rmsperf {

struct Index3 {
    unsigned x, y, z;
};

// A place in a source. As a default argument it is the place of the outermost call, so that a
// barrier in a helper of the stand-in headers is reported where the kernel's author wrote it.
struct Place {
    const char* file;
    int line;
};
constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
}

// What the threads of a block agree on at a barrier: nothing, or the count, all or any of a
// predicate (`__syncthreads`, `_count`, `_and`, `_or`).
enum class Vote : int { none, count, all, any };

// Which warp-wide operation a lane takes part in; lanes that meet in different ones are at fault.
enum class WarpOperation : int { barrier, shuffle, vote, match, reduction };

struct WarpValues {
    uint64_t values[32];  // what each lane brought
    uint32_t lanes;       // those that took part: the mask without lanes that have left
};

extern "C" {

// ---- who the running thread is; none of it changes while the thread lives --------------------

Index3 rmsperf_thread_index() __attribute__((const));
Index3 rmsperf_block_index() __attribute__((const));
Index3 rmsperf_block_dim() __attribute__((const));
Index3 rmsperf_grid_dim() __attribute__((const));
// Blocks of the cluster, 1 where there is none; clusters have one dimension, x.
unsigned rmsperf_cluster_blocks() __attribute__((const));
unsigned rmsperf_cluster_rank() __attribute__((const));  // of the block in its cluster
unsigned rmsperf_thread_rank() __attribute__((const));   // of the thread in its block
int rmsperf_is_cooperative() __attribute__((const));

// ---- barriers --------------------------------------------------------------------------------

// All threads of the block that have not left; returns what they voted.
int rmsperf_block_barrier(Vote vote, int predicate, Place place);
// `threads` threads of the block at the barrier numbered `id` (bar.sync id, threads).
void rmsperf_named_barrier(unsigned id, unsigned threads, Place place);
void rmsperf_named_arrive(unsigned id, unsigned threads, Place place);
// All threads of the grid; a fault in a launch that is not cooperative.
void rmsperf_grid_barrier(Place place);
// All threads of the cluster, in two halves: the wait belongs to the thread's last arrival.
void rmsperf_cluster_arrive(Place place);
void rmsperf_cluster_wait(Place place);

// ---- warps -----------------------------------------------------------------------------------

// Waits for the lanes of `mask`, which must name the caller; returns what each of them brought.
// Valid until the lane's next such call.
const WarpValues* rmsperf_warp_exchange(unsigned mask, WarpOperation operation, uint64_t value,
                                        Place place);

// ---- memory ----------------------------------------------------------------------------------

// Checks an access that the compiler does not instrument (a copy of many bytes at once).
void rmsperf_check_read(const void* address, size_t bytes);
void rmsperf_check_write(void* address, size_t bytes);
// The same variable in the shared memory of another block of the cluster.
void* rmsperf_map_shared(void* address, unsigned rank, Place place);
// The rank of the block in the cluster whose shared memory holds the address.
unsigned rmsperf_rank_of_shared(const void* address, Place place);
int rmsperf_is_shared(const void* address);
// Shared addresses as 32-bit numbers, as inline PTX wants them.
uint32_t rmsperf_shared_to_number(const void* address);
void* rmsperf_number_to_shared(uint32_t number);
unsigned rmsperf_dynamic_shared_bytes() __attribute__((const));

// ---- time, and the end -----------------------------------------------------------------------

long long rmsperf_clock();                 // cycles; passes only by being asked
void rmsperf_sleep(unsigned nanoseconds);  // gives way to the other threads
[[noreturn]] void rmsperf_fault(const char* text, Place place);  // trap, assert
}

// ---- kernels ---------------------------------------------------------------------------------

struct Parameter {
    char kind;  // p pointer, i integer, f floating, s other
    size_t bytes;
};

// One kernel as the launcher finds it: how to call it with one address per argument.
struct Kernel {
    const char* name;
    void (*call)(void* const* arguments);
    const Parameter* parameters;
    int parameter_count;
};

}  // namespace rmsperf
