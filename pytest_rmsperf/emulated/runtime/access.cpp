// Judges one access of the running thread: does the address exist, is it its own to touch, has
// anybody written what it reads?
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "memory.h"
#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

// Further away than this an address may have been meant for another buffer.
constexpr long NEAR_BYTES = 1L << 20;

const char* verb(Access access) {
    switch (access) {
        case Access::read:
        case Access::volatile_read:
            return "reads";
        case Access::write:
        case Access::volatile_write:
            return "writes";
        case Access::atomic_read:
            return "atomically reads";
        case Access::atomic_write:
            return "atomically writes";
        default:
            return "atomically updates";
    }
}

bool writes(Access access) {
    return access == Access::write || access == Access::volatile_write ||
           access == Access::atomic_write || access == Access::update;
}

bool reads(Access access) { return !writes(access) || access == Access::update; }

bool plain(Access access) { return access == Access::read || access == Access::write; }

// Whether the thread may be using bytes that nobody wrote. Padding makes a copied struct partly
// unwritten, so of one only the whole counts.
bool unwritten(const uint8_t* state, std::size_t bytes, bool whole) {
    const auto is_unwritten = [](uint8_t byte) { return byte == UNWRITTEN; };
    return whole ? std::all_of(state, state + bytes, is_unwritten)
                 : std::any_of(state, state + bytes, is_unwritten);
}

struct Asked {
    const char* address;
    std::size_t bytes;
    Access access;
    const void* code;
    bool whole;
};

[[noreturn]] void outside(const Asked& asked, const char* begin, const char* end,
                          const char* what) {
    fault("out of bounds", asked.code, "%s %zu bytes at byte %ld of %s, which has %ld bytes",
          verb(asked.access), asked.bytes, asked.address - begin, what, end - begin);
}

long distance(const Buffer& buffer, const char* address) {
    return address < buffer.begin ? buffer.begin - address : address - buffer.end + 1;
}

// The buffer with the least distance from the address, which is in none; null where there is none.
const Buffer* nearest_buffer(const char* address) {
    const auto& buffers = state.memory.buffers;
    const auto nearest = std::min_element(
        buffers.begin(), buffers.end(), [=](const Buffer& one, const Buffer& other) {
            return distance(one, address) < distance(other, address);
        });
    return nearest == buffers.end() ? nullptr : &*nearest;
}

[[noreturn]] void unknown(const Asked& asked) {
    const void* address = asked.address;
    if (asked.address < reinterpret_cast<const char*>(4096)) {
        fault("out of bounds", asked.code, "%s %zu bytes at address %p: a null pointer",
              verb(asked.access), asked.bytes, address);
    }
    const Buffer* nearest = nearest_buffer(asked.address);
    if (nearest == nullptr) {
        fault("out of bounds", asked.code, "%s %zu bytes at address %p, where nothing is",
              verb(asked.access), asked.bytes, address);
    }
    const long bytes = asked.address - nearest->begin, size = nearest->end - nearest->begin;
    const long element = nearest->element_bytes;
    const long index = bytes >= 0 ? bytes / element : -((-bytes + element - 1) / element);
    if (bytes > size + NEAR_BYTES || bytes < -NEAR_BYTES) {
        fault("out of bounds", asked.code,
              "%s %zu bytes at an address of no buffer; as an element of %s, the nearest, it were "
              "number %ld of %ld",
              verb(asked.access), asked.bytes, nearest->name.c_str(), index, size / element);
    }
    fault("out of bounds", asked.code, "%s element %ld of %s, which has %ld elements",
          verb(asked.access), index, nearest->name.c_str(), size / element);
}

void note(const Asked& asked, const Touched& memory) {
    uint8_t* written = memory.written + memory.offset;
    if (reads(asked.access) && state.launch.request.read_check &&
        unwritten(written, asked.bytes, asked.whole)) {
        fault("uninitialized read", asked.code,
              "%s %zu bytes of %s that nobody wrote (element %zu)", verb(asked.access), asked.bytes,
              memory.name, memory.element());
    }
    if (memory.cells != nullptr && plain(asked.access)) check_race(memory, writes(asked.access));
    if (writes(asked.access)) std::memset(written, WRITTEN_BY_KERNEL, asked.bytes);
}

void check_buffer(const Asked& asked, const Buffer& buffer) {
    if (asked.address + asked.bytes > buffer.end) {
        outside(asked, buffer.begin, buffer.end, buffer.name.c_str());
    }
    const auto offset = static_cast<std::size_t>(asked.address - buffer.begin);
    note(asked, {buffer.name.c_str(), buffer.written, buffer.cells, offset, asked.bytes,
                 buffer.element_bytes, asked.code});
}

