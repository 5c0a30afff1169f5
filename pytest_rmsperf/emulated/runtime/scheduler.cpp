// Blocks become resident in order, up to what the device holds. A block runs until none of its
// threads can go on; then another has its turn. Without a seed everything happens in order; with
// one, the thread, the block and the moment of giving way are drawn from it.
#include "scheduler.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "races.h"

namespace rmsperf {

State state;

namespace {

// Accesses between two preemptions of a shuffled schedule, at most. Few enough that a missing
// barrier is met within one phase of a kernel, many enough that switching does not dominate.
constexpr uint32_t MOST_ACCESSES = 256;
// A thread that has made so many accesses without a wait may be waiting in a way that is not seen:
// by plain loads, or counting meanwhile. 5 ms of one core.
constexpr uint32_t ACCESSES_BEFORE_GIVING_WAY = 100'000;
constexpr uint64_t PREEMPTIONS_BEFORE_GIVING_WAY = ACCESSES_BEFORE_GIVING_WAY / MOST_ACCESSES * 2;
// Others may change what a spinning thread looks at and never be done themselves.
constexpr uint32_t TURNS_BEFORE_WAKING = 64;
constexpr auto PROGRESS_PERIOD = std::chrono::milliseconds(500);

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
uint64_t drawn(uint64_t below) {
    uint64_t bits = state.launch.random += 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return (bits ^ bits >> 31) % below;
}

void draw_preemption() {
    state.launch.accesses_to_preemption = 1 + static_cast<uint32_t>(drawn(MOST_ACCESSES));
}

// The first function of every thread.
void thread_main() {
    Launch& launch = state.launch;
    launch.request.kernel->call(launch.request.arguments);
    Fiber& fiber = *launch.current;
    settle_expected_change();
    fiber.wait = Wait::nothing;
    note_progress();
    release_on_exit(fiber);
    launch.left = &fiber;
    switch_context(fiber.context, launch.scheduler);
    __builtin_unreachable();
}

void begin(Fiber& fiber) {
    fiber.stack = state.stacks.take();
    // Stacks start at different lines of the cache: at one and the same they would evict each
    // other. The top is for the values of warp exchanges.
    const std::size_t color = fiber.rank % 8 * 128;
    const std::size_t used = (sizeof(WarpValues) + color + 127) / 128 * 128;
    prepare(fiber.context, fiber.stack, fiber.stack + STACK_BYTES - used, thread_main);
}

void free_stack_of_left() {
    Launch& launch = state.launch;
    if (launch.left == nullptr) return;
    state.stacks.give_back(launch.left->stack);
    launch.left->stack = nullptr;
    launch.left = nullptr;
}

void run_fiber(Fiber& fiber) {
    Launch& launch = state.launch;
    if (fiber.stack == nullptr) begin(fiber);
    fiber.wait = Wait::turn;
    launch.current = &fiber;
    if (!launch.shuffled()) launch.accesses_to_preemption = ACCESSES_BEFORE_GIVING_WAY;
    switch_context(launch.scheduler, fiber.context);
    launch.current = nullptr;
    free_stack_of_left();
}

// ---- shared memory ---------------------------------------------------------------------------

std::size_t shared_bytes() {
    return state.memory.module->static_bytes + state.launch.request.dynamic_smem_bytes;
}

// Brings the block's shared memory into the window, where its threads see it.
void bring_into_window(Block& block) {
    Launch& launch = state.launch;
    if (launch.in_window == &block) return;
    char* window = state.memory.module->window;
    if (launch.in_window != nullptr && !launch.in_window->done()) {
        std::memcpy(launch.in_window->slot, window, shared_bytes());
        launch.in_window->has_content = true;
    }
    if (block.has_content) std::memcpy(window, block.slot, shared_bytes());
    launch.in_window = &block;
}

// ---- starting and ending ---------------------------------------------------------------------

uint32_t selected_index(uint32_t number) {
    const Request& request = state.launch.request;
    return request.selection == nullptr ? number : request.selection[number];
}

std::unique_ptr<Block> make_block(uint32_t index, Cluster& cluster) {
    const Request& request = state.launch.request;
    auto block = std::make_unique<Block>();
    block->index = index;
    block->threads = block->live = request.threads_per_block;
    block->cluster = &cluster;
    block->cluster_rank = static_cast<uint32_t>(cluster.blocks.size());
    block->fibers = std::make_unique<Fiber[]>(block->threads);
    block->warps.resize((block->threads + 31) / 32);
    block->turn.reserve(block->threads);
    for (uint32_t rank = 0; rank < block->threads; ++rank) {
        block->fibers[rank].block = block.get();
        block->fibers[rank].rank = rank;
        begin_knowledge(block->fibers[rank]);
        block->warps[rank / 32].lanes |= 1u << rank % 32;
        block->turn.push_back(rank);
    }
    block->slot = state.memory.take_slot();
    block->written = std::make_unique<uint8_t[]>(shared_bytes());
    block->cells = std::make_unique<Cell[]>(shared_bytes() / BYTES_PER_CELL + 1);
    // A peer may write into the slot before the block first runs.
    block->has_content = request.blocks_per_cluster > 1;
    return block;
}

void start_cluster() {
    Launch& launch = state.launch;
    launch.clusters.push_back(std::make_unique<Cluster>());
    Cluster& cluster = *launch.clusters.back();
    for (uint32_t i = 0; i < launch.request.blocks_per_cluster; ++i) {
        auto block = make_block(selected_index(launch.started++), cluster);
        block->queued = true;
        cluster.blocks.push_back(block.get());
        launch.ready.push_back(block.get());
        launch.blocks.push_back(std::move(block));
        ++launch.resident;
    }
    cluster.live_blocks = launch.request.blocks_per_cluster;
    cluster.live_threads = cluster.live_blocks * launch.request.threads_per_block;
}

bool can_start() {
    const Launch& launch = state.launch;
    return launch.started < launch.total &&
           launch.resident + launch.request.blocks_per_cluster <= launch.capacity();
}

template <class T>
void forget(std::vector<std::unique_ptr<T>>& all, const T* one) {
    const auto found = std::find_if(
        all.begin(), all.end(), [=](const std::unique_ptr<T>& each) { return each.get() == one; });
    std::swap(*found, all.back());
    all.pop_back();
}

void end_cluster(Cluster& cluster) {
    Launch& launch = state.launch;
    for (Block* block : cluster.blocks) {
        state.memory.give_back_slot(block->slot);
        --launch.resident;
        if (launch.in_window == block) launch.in_window = nullptr;
        forget(launch.blocks, static_cast<const Block*>(block));
    }
    forget(launch.clusters, static_cast<const Cluster*>(&cluster));
}

void end_block(Block& block) {
    ++state.launch.finished;
    Cluster& cluster = *block.cluster;
    if (--cluster.live_blocks == 0) end_cluster(cluster);
}

// ---- turns -----------------------------------------------------------------------------------

Fiber& take_turn(Block& block) {
    if (state.launch.shuffled()) {
        const std::size_t waiting = block.turn.size() - block.turn_head;
        std::swap(block.turn[block.turn_head], block.turn[block.turn_head + drawn(waiting)]);
    }
    Fiber& fiber = block.fibers[block.turn[block.turn_head++]];
    if (block.turn_head >= block.threads) {  // at most as many again are still to come
        block.turn.erase(block.turn.begin(), block.turn.begin() + block.turn_head);
        block.turn_head = 0;
    }
    return fiber;
}

// Runs threads of the block until none can go on, or one gives way to other blocks.
void run_block(Block& block) {
    Launch& launch = state.launch;
    bring_into_window(block);
    block.queued = true;  // so that nobody queues it meanwhile
    launch.give_way = false;
    while (block.can_run() && !launch.faulted && !launch.give_way) run_fiber(take_turn(block));
    block.queued = false;
    if (launch.faulted) return;
    if (block.done()) return end_block(block);
    if (block.can_run()) {
        block.queued = true;
        launch.ready.push_back(&block);
    }
}

// The next block to run, or null when none can.
Block* next_block() {
    Launch& launch = state.launch;
    if (launch.shuffled()) {
        // More than one, so that a block that never waits is not always ahead of the next.
        while (can_start() && drawn(4) != 0) start_cluster();
        if (launch.ready.size() > 1) {
            std::swap(launch.ready.front(), launch.ready[drawn(launch.ready.size())]);
        }
    }
    if ((launch.ready.empty() || launch.give_way) && can_start()) start_cluster();
    if (launch.ready.empty()) return nullptr;
    Block* block = launch.ready.front();
    launch.ready.pop_front();
    return block;
}

// Leaves `interrupted` set when the launcher's function is left by an exception, such as Ctrl-C.
void tell_progress(std::chrono::steady_clock::time_point& last) {
    const Launch& launch = state.launch;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < PROGRESS_PERIOD) return;
    last = now;
    launch.report->interrupted = 1;
    state.progress(launch.finished, launch.total, launch.report);
}

}  // namespace

