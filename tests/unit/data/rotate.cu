// Each thread takes the value of its neighbour.
extern "C" __global__ void rotate(float* values) {
    __shared__ float tile[32];
    tile[threadIdx.x % 32] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
}
