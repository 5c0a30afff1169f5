// Races, by the times of accesses and what each thread knows of them.
#include "races.h"

#include <algorithm>
#include <unordered_map>

#include "scheduler.h"

namespace rmsperf {

namespace {

// A stamp: 36 bits of time, 10 of thread, 14 of block, 4 for the bytes of the cell. A grid of more
// blocks than that takes some for others, which hides races and invents none.
constexpr int THREAD_SHIFT = 36, BLOCK_SHIFT = 46, BYTES_SHIFT = 60;
constexpr uint64_t TIME_MASK = (uint64_t{1} << THREAD_SHIFT) - 1;
constexpr uint64_t ALL_BYTES = (1 << BYTES_PER_CELL) - 1;
constexpr uint32_t THREAD_MASK = 1023, BLOCK_MASK = 16383;

// Counts on from launch to launch, so that what one launch left is in the past of the next.
uint64_t now = 1;
// By word of four bytes: atomic accesses of several sizes may meet in one.
constexpr std::size_t BYTES_PER_WORD = 4;
std::unordered_map<std::uintptr_t, uint64_t> releases_at;

// The time until now is over. When the last one has come all later accesses have it: races are
// missed then and none is invented.
uint64_t end_of_time() {
    const uint64_t ended = now;
    if (now < TIME_MASK) ++now;
    return ended;
}

struct {
    bool waiting = false;
    uint64_t other = 0;
    Touched memory{};
} racing_write;

uint64_t stamp_of(const Fiber& fiber, uint64_t bytes) {
    return now | static_cast<uint64_t>(fiber.rank) << THREAD_SHIFT |
           static_cast<uint64_t>(fiber.block->index & BLOCK_MASK) << BLOCK_SHIFT |
           bytes << BYTES_SHIFT;
}

uint64_t bytes_of(uint64_t stamp) { return stamp >> BYTES_SHIFT; }
uint64_t time_of(uint64_t stamp) { return stamp & TIME_MASK; }
uint32_t thread_of(uint64_t stamp) {
    return static_cast<uint32_t>(stamp >> THREAD_SHIFT) & THREAD_MASK;
}
uint32_t block_of(uint64_t stamp) {
    return static_cast<uint32_t>(stamp >> BLOCK_SHIFT) & BLOCK_MASK;
}

// Whether an earlier access is ordered before the next one of the fiber, or touches other bytes.
inline bool ordered(const Fiber& fiber, uint64_t stamp, uint64_t bytes) {
    const uint64_t time = time_of(stamp);
    if (time <= fiber.knows.grid || !(bytes_of(stamp) & bytes)) return true;
    if (block_of(stamp) != (fiber.block->index & BLOCK_MASK)) return false;
    const uint32_t thread = thread_of(stamp);
    if (thread == fiber.rank || time <= fiber.knows.block) return true;
    return thread / 32 == fiber.rank / 32 && time <= fiber.knows.warp;
}

[[noreturn]] void race(const Touched& memory, const char* verb, const char* other, uint64_t stamp) {
    fault("race", memory.code,
          "%s element %zu of %s, which thread %u of block %u %s with no barrier in between", verb,
          memory.element(), memory.name, thread_of(stamp), block_of(stamp), other);
}

// The bytes of one cell that the access touches, as bits.
uint64_t touched(std::size_t cell, std::size_t offset, std::size_t bytes) {
    const std::size_t begin = cell * BYTES_PER_CELL;
    const std::size_t first = std::max(begin, offset) - begin;
    const std::size_t last = std::min(begin + BYTES_PER_CELL, offset + bytes) - begin;
    return ((uint64_t{1} << last) - 1) & ~((uint64_t{1} << first) - 1);
}

// The access that races with the fiber's next one, or 0.
inline uint64_t racing(const Fiber& fiber, const History& history, uint64_t bytes) {
    if (!ordered(fiber, history.last, bytes)) return history.last;
    return ordered(fiber, history.other, bytes) ? 0 : history.other;
}

bool of_one_thread(uint64_t one, uint64_t other) {
    return ((one ^ other) & ~(ALL_BYTES << BYTES_SHIFT) & ~TIME_MASK) == 0;
}

inline void remember(History& history, uint64_t stamp) {
    if (!of_one_thread(history.last, stamp)) {
        history.other = history.last;
    } else if (time_of(history.last) == time_of(stamp)) {
        stamp |= history.last;  // the bytes of both
    }
    history.last = stamp;
}

inline void check_cell(Cell& cell, uint64_t bytes, const Touched& memory, bool writes) {
    const Fiber& fiber = *state.launch.current;
    const uint64_t write = racing(fiber, cell.writes, bytes);
    if (!writes) {
        if (write != 0) race(memory, "reads", "wrote", write);
        return remember(cell.reads, stamp_of(fiber, bytes));
    }
    const uint64_t read = racing(fiber, cell.reads, bytes);
    if (read != 0) race(memory, "writes", "read", read);
    if (write != 0 && !racing_write.waiting) racing_write = {true, write, memory};
    remember(cell.writes, stamp_of(fiber, bytes));
    // What is overwritten as a whole is no longer there to be read.
    if ((bytes_of(cell.writes.other) & ~bytes) == 0) cell.writes.other = 0;
}

}  // namespace

void check_race(const Touched& memory, bool writes) {
    if (memory.bytes == BYTES_PER_CELL && memory.offset % BYTES_PER_CELL == 0) {
        return check_cell(memory.cells[memory.offset / BYTES_PER_CELL], ALL_BYTES, memory, writes);
    }
    const std::size_t last = (memory.offset + memory.bytes - 1) / BYTES_PER_CELL;
    for (std::size_t cell = memory.offset / BYTES_PER_CELL; cell <= last; ++cell) {
        check_cell(memory.cells[cell], touched(cell, memory.offset, memory.bytes), memory, writes);
    }
}

void judge_racing_write(bool changed) {
    if (!racing_write.waiting) return;
    racing_write.waiting = false;
    if (!changed) return;
    race(racing_write.memory, "writes another value to", "wrote", racing_write.other);
}

void begin_knowledge(Fiber& fiber) { fiber.knows = {state.launch.begin_time, 0, 0}; }

void order_together(const std::vector<Fiber*>& threads, uint64_t known_grid) {
    for (const Fiber* one : threads) known_grid = std::max(known_grid, one->knows.grid);
    const uint64_t known = end_of_time();
    for (Fiber* one : threads) one->knows = {known_grid, known, known};
}

void order_warp(Block& block, uint32_t warp, uint32_t lanes) {
    Knowledge all = {0, 0, end_of_time()};
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        const Knowledge& one = block.fibers[warp * 32 + lane].knows;
        all.grid = std::max(all.grid, one.grid);
        all.block = std::max(all.block, one.block);
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (lanes >> lane & 1) block.fibers[warp * 32 + lane].knows = all;
    }
}

void order_all(Block& block) {
    const uint64_t known = end_of_time();
    for (uint32_t rank = 0; rank < block.threads; ++rank) {
        block.fibers[rank].knows = {known, known, known};
    }
}

void order_by_access(const void* address, std::size_t bytes, bool acquires, bool releases) {
    Fiber& fiber = *state.launch.current;
    const auto place = reinterpret_cast<std::uintptr_t>(place_of(address));
    const uint64_t released = releases ? end_of_time() : 0;
    const auto last = (place + bytes - 1) / BYTES_PER_WORD;
    for (auto word = place / BYTES_PER_WORD; word <= last; ++word) {
        uint64_t& known = releases_at[word];
        if (acquires) fiber.knows.grid = std::max(fiber.knows.grid, known);
        if (releases) known = released;
    }
}

void forget_order() {
    releases_at.clear();
    racing_write.waiting = false;
    if (now > TIME_MASK / 2) {
        state.memory.forget_accesses();
        now = 1;
    }
    state.launch.begin_time = end_of_time();
}

}  // namespace rmsperf
