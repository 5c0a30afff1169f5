// What a launch tells the launcher, laid out for it to read field by field.
#pragma once

#include <cstdint>

#include "rmsperf/runtime.h"

namespace rmsperf {

// One launch as the launcher asks for it. Grids and blocks have one dimension.
struct Request {
    const Kernel* kernel;
    void* const* arguments;  // one address per parameter
    uint32_t blocks;
    uint32_t threads_per_block;
    uint32_t blocks_per_cluster;  // 1 where there is no cluster
    uint32_t dynamic_smem_bytes;
    uint32_t blocks_per_sm;  // how many blocks are resident together: this times the SMs
    uint32_t sms;
    int32_t cooperative;
    int32_t read_check;         // whether a read of what nobody wrote is a fault
    uint64_t seed;              // 0: threads in order; another: shuffled by it
    const uint32_t* selection;  // only these blocks run, or null for all
    uint32_t selected;
};

// Threads that wait at one place for one thing.
struct Waiting {
    const void* code;  // of the call that waits
    const char* what;
    uint64_t threads;
    uint32_t blocks;
    uint32_t block;   // the first of them
    uint32_t thread;  // and its first thread there
    char detail[160];
};

constexpr uint32_t MOST_WAITING = 12;

struct Report {
    int32_t faulted;
    int32_t interrupted;  // the launcher did not come back from being told of progress
    const char* kind;
    char text[768];
    uint32_t block;
    uint32_t thread;
    const void* code;  // of the access or call at fault, or null
    uint32_t blocks_finished;
    uint32_t blocks_started;
    uint32_t waiting_places;
    Waiting waiting[MOST_WAITING];
};

}  // namespace rmsperf
