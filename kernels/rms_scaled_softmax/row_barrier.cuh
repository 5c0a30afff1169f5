// A barrier among the blocks of one row, by device-scope release and acquire.
//
// Each row has two counters, one per synchronization point, and a launch finds and leaves the first
// at zero, so launches can follow each other, replayed or not, without a reset from the host:
//   - the row's leader zeroes the second counter before it arrives at the first point. Every
//     arrival at the second point comes after that, since it comes after all arrivals at the first;
//   - the leader zeroes the first counter once it has passed the second point, when no block of
//     the row can still be waiting at the first.
// A launch that was aborted leaves the counters anywhere: they must be zeroed before the next one.
// Plans with other tile counts need counters of their own.
//
// Each counter has a line of memory to itself. With the counters of 16 rows in one line, 512 blocks
// poll the same place in L2 (H200, 16 rows: 10.0 us device time against 8.3).
#pragma once

#include "ptx.cuh"

struct RowBarrier {
    unsigned* counters;  // of this row: two, COUNTER_STRIDE apart
    unsigned blocks;     // of this row
    bool leader;         // this block resets the counters
};

// Called by warp 0 of the block. What thread 0 wrote before is visible afterwards to warp 0 of each
// of the row's blocks. `point` is 0, then 1.
__device__ inline void row_barrier(RowBarrier barrier, int point) {
    if (threadIdx.x == 0) {
        unsigned* counter = barrier.counters + point * COUNTER_STRIDE;
        if (point == 0 && barrier.leader) store_relaxed(counter + COUNTER_STRIDE, 0);
        add_release(counter, 1);
        while (load_acquire(counter) < barrier.blocks) {
        }
        if (point == 1 && barrier.leader) store_relaxed(barrier.counters, 0);
    }
    __syncwarp();
}
