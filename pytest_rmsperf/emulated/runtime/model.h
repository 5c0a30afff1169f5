// The threads, warps, blocks and clusters of the launch that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fiber.h"
#include "report.h"
#include "rmsperf/runtime.h"

namespace rmsperf {

struct Block;

// What a thread that is not running waits for.
enum class Wait : uint8_t { turn, block, named, warp, grid, cluster, memory, nothing };

// A value that a spinning thread has seen; while none of its watches changes it need not look.
struct Watch {
    const char* place;
    uint64_t value;
    uint32_t bytes;
};
constexpr uint32_t MOST_WATCHES = 8;

// Up to which time the accesses of others are ordered before the next one of a thread: those of the
// whole grid, of its block, of its warp.
struct Knowledge {
    uint64_t grid;
    uint64_t block;
    uint64_t warp;
};

// The last access of its kind to four bytes, and the last before it by another thread: who is the
// last one himself still meets another. 0 where there was none.
struct History {
    uint64_t last;
    uint64_t other;
};
constexpr std::size_t BYTES_PER_CELL = 4;
struct Cell {
    History writes;
    History reads;
};

struct Fiber {
    Context context;
    char* stack = nullptr;  // null before the first instruction and after the last
    Block* block = nullptr;
    uint32_t rank = 0;
    Wait wait = Wait::turn;
    int vote = 0;                // the result of the last block barrier
    const void* code = nullptr;  // where it waits
    Knowledge knows = {0, 0, 0};
    Place place = {nullptr, 0};
    uint32_t named_barrier = 0;
    uint64_t cluster_arrival = 0;  // the phase that begins when all have arrived; 0: waits for none
    uint64_t grace = 0;            // the progress at which it last got polls for nothing
    uint32_t polls_left = 0;
    uint32_t watches = 0;
    Watch watch[MOST_WATCHES];

    // Whether an address is of its local memory, which no other thread looks at.
    bool owns(const void* address) const {
        return address >= static_cast<const void*>(stack) &&
               address < static_cast<const void*>(stack + STACK_BYTES);
    }
    // What a warp exchange brings: at the top of the stack, because a kernel reads it as its own.
    WarpValues* warp_values() const {
        return reinterpret_cast<WarpValues*>(stack + STACK_BYTES) - 1;
    }
};

struct WarpGroup {
    uint32_t mask;
    uint32_t arrived;
    WarpOperation operation;
    uint64_t values[32];
};

struct Warp {
    uint32_t lanes = 0;  // that exist and have not left
    std::vector<WarpGroup> groups;
};

struct BlockBarrier {
    uint32_t waiting = 0;
    Vote vote = Vote::none;
    uint32_t counted = 0;
    Place place = {nullptr, 0};
    const void* code = nullptr;
};

struct NamedBarrier {
    uint32_t expected = 0;
    uint32_t arrived = 0;
    uint64_t known_grid = 0;  // what those who have arrived know of the grid
};
constexpr uint32_t NAMED_BARRIERS = 16;

struct Cluster {
    std::vector<Block*> blocks;
    uint32_t live_threads = 0;
    uint32_t live_blocks = 0;
    uint32_t arrived = 0;
    uint64_t phase = 0;
};

struct Block {
    uint32_t index = 0;
    uint32_t threads = 0;
    uint32_t live = 0;
    uint32_t at_grid_barrier = 0;
    uint32_t cluster_rank = 0;
    bool queued = false;       // among the blocks with something to run
    bool has_content = false;  // in its slot: it has run before, or a peer may have written
    Cluster* cluster = nullptr;
    std::unique_ptr<Fiber[]> fibers;
    std::vector<uint32_t> turn;  // ranks of the fibers that can run
    std::size_t turn_head = 0;   // those before it have had their turn
    std::vector<Warp> warps;
    BlockBarrier barrier;
    NamedBarrier named[NAMED_BARRIERS];
    char* slot = nullptr;                // its shared memory while another block runs
    std::unique_ptr<uint8_t[]> written;  // one byte for each byte of shared memory
    std::unique_ptr<Cell[]> cells;       // one for every four

    bool done() const { return live == 0; }
    bool can_run() const { return turn_head < turn.size(); }
};

}  // namespace rmsperf
