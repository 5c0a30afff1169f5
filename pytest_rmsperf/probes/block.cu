// Holds its stream until the host lets go, so that what waits behind it then runs without the host.

__device__ long long now_ns() {
    long long time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
}

// One thread. The host sets words[0] to let go. A call of the host that waits for an idle device
// would wait for ever, so after `limit_ns` the kernel lets go by itself, and says so in words[1].
extern "C" __global__ void block_kernel(volatile unsigned* words, long long limit_ns) {
    const long long start = now_ns();
    while (words[0] == 0) {
        if (now_ns() - start > limit_ns) {
            words[1] = 1;
            return;
        }
    }
}