// Names the variable before the address, for a thread that runs off its end.
[[noreturn]] void between_variables(const Asked& asked, std::size_t offset, const char* base) {
    const SharedVariable* before = nullptr;
    for (const SharedVariable& one : state.memory.module->variables) {
        const bool nearer = before == nullptr || one.offset > before->offset;
        if (one.offset <= offset && nearer) before = &one;
    }
    if (before == nullptr) {
        fault("out of bounds", asked.code, "%s %zu bytes of shared memory, of which it has none",
              verb(asked.access), asked.bytes);
    }
    const char* begin = base + before->offset;
    outside(asked, begin, begin + before->bytes, before->name.c_str());
}

// `offset` counts from the start of the block's shared memory, which belongs to `block`.
void check_shared(const Asked& asked, std::size_t offset, Block& block) {
    const Module& module = *state.memory.module;
    const std::size_t dynamic_bytes = state.launch.request.dynamic_smem_bytes;
    const char* base = asked.address - offset;
    const bool dynamic = offset >= module.static_bytes && dynamic_bytes > 0;
    if (dynamic) {
        const char* begin = base + module.static_bytes;
        if (asked.address + asked.bytes > begin + dynamic_bytes) {
            outside(asked, begin, begin + dynamic_bytes, "the dynamic shared memory");
        }
        const std::size_t first = module.static_bytes;
        note(asked, {"the dynamic shared memory", block.written.get() + first,
                     block.cells.get() + first / BYTES_PER_CELL, offset - first, asked.bytes,
                     asked.bytes, asked.code});
        return;
    }
    for (const SharedVariable& one : module.variables) {
        if (offset < one.offset || offset >= one.offset + one.bytes) continue;
        if (one.name.empty()) return;
        if (offset + asked.bytes > one.offset + one.bytes) {
            const char* begin = base + one.offset;
            outside(asked, begin, begin + one.bytes, one.name.c_str());
        }
        const std::size_t cell = one.offset / BYTES_PER_CELL;
        const std::size_t in_cell = one.offset % BYTES_PER_CELL;
        note(asked, {one.name.c_str(), block.written.get() + one.offset - in_cell,
                     block.cells.get() + cell, offset - one.offset + in_cell, asked.bytes,
                     asked.bytes, asked.code});
        return;
    }
    between_variables(asked, offset, base);
}

void check_peer(const Asked& asked, long slot) {
    const auto& blocks = state.launch.current->block->cluster->blocks;
    const char* begin = state.memory.slot(slot);
    const auto owner = std::find_if(blocks.begin(), blocks.end(),
                                    [=](const Block* one) { return one->slot == begin; });
    if (owner == blocks.end()) {
        fault("out of bounds", asked.code,
              "%s the shared memory of a block that is not in its cluster", verb(asked.access));
    }
    if ((*owner)->done()) {
        fault("peer has left", asked.code,
              "%s the shared memory of block %u of its cluster, all of whose threads have left",
              verb(asked.access), (*owner)->cluster_rank);
    }
    check_shared(asked, static_cast<std::size_t>(asked.address - begin), **owner);
}

bool held(const std::vector<Range>& ranges, const void* address) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [=](const Range& range) { return range.holds(address); });
}

// The variables and constants of the module are judged by no more than this.
void check_image(const Asked& asked, const Module& module) {
    if (!held(module.image, asked.address)) unknown(asked);
    if (writes(asked.access) && held(module.read_only, asked.address)) {
        fault("constant memory", asked.code, "%s %zu bytes of a constant at address %p",
              verb(asked.access), asked.bytes, static_cast<const void*>(asked.address));
    }
}

}  // namespace

void check_access(const void* address, std::size_t bytes, Access access, const void* code,
                  bool whole) {
    const Asked asked = {static_cast<const char*>(address), bytes, access, code, whole};
    Fiber& fiber = *state.launch.current;
    if (fiber.owns(address)) return;
    require_stack(code);
    consider_preemption();
    if (const Buffer* buffer = state.memory.find(address)) return check_buffer(asked, *buffer);
    const Module& module = *state.memory.module;
    const Range window = {module.window,
                          module.window + module.static_bytes + module.capacity_bytes};
    if (window.holds(address)) {
        const auto offset = static_cast<std::size_t>(asked.address - module.window);
        return check_shared(asked, offset, *fiber.block);
    }
    const long slot = state.memory.slot_of(address);
    if (slot >= 0) return check_peer(asked, slot);
    check_image(asked, module);
}

}  // namespace rmsperf
