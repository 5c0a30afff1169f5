// Threads that look at memory, change it or let time pass for long, and get there.

__device__ inline unsigned load(const unsigned* counter) {
    return *static_cast<const volatile unsigned*>(counter);
}

// ---- what changes nothing, many times --------------------------------------------------------

extern "C" __global__ void take_maximum(unsigned* counters, int times) {
    for (int i = 0; i < times; ++i) atomicMax(counters, 0u);
}

extern "C" __global__ void set_no_bit(unsigned* counters, int times) {
    for (int i = 0; i < times; ++i) atomicOr(counters, 0u);
}

extern "C" __global__ void give_up(unsigned* counters, int times) {
    for (int i = 0; i < times && load(counters) == 0; ++i) {
    }
}

// ---- block 0 waits for the last block, in ways that do not look like it ----------------------

extern "C" __global__ void count_meanwhile(unsigned* counters) {
    if (blockIdx.x == gridDim.x - 1) atomicExch(counters, 1u);
    while (load(counters) == 0) atomicAdd(counters + 1, 1u);
}

extern "C" __global__ void look_plainly(unsigned* counters) {
    if (blockIdx.x == gridDim.x - 1) atomicExch(counters, 1u);
    while (*counters == 0) __threadfence();
}

extern "C" __global__ void look_at_the_clock(unsigned* counters) {
    if (blockIdx.x == gridDim.x - 1) atomicExch(counters, 1u);
    while (load(counters) == 0) counters[1] += clock64() > 0;
}

extern "C" __global__ void count_for_ever(unsigned* counters) {
    while (load(counters) == 0) atomicAdd(counters + 1, 1u);
}

// The last block goes on until block 0 has seen it 100 times.
extern "C" __global__ void count_until_seen(unsigned* counters) {
    if (blockIdx.x == 0) {
        while (load(counters) < 100) {
        }
        atomicExch(counters + 1, 1u);
    } else {
        while (load(counters + 1) == 0) atomicAdd(counters, 1u);
    }
}

extern "C" __global__ void count_asleep_until_seen(unsigned* counters) {
    if (blockIdx.x == 0) {
        while (load(counters) < 100) {
        }
        atomicExch(counters + 1, 1u);
    } else {
        while (load(counters + 1) == 0) {
            atomicAdd(counters, 1u);
            __nanosleep(100);
        }
    }
}

// ---- time ------------------------------------------------------------------------------------

// Looks at the flag until so many cycles are over, be it by the clock of 64 bits or of 32.
extern "C" __global__ void time_out(unsigned* counters, int cycles) {
    const long long start = clock64();
    while (load(counters) == 0 && clock64() - start < cycles) {
    }
}

extern "C" __global__ void time_out_shortly(unsigned* counters, int cycles) {
    const unsigned start = static_cast<unsigned>(clock());
    while (load(counters) == 0 && static_cast<unsigned>(clock()) - start < cycles) {
    }
}

extern "C" __global__ void look_at_the_clock_for_ever(unsigned* counters, int) {
    long long now = 0;
    while (load(counters) == 0) now = clock64();
    counters[1] = static_cast<unsigned>(now);
}
