// Barriers of a block, of the grid and of a cluster.
#include <algorithm>
#include <cstring>

#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

bool same(Place one, Place other) {
    return one.line == other.line &&
           (one.file == other.file || std::strcmp(one.file, other.file) == 0);
}

int result_of(const BlockBarrier& barrier) {
    switch (barrier.vote) {
        case Vote::all:
            return barrier.counted == barrier.waiting;
        case Vote::any:
            return barrier.counted > 0;
        default:
            return static_cast<int>(barrier.counted);
    }
}

// The threads of the block that wait and, of those, wait for what is asked.
template <class Asked>
std::vector<Fiber*> waiting_threads(Block& block, Wait wait, Asked asked) {
    std::vector<Fiber*> found;
    found.reserve(block.threads);
    for (uint32_t rank = 0; rank < block.threads; ++rank) {
        Fiber& fiber = block.fibers[rank];
        if (fiber.wait == wait && asked(fiber)) found.push_back(&fiber);
    }
    return found;
}

void release_together(const std::vector<Fiber*>& threads, uint64_t known_grid = 0) {
    order_together(threads, known_grid);
    for (Fiber* one : threads) make_runnable(*one);
}

void release_block(Block& block) {
    const int result = result_of(block.barrier);
    block.barrier = BlockBarrier{};
    const auto threads = waiting_threads(block, Wait::block, [](const Fiber&) { return true; });
    for (Fiber* one : threads) one->vote = result;
    release_together(threads);
}

// The first thread at a barrier says which one it is; another one at another place is at fault.
void require_same_barrier(const BlockBarrier& barrier, Vote vote, Place place, const void* code) {
    if (barrier.vote == vote && same(barrier.place, place)) return;
    const Block& block = *state.launch.current->block;
    uint32_t first = 0;
    while (block.fibers[first].wait != Wait::block) ++first;
    fault("divergent barrier", code,
          "reaches __syncthreads() at %s:%d, while %u of %u threads of its block, thread %u first, "
          "wait at the one at %s:%d",
          place.file, place.line, barrier.waiting, block.threads, first, barrier.place.file,
          barrier.place.line);
}

void release_grid() {
    Launch& launch = state.launch;
    launch.at_grid_barrier = 0;
    for (const auto& block : launch.blocks) {
        block->at_grid_barrier = 0;
        order_all(*block);
        for_waiting(*block, Wait::grid, make_runnable);
    }
}

// Every block of the grid must arrive; one that has left never does, as on the device.
void arrive_at_grid(Block& block) {
    Launch& launch = state.launch;
    if (block.live == 0 || block.at_grid_barrier < block.live) return;
    if (++launch.at_grid_barrier == launch.total) release_grid();
}

void arrive_at_cluster(Cluster& cluster) {
    if (cluster.live_threads == 0 || cluster.arrived < cluster.live_threads) return;
    cluster.arrived = 0;
    ++cluster.phase;
    for (Block* block : cluster.blocks) {
        order_all(*block);
        for_waiting(*block, Wait::cluster, [](Fiber& fiber) {
            if (fiber.cluster_arrival <= fiber.block->cluster->phase) make_runnable(fiber);
        });
    }
}

NamedBarrier& arrive_at_named(uint32_t id, uint32_t threads, const void* code) {
    Fiber& fiber = *state.launch.current;
    if (id >= NAMED_BARRIERS) {
        fault("invalid barrier", code, "names barrier %u; a block has 0 to %u", id,
              NAMED_BARRIERS - 1);
    }
    if (threads == 0 || threads % 32 != 0) {
        fault("invalid barrier", code, "waits for %u threads; they must be whole warps", threads);
    }
    NamedBarrier& barrier = fiber.block->named[id];
    if (barrier.arrived > 0 && barrier.expected != threads) {
        fault("divergent barrier", code,
              "expects %u threads at barrier %u, at which others expect %u", threads, id,
              barrier.expected);
    }
    barrier.expected = threads;
    ++barrier.arrived;
    barrier.known_grid = std::max(barrier.known_grid, fiber.knows.grid);
    return barrier;
}

