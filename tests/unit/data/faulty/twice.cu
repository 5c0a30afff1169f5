// One warp per row, one element per thread.
extern "C" __global__ void __launch_bounds__(32) twice(const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * x[i];
}
