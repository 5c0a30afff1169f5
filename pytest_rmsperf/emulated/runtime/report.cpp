// Writes down what went wrong, for the launcher to show.
#include "report.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "scheduler.h"

namespace rmsperf {

namespace {

const char* what(Wait wait) {
    switch (wait) {
        case Wait::block:
            return "the threads of their block";
        case Wait::named:
            return "the threads of a named barrier";
        case Wait::warp:
            return "the lanes of their warp";
        case Wait::grid:
            return "the blocks of the grid";
        case Wait::cluster:
            return "the blocks of their cluster";
        default:
            return "a change of memory";
    }
}

// What the thread looks at, in words a person can use.
void describe_watch(const Fiber& fiber, char* text, std::size_t bytes) {
    text[0] = '\0';
    if (fiber.wait != Wait::memory || fiber.watches == 0) return;
    const Watch& watch = fiber.watch[fiber.watches - 1];
    const auto value = static_cast<unsigned long long>(watch.value);
    if (const Buffer* buffer = state.memory.find(watch.place)) {
        std::snprintf(text, bytes, "element %zu of %s is %llu",
                      static_cast<std::size_t>(watch.place - buffer->begin) / buffer->element_bytes,
                      buffer->name.c_str(), value);
    } else {
        std::snprintf(text, bytes, "%u bytes of shared memory are %llu", watch.bytes, value);
    }
}

void add_waiting(Report& report, const Fiber& fiber) {
    for (uint32_t i = 0; i < report.waiting_places; ++i) {
        Waiting& one = report.waiting[i];
        if (one.code != fiber.code || std::strcmp(one.what, what(fiber.wait)) != 0) continue;
        ++one.threads;
        return;
    }
    if (report.waiting_places == MOST_WAITING) return;
    Waiting& one = report.waiting[report.waiting_places++];
    one.code = fiber.code;
    one.what = what(fiber.wait);
    one.threads = 1;
    one.block = fiber.block->index;
    one.thread = fiber.rank;
    describe_watch(fiber, one.detail, sizeof one.detail);
}

// Counts the blocks of each place once all its threads are known.
void count_blocks(Report& report) {
    for (uint32_t i = 0; i < report.waiting_places; ++i) {
        Waiting& one = report.waiting[i];
        for (const auto& block : state.launch.blocks) {
            for (uint32_t rank = 0; rank < block->threads; ++rank) {
                const Fiber& fiber = block->fibers[rank];
                if (fiber.stack == nullptr || fiber.code != one.code) continue;
                ++one.blocks;
                break;
            }
        }
    }
}

}  // namespace

void fault(const char* kind, const void* code, const char* format, ...) {
    Launch& launch = state.launch;
    Report& report = *launch.report;
    Fiber& fiber = *launch.current;
    report.faulted = 1;
    report.kind = kind;
    report.code = code;
    report.block = fiber.block->index;
    report.thread = fiber.rank;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(report.text, sizeof report.text, format, arguments);
    va_end(arguments);
    launch.faulted = true;
    switch_context(fiber.context, launch.scheduler);
    __builtin_unreachable();
}

void stack_overflow(const void* code) {
    fault("stack overflow", code, "takes more than %zu bytes of stack for its variables and calls",
          STACK_BYTES - STACK_RESERVE);
}

void report_deadlock() {
    Launch& launch = state.launch;
    Report& report = *launch.report;
    report.faulted = 1;
    report.kind = "deadlock";
    for (const auto& block : launch.blocks) {
        for (uint32_t rank = 0; rank < block->threads; ++rank) {
            const Fiber& fiber = block->fibers[rank];
            if (fiber.stack != nullptr) add_waiting(report, fiber);
        }
    }
    count_blocks(report);
    launch.faulted = true;
    if (launch.current != nullptr) switch_context(launch.current->context, launch.scheduler);
}

}  // namespace rmsperf