void run_launch() {
    Launch& launch = state.launch;
    launch.random = launch.request.seed;
    if (launch.shuffled()) draw_preemption();
    auto last = std::chrono::steady_clock::now();
    for (uint32_t turn = 1; launch.finished < launch.total && !launch.faulted; ++turn) {
        tell_progress(last);
        if (launch.report->interrupted) return;
        if (turn % TURNS_BEFORE_WAKING == 0) wake_changed();
        if (Block* block = next_block()) {
            run_block(*block);
        } else if (!wake_spinning()) {
            report_deadlock();
        }
    }
}

void wait_for(Wait wait, const void* code) {
    Launch& launch = state.launch;
    Fiber& fiber = *launch.current;
    settle_expected_change();
    fiber.wait = wait;
    fiber.code = code;
    require_stack(code);
    switch_context(fiber.context, launch.scheduler);
}

void yield() {
    make_runnable(*state.launch.current);
    wait_for(Wait::turn, nullptr);
}

void preempt() {
    Launch& launch = state.launch;
    if (launch.shuffled()) draw_preemption();
    if (!launch.shuffled() || ++launch.preemptions % PREEMPTIONS_BEFORE_GIVING_WAY == 0) {
        launch.give_way = true;
        wake_changed();
    }
    yield();
}

void make_runnable(Fiber& fiber) {
    Block& block = *fiber.block;
    fiber.wait = Wait::turn;
    block.turn.push_back(fiber.rank);
    if (block.queued) return;
    block.queued = true;
    state.launch.ready.push_back(&block);
}

void for_waiting(Block& block, Wait wait, void (*action)(Fiber&)) {
    for (uint32_t rank = 0; rank < block.threads; ++rank) {
        if (block.fibers[rank].wait == wait) action(block.fibers[rank]);
    }
}

}  // namespace rmsperf
