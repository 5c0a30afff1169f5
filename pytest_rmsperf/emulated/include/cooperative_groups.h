// Cooperative groups: the block, tiles of a warp, the grid and the cluster.
//
// What is not emulated is declared and deleted, so that the compiler names it.
#pragma once

#include "rmsperf/prelude.h"

#include "rmsperf/groups/block.h"
#include "rmsperf/groups/cluster.h"
#include "rmsperf/groups/grid.h"
#include "rmsperf/groups/partition.h"
#include "rmsperf/groups/thread_group.h"
#include "rmsperf/groups/warp_groups.h"
