// What the lanes of a warp do together.
//
// Lanes meet by their mask and operation. Masks may overlap: some lanes can wait for the whole warp
// while the others still exchange something among themselves.
#include <cstring>

#include "races.h"
#include "scheduler.h"

namespace rmsperf {

namespace {

const char* name(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::barrier:
            return "__syncwarp";
        case WarpOperation::shuffle:
            return "a shuffle";
        case WarpOperation::vote:
            return "a vote";
        case WarpOperation::match:
            return "a match";
        default:
            return "a reduction";
    }
}

// The group under way with this mask and operation, or a new one.
WarpGroup& group_of(Warp& warp, uint32_t mask, WarpOperation operation) {
    WarpGroup* idle = nullptr;
    for (WarpGroup& group : warp.groups) {
        if (group.arrived == 0) {
            idle = &group;
        } else if (group.mask == mask && group.operation == operation) {
            return group;
        }
    }
    if (idle == nullptr) {
        warp.groups.emplace_back();
        idle = &warp.groups.back();
    }
    idle->mask = mask;
    idle->arrived = 0;
    idle->operation = operation;
    return *idle;
}

// Two groups of which each waits for a lane that waits in the other never complete.
void require_no_circle(const Warp& warp, const WarpGroup& own, const void* code) {
    for (const WarpGroup& group : warp.groups) {
        const bool circle = (group.mask & own.arrived) != 0 && (own.mask & group.arrived) != 0;
        if (&group == &own || !circle) continue;
        if (group.mask == own.mask) {
            fault("divergent warp", code,
                  "calls %s, while lanes 0x%08x of its warp wait in %s with the same mask",
                  name(own.operation), group.arrived, name(group.operation));
        }
        fault("divergent warp", code,
              "calls %s with mask 0x%08x, while lanes 0x%08x of its warp wait with mask 0x%08x: "
              "each waits for the other",
              name(own.operation), own.mask, group.arrived, group.mask);
    }
}

void deliver(Fiber& fiber, const WarpGroup& group) {
    WarpValues& values = *fiber.warp_values();
    std::memcpy(values.values, group.values, sizeof values.values);
    values.lanes = group.arrived;
}

bool complete(const Warp& warp, const WarpGroup& group) {
    return group.arrived != 0 && (group.mask & warp.lanes & ~group.arrived) == 0;
}

void release(Block& block, uint32_t warp, WarpGroup& group) {
    order_warp(block, warp, group.arrived);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(group.arrived >> lane & 1)) continue;
        Fiber& fiber = block.fibers[warp * 32 + lane];
        deliver(fiber, group);
        if (fiber.wait == Wait::warp) make_runnable(fiber);
    }
    group.arrived = 0;
}

}  // namespace

// A lane that leaves is no longer waited for.
void release_warp_on_exit(Fiber& fiber) {
    Block& block = *fiber.block;
    const uint32_t number = fiber.rank / 32;
    Warp& warp = block.warps[number];
    warp.lanes &= ~(1u << fiber.rank % 32);
    for (WarpGroup& group : warp.groups) {
        if (complete(warp, group)) release(block, number, group);
    }
}

extern "C" const WarpValues* rmsperf_warp_exchange(unsigned mask, WarpOperation operation,
                                                   uint64_t value, Place) {
    Fiber& fiber = *state.launch.current;
    Block& block = *fiber.block;
    const void* code = __builtin_return_address(0);
    const uint32_t number = fiber.rank / 32, lane = fiber.rank % 32;
    if (!(mask >> lane & 1)) {
        fault("divergent warp", code,
              "is lane %u and calls %s with mask 0x%08x, which leaves it out", lane,
              name(operation), mask);
    }
    Warp& warp = block.warps[number];
    WarpGroup& group = group_of(warp, mask, operation);
    group.values[lane] = value;
    group.arrived |= 1u << lane;
    require_no_circle(warp, group, code);
    fiber.wait = Wait::warp;
    if (complete(warp, group)) release(block, number, group);  // this lane among them
    wait_for(fiber.wait, code);
    return fiber.warp_values();
}

}  // namespace rmsperf
