// Two accesses of one place, one of them a write, with nothing between that orders them.
//
// Every plain access leaves its time and its thread at the place it touches. Time passes only where
// accesses are ordered. A thread knows up to
// which time the accesses of others are ordered before its own: barriers and warp operations say
// so, and atomic and volatile accesses, of which each is taken to order everything before it. That
// is more than the device promises, so that what is found is a race, while some races are not
// found.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model.h"

namespace rmsperf {

// Memory that a thread touches: its name and, byte by byte, who wrote it and when it was touched.
struct Touched {
    const char* name;
    uint8_t* written;
    Cell* cells;
    std::size_t offset;  // of the access, in bytes
    std::size_t bytes;   // of the access
    std::size_t element_bytes;
    const void* code;  // of the access

    std::size_t element() const { return offset / element_bytes; }
};

// Ends the launch with a fault when the access races with an earlier one.
void check_race(const Touched& memory, bool writes);
// A racing write is a fault only if it changes memory: threads that all write one value are not.
void judge_racing_write(bool changed);

// ---- what orders accesses ---------------------------------------------------------------------

void begin_knowledge(Fiber& fiber);
// The threads have met at a barrier of their block, at which others arrived without waiting, who
// know of the grid what is told.
void order_together(const std::vector<Fiber*>& threads, uint64_t known_grid);
void order_warp(Block& block, uint32_t warp, uint32_t lanes);
void order_all(Block& block);  // of a block whose threads have met those of other blocks
void order_by_access(const void* address, std::size_t bytes, bool acquires, bool releases);
// Before a launch, which nothing earlier races with.
void forget_order();

}  // namespace rmsperf
