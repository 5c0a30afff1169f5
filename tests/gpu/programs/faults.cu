// One fault for each tool of compute-sanitizer, named after the tool that must find it. Launched
// with one block of 64 threads and 64 floats.

extern "C" __global__ void memcheck(float* values) { values[threadIdx.x + (1 << 20)] = 1.0f; }

extern "C" __global__ void racecheck(float* values) {
    __shared__ float shared[64];
    shared[threadIdx.x] = threadIdx.x;
    values[threadIdx.x] = shared[63 - threadIdx.x];  // no barrier since the write
}

extern "C" __global__ void synccheck(float* values) {
    __syncwarp(1u << ((threadIdx.x + 1) % 32));  // a mask without the caller
    values[threadIdx.x] = 1.0f;
}

extern "C" __global__ void initcheck(float* values) {
    values[threadIdx.x] = values[threadIdx.x] + 1.0f;  // nobody wrote values before
}