// When the barrier is complete all who wait there go on, the running thread among them if it does.
void release_named(NamedBarrier& barrier, uint32_t id) {
    if (barrier.arrived < barrier.expected) return;
    const uint64_t known_grid = barrier.known_grid;
    barrier = NamedBarrier{};
    release_together(waiting_threads(*state.launch.current->block, Wait::named,
                                     [=](const Fiber& fiber) { return fiber.named_barrier == id; }),
                     known_grid);
}

}  // namespace

void release_warp_on_exit(Fiber& fiber);

void release_on_exit(Fiber& fiber) {
    Block& block = *fiber.block;
    Cluster& cluster = *block.cluster;
    --block.live;
    --cluster.live_threads;
    if (fiber.cluster_arrival > cluster.phase) --cluster.arrived;
    if (block.barrier.waiting > 0 && block.barrier.waiting == block.live) release_block(block);
    release_warp_on_exit(fiber);
    if (block.at_grid_barrier > 0) arrive_at_grid(block);
    arrive_at_cluster(cluster);
}

extern "C" {

int rmsperf_block_barrier(Vote vote, int predicate, Place place) {
    Fiber& fiber = *state.launch.current;
    Block& block = *fiber.block;
    BlockBarrier& barrier = block.barrier;
    const void* code = __builtin_return_address(0);
    if (barrier.waiting == 0) {
        barrier.vote = vote;
        barrier.place = place;
        barrier.code = code;
    }
    require_same_barrier(barrier, vote, place, code);
    ++barrier.waiting;
    barrier.counted += predicate != 0;
    fiber.wait = Wait::block;
    if (barrier.waiting == block.live) release_block(block);  // this thread among them
    wait_for(fiber.wait, code);
    return fiber.vote;
}

void rmsperf_named_barrier(unsigned id, unsigned threads, Place) {
    const void* code = __builtin_return_address(0);
    Fiber& fiber = *state.launch.current;
    NamedBarrier& barrier = arrive_at_named(id, threads, code);
    fiber.named_barrier = id;
    fiber.wait = Wait::named;
    release_named(barrier, id);
    wait_for(fiber.wait, code);
}

void rmsperf_named_arrive(unsigned id, unsigned threads, Place) {
    release_named(arrive_at_named(id, threads, __builtin_return_address(0)), id);
}

void rmsperf_grid_barrier(Place) {
    Fiber& fiber = *state.launch.current;
    const void* code = __builtin_return_address(0);
    if (!state.launch.request.cooperative) {
        fault("invalid barrier", code,
              "waits for the whole grid in a launch that is not cooperative: on the device this "
              "launch fails");
    }
    ++fiber.block->at_grid_barrier;
    fiber.wait = Wait::grid;
    arrive_at_grid(*fiber.block);
    wait_for(fiber.wait, code);
}

void rmsperf_cluster_arrive(Place) {
    Fiber& fiber = *state.launch.current;
    Cluster& cluster = *fiber.block->cluster;
    if (fiber.cluster_arrival != 0) {
        fault("invalid barrier", __builtin_return_address(0),
              "arrives at the barrier of its cluster twice, without a wait in between");
    }
    fiber.cluster_arrival = cluster.phase + 1;
    ++cluster.arrived;
    arrive_at_cluster(cluster);
}

void rmsperf_cluster_wait(Place) {
    Fiber& fiber = *state.launch.current;
    const void* code = __builtin_return_address(0);
    if (fiber.cluster_arrival == 0) {
        fault("invalid barrier", code, "waits for its cluster without having arrived");
    }
    if (fiber.cluster_arrival > fiber.block->cluster->phase) wait_for(Wait::cluster, code);
    fiber.cluster_arrival = 0;
}

}  // extern "C"

}  // namespace rmsperf
