// Blocks of a cluster read and write each other's shared memory.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Each block adds its number to the one after it in the cluster, and reads its neighbour's sum.
extern "C" __global__ void ring(const float* x, float* y) {
    __shared__ float own;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (threadIdx.x == 0) own = x[blockIdx.x];
    cluster.sync();
    if (threadIdx.x == 0) atomicAdd(cluster.map_shared_rank(&own, next), x[blockIdx.x]);
    cluster.sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = *cluster.map_shared_rank(&own, next) + threadIdx.x;
    cluster.sync();
}
