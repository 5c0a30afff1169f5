// Threads that wait by looking at memory.
//
// A loop such as `while (load(counter) < blocks) {}` would spin for ever where one thread runs at
// a time. A thread that loads the same value from the same place a second time is taken off the
// processor, and comes back when something that it has looked at is changed. When nothing else can
// run, every such thread gets more polls, and one at each place very many, for the loop may be
// bounded; then time passes, for it may be waiting for that. If memory is then still what it was,
// no thread will ever change it: a deadlock.
#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

// Polls for nothing that all spinning threads together get, and the first of each place once more,
// before the launch counts as dead: 40 ms of one core. A loop that gives up after more polls is
// taken for endless. Threads of one place are alike: when one gives up the next is the first.
// All numbers are multiples of the fewest, so that threads that look at up to six places in turn
// end at one and the same of them, and are told together.
constexpr uint32_t FEWEST_POLLS = 120;
constexpr uint32_t POLLS_FOR_NOTHING = 16'667 * FEWEST_POLLS;
// Seconds of any device, and no multiple of the 32 bits that clock() shows.
constexpr long long CYCLES_OF_STANDSTILL = 10'000'000'000;
// Polls of anything, by threads that look at more places than are watched.
constexpr uint64_t MOST_POLLS = 50'000'000;

// More bytes that one store or copy writes are taken for changed.
constexpr std::size_t MOST_BYTES_COMPARED = 4096;

struct {
    const char* address = nullptr;
    std::size_t bytes = 0;
    char before[MOST_BYTES_COMPARED];
} expected;

uint64_t value_at(const char* address, std::size_t bytes) {
    uint64_t low = 0, high = 0;
    std::memcpy(&low, address, std::min<std::size_t>(bytes, 8));
    if (bytes > 8) std::memcpy(&high, address + 8, bytes - 8);
    return low ^ (high * 0x9e3779b97f4a7c15u);
}

bool watch_changed(const Fiber& fiber) {
    for (uint32_t i = 0; i < fiber.watches; ++i) {
        const Watch& watch = fiber.watch[i];
        if (value_at(content_of(watch.place), watch.bytes) != watch.value) return true;
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
    const char* place = place_of(address);
    for (uint32_t i = 0; i < fiber.watches; ++i) {
        Watch& watch = fiber.watch[i];
        if (watch.place != place || watch.bytes != bytes) continue;
        if (watch.value == value) return true;
        watch.value = value;
        return false;
    }
    if (fiber.watches < MOST_WATCHES) {
        fiber.watch[fiber.watches++] = {place, value, static_cast<uint32_t>(bytes)};
    }
    return false;
}

void give_way() {
    state.launch.give_way = true;
    yield();
}

// Makes the spinning threads runnable that are due, and says whether there were any.
template <class Due>
bool wake(Due due) {
    std::vector<Fiber*>& spinning = state.launch.spinning;
    const auto first = std::stable_partition(spinning.begin(), spinning.end(),
                                             [&](Fiber* one) { return !due(*one); });
    std::for_each(first, spinning.end(), [](Fiber* one) { make_runnable(*one); });
    const bool any = first != spinning.end();
    spinning.erase(first, spinning.end());
    return any;
}

bool wake_for_nothing() {
    const Launch& launch = state.launch;
    const std::size_t spinning = std::max<std::size_t>(launch.spinning.size(), 1);
    const auto share = static_cast<uint32_t>(POLLS_FOR_NOTHING / spinning);
    const uint32_t polls = std::max(share / FEWEST_POLLS, 1u) * FEWEST_POLLS;
    std::set<const void*> places;
    return wake([&](Fiber& one) {
        if (one.grace == launch.progress) return false;
        one.grace = launch.progress;
        const bool first = places.insert(one.code).second;
        one.polls_left = first ? POLLS_FOR_NOTHING : polls;
        return true;
    });
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

// The memory may be gone when the next launch begins.
void forget_expected_change() { expected.address = nullptr; }

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

bool wake_changed() {
    return wake([](Fiber& one) {
        if (!watch_changed(one)) return false;
        one.watches = 0;  // what it saw there is past, and it may never look there again
        return true;
    });
}

bool wake_spinning() {
    if (wake_changed() || wake_for_nothing()) return true;
    Launch& launch = state.launch;
    if (launch.clock_looks == 0 || launch.standstill == launch.progress) return false;
    launch.standstill = launch.progress;
    launch.clock += CYCLES_OF_STANDSTILL;
    for (Fiber* one : launch.spinning) one->grace = 0;
    return wake_for_nothing();
}

}  // namespace rmsperf
