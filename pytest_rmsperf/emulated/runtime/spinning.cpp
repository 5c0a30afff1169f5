// Threads that wait by looking at memory.
//
// A loop such as `while (load(counter) < blocks) {}` would spin for ever where one thread runs at
// a time. A thread that loads the same value from the same place a second time is taken off the
// processor, and comes back when something that it has looked at is changed. When nothing else can
// run, every such thread gets many more polls, for the loop may be bounded. If memory is then still
// what it was, no thread will ever change it: a deadlock.
#include <algorithm>
#include <cstring>

#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

// Polls for nothing that all spinning threads together get before the launch counts as dead:
// 40 ms of one core. A loop that gives up after more polls than its share is taken for endless.
constexpr uint64_t POLLS_FOR_NOTHING = 2'000'000;
constexpr uint32_t FEWEST_POLLS = 64;
// Polls of anything, by threads that look at more places than are watched.
constexpr uint64_t MOST_POLLS = 50'000'000;

struct {
    const char* address = nullptr;
    std::size_t bytes = 0;
    char before[16];
} expected;

// The address in the slot of the block, where it lies while another block is in the window.
const char* resident_address(const Fiber& fiber, const char* address) {
    const Module& module = *state.memory.module;
    const std::size_t bytes = module.static_bytes + module.capacity_bytes;
    if (address < module.window || address >= module.window + bytes) return address;
    if (state.launch.in_window == fiber.block) return address;
    return fiber.block->slot + (address - module.window);
}

uint64_t value_at(const char* address, std::size_t bytes) {
    uint64_t low = 0, high = 0;
    std::memcpy(&low, address, std::min<std::size_t>(bytes, 8));
    if (bytes > 8) std::memcpy(&high, address + 8, bytes - 8);
    return low ^ (high * 0x9e3779b97f4a7c15u);
}

bool watch_changed(const Fiber& fiber) {
    for (uint32_t i = 0; i < fiber.watches; ++i) {
        const Watch& watch = fiber.watch[i];
        if (value_at(resident_address(fiber, watch.address), watch.bytes) != watch.value)
            return true;
    }
    return false;
}

void forget_watches() {
    Fiber& fiber = *state.launch.current;
    fiber.watches = 0;
    fiber.polls_left = 0;
}

// Whether the running thread has seen exactly this before; else it is remembered.
bool seen_again(const char* address, std::size_t bytes) {
    Fiber& fiber = *state.launch.current;
    const uint64_t value = value_at(address, bytes);
    for (uint32_t i = 0; i < fiber.watches; ++i) {
        Watch& watch = fiber.watch[i];
        if (watch.address != address || watch.bytes != bytes) continue;
        if (watch.value == value) return true;
        watch.value = value;
        return false;
    }
    if (fiber.watches < MOST_WATCHES) {
        fiber.watch[fiber.watches++] = {address, value, static_cast<uint32_t>(bytes)};
    }
    return false;
}

void give_way() {
    state.launch.give_way = true;
    yield();
}

}  // namespace

void expect_change(const void* address, std::size_t bytes) {
    settle_expected_change();
    if (state.launch.current->owns(address)) return;
    if (bytes > sizeof expected.before) {
        judge_racing_write(true);
        return note_progress();
    }
    expected.address = static_cast<const char*>(address);
    expected.bytes = bytes;
    std::memcpy(expected.before, address, bytes);
}

void settle_expected_change() {
    if (expected.address == nullptr) return;
    const bool changed = std::memcmp(expected.address, expected.before, expected.bytes) != 0;
    expected.address = nullptr;
    judge_racing_write(changed);
    if (changed) note_progress();
}

void note_progress() {
    ++state.launch.progress;
    state.launch.polls = 0;
    forget_watches();
}

void note_poll(const void* address, std::size_t bytes) {
    settle_expected_change();
    Launch& launch = state.launch;
    Fiber& fiber = *launch.current;
    if (!seen_again(static_cast<const char*>(address), bytes)) {
        if (fiber.watches < MOST_WATCHES) return;
        if (++launch.polls > MOST_POLLS) report_deadlock();
        if (launch.polls % FEWEST_POLLS == 0) give_way();
        return;
    }
    if (fiber.polls_left > 0) {
        --fiber.polls_left;
        return;
    }
    launch.spinning.push_back(&fiber);
    wait_for(Wait::memory, fiber.code);
}
// The memory may be gone when the next launch begins.
void forget_expected_change() { expected.address = nullptr; }


bool wake_spinning() {
    Launch& launch = state.launch;
    const auto wake = [&](auto&& due) {
        const auto first = std::stable_partition(launch.spinning.begin(), launch.spinning.end(),
                                                 [&](Fiber* one) { return !due(*one); });
        std::for_each(first, launch.spinning.end(), [](Fiber* one) { make_runnable(*one); });
        const bool any = first != launch.spinning.end();
        launch.spinning.erase(first, launch.spinning.end());
        return any;
    };
    if (wake(watch_changed)) return true;
    const uint64_t share = POLLS_FOR_NOTHING / std::max<std::size_t>(launch.spinning.size(), 1);
    return wake([&](Fiber& one) {
        if (one.grace == launch.progress) return false;
        one.grace = launch.progress;
        one.polls_left = std::max(FEWEST_POLLS, static_cast<uint32_t>(share));
        return true;
    });
}

}  // namespace rmsperf
