// Addresses of shared memory: of this block, of a peer, as numbers.
#include "scheduler.h"

namespace rmsperf {

namespace {

std::size_t window_bytes() {
    const Module& module = *state.memory.module;
    return module.static_bytes + module.capacity_bytes;
}

// The offset in the shared memory of the block, which is the same in every block of a launch.
bool offset_of(const void* address, std::size_t& offset, Block*& owner) {
    const char* wanted = static_cast<const char*>(address);
    const char* window = state.memory.module->window;
    Block& own = *state.launch.current->block;
    if (wanted >= window && wanted < window + window_bytes()) {
        offset = static_cast<std::size_t>(wanted - window);
        owner = &own;
        return true;
    }
    const long slot = state.memory.slot_of(address);
    if (slot < 0) return false;
    offset = static_cast<std::size_t>(wanted - state.memory.slot(slot));
    for (Block* block : own.cluster->blocks) {
        if (block->slot == state.memory.slot(slot)) owner = block;
    }
    return owner != nullptr;
}

}  // namespace

const char* place_of(const void* address) {
    const char* wanted = static_cast<const char*>(address);
    const char* window = state.memory.module->window;
    const bool own = wanted >= window && wanted < window + window_bytes();
    return own ? state.launch.current->block->slot + (wanted - window) : wanted;
}

const char* content_of(const char* place) {
    const Block* visible = state.launch.in_window;
    if (visible == nullptr || place < visible->slot) return place;
    const std::ptrdiff_t offset = place - visible->slot;
    const bool inside = offset < static_cast<std::ptrdiff_t>(state.memory.slot_bytes());
    return inside ? state.memory.module->window + offset : place;
}

extern "C" {

void* rmsperf_map_shared(void* address, unsigned rank, Place) {
    Block& own = *state.launch.current->block;
    const void* code = __builtin_return_address(0);
    std::size_t offset = 0;
    Block* owner = nullptr;
    if (!offset_of(address, offset, owner)) {
        fault("out of bounds", code, "maps %p, which is not an address of shared memory", address);
    }
    if (rank >= own.cluster->blocks.size()) {
        fault("out of bounds", code, "maps shared memory of block %u of a cluster of %zu", rank,
              own.cluster->blocks.size());
    }
    Block& peer = *own.cluster->blocks[rank];
    return (&peer == &own ? state.memory.module->window : peer.slot) + offset;
}

unsigned rmsperf_rank_of_shared(const void* address, Place) {
    std::size_t offset = 0;
    Block* owner = nullptr;
    if (!offset_of(address, offset, owner)) {
        fault("out of bounds", __builtin_return_address(0),
              "asks for the block of %p, which is not an address of shared memory", address);
    }
    return owner->cluster_rank;
}

int rmsperf_is_shared(const void* address) {
    std::size_t offset = 0;
    Block* owner = nullptr;
    return offset_of(address, offset, owner);
}

// As on the device, numbers of one's own block begin with 0, and those of a peer say its rank.
uint32_t rmsperf_shared_to_number(const void* address) {
    std::size_t offset = 0;
    Block* owner = nullptr;
    if (!offset_of(address, offset, owner)) {
        fault("out of bounds", __builtin_return_address(0),
              "makes a number of %p, which is not an address of shared memory", address);
    }
    const bool own = owner == state.launch.current->block;
    return static_cast<uint32_t>(offset) | (own ? 0 : (owner->cluster_rank + 1) << 24);
}

void* rmsperf_number_to_shared(uint32_t number) {
    const uint32_t rank = number >> 24, offset = number & 0xffffff;
    Block& own = *state.launch.current->block;
    if (rank == 0) return state.memory.module->window + offset;
    if (rank > own.cluster->blocks.size()) {
        fault("out of bounds", __builtin_return_address(0),
              "uses number 0x%08x, which is not of shared memory", number);
    }
    return own.cluster->blocks[rank - 1]->slot + offset;
}

}  // extern "C"

}  // namespace rmsperf
