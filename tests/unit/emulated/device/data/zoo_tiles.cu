// Tiles, grids of points and rows, as they are written everywhere. `mutant` chooses a classic
// mistake; 0 is the kernel as it should be.
#include <cuda_runtime.h>

#define TILE_DIM 32
#define BLOCK_ROWS 8
#define FULL_MASK 0xffffffffu

// ---- one element per thread ------------------------------------------------------------------

extern "C" __global__ void vectorAdd(const float* __restrict__ A, const float* __restrict__ B,
                                     float* __restrict__ C, int numElements, int mutant) {
    const int stride = blockDim.x * gridDim.x;
    const int last = mutant == 1 ? numElements + 1 : numElements;
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < last; i += stride) {
        C[i] = __ldg(A + i) + __ldg(&B[i]);
    }
}

// Offsets of 64 bits: a pitch and a row that would not fit the product of two ints.
extern "C" __global__ void copyPitched(const float* in, float* out, long long pitch, int width,
                                       int height, int mutant) {
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= (long long)width * height) return;
    const long long row = index / width, column = index % width;
    // Added and taken away again, so that no such buffer is needed.
    const long long far = (long long)1 << 33;
    long long offset = row * pitch + column + far;
    if (mutant == 1) offset = (int)(row * pitch) * (1 << 24) + column + far;
    out[row * width + column] = in[offset - far];
}

extern "C" __global__ void mandelbrot(int* iterations, int width, int height, int limit) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= width * height) return;
    const int px = pixel % width, py = pixel / width;
    const float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height;
    float zx = 0.0f, zy = 0.0f;
    int n = 0;
    while (n < limit && zx * zx + zy * zy < 4.0f) {
        const float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        ++n;
    }
    iterations[pixel] = n;
}

// ---- matrices --------------------------------------------------------------------------------

// Threads of one dimension that stand for a tile of 16 x 16, tiles of one that stand for two.
template <int TILE>
__device__ void matMulTiled(const float* A, const float* B, float* C, int n, int mutant) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    const int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE;
    const int tilesPerRow = (n + TILE - 1) / TILE;
    const int row = blockIdx.x / tilesPerRow * TILE + ty;
    const int col = blockIdx.x % tilesPerRow * TILE + tx;

    float acc = 0.0f;
    for (int t = 0; t < tilesPerRow; ++t) {
        const int ak = t * TILE + tx, bk = t * TILE + ty;
        As[ty][tx] = (row < n && ak < n) ? A[row * n + ak] : 0.0f;
        Bs[ty][tx] = (bk < n && (col < n || mutant == 3)) ? B[bk * n + col] : 0.0f;
        if (mutant != 1) __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) acc += As[ty][k] * Bs[k][tx];
        if (mutant != 2) __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = acc;
}

extern "C" __global__ void __launch_bounds__(256)
    matrixMul(const float* A, const float* B, float* C, int n, int mutant) {
    matMulTiled<16>(A, B, C, n, mutant);
}

// The next tiles are fetched while these are multiplied: one barrier per step is enough.
extern "C" __global__ void __launch_bounds__(256)
    matrixMulDoubleBuffered(const float* A, const float* B, float* C, int n, int mutant) {
    constexpr int TILE = 16;
    __shared__ float As[2][TILE][TILE], Bs[2][TILE][TILE];
    const int tx = threadIdx.x & (TILE - 1), ty = threadIdx.x / TILE;
    const int tiles = n / TILE;
    const int row = blockIdx.x / tiles * TILE + ty, col = blockIdx.x % tiles * TILE + tx;

    As[0][ty][tx] = A[row * n + tx];
    Bs[0][ty][tx] = B[ty * n + col];
    __syncthreads();

    float acc = 0.0f;
    for (int t = 0; t < tiles; ++t) {
        const int now = t & 1, next = mutant == 1 ? now : now ^ 1;
        float a = 0.0f, b = 0.0f;
        const bool more = t + 1 < tiles;
        if (more) {
            a = A[row * n + (t + 1) * TILE + tx];
            b = B[((t + 1) * TILE + ty) * n + col];
        }
        for (int k = 0; k < TILE; ++k) acc = fmaf(As[now][ty][k], Bs[now][k][tx], acc);
        if (more) {
            As[next][ty][tx] = a;
            Bs[next][ty][tx] = b;
        }
        if (mutant != 2) __syncthreads();
    }
    C[row * n + col] = acc;
}

extern "C" __global__ void transposeNoBankConflicts(const float* idata, float* odata, int width,
                                                    int height, int mutant) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    const int tx = threadIdx.x % TILE_DIM, ty = threadIdx.x / TILE_DIM;
    const int tilesX = (width + TILE_DIM - 1) / TILE_DIM;
    const int bx = blockIdx.x % tilesX, by = blockIdx.x / tilesX;

    int x = bx * TILE_DIM + tx, y = by * TILE_DIM + ty;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) tile[ty + j][tx] = idata[(y + j) * width + x];
    if (mutant == 1)
        __syncwarp();
    else
        __syncthreads();
    x = by * TILE_DIM + tx;
    y = bx * TILE_DIM + ty;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if ((x < height || mutant == 2) && y + j < width)
            odata[(y + j) * height + x] = tile[tx][ty + j];
}

// Four numbers at a time; n is a multiple of four.
extern "C" __global__ void gemvVectorized(const float* A, const float* x, float* y, int m, int n) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    const float4* a4 = reinterpret_cast<const float4*>(A + (size_t)row * n);
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float sum = 0.0f;
    for (int i = lane; i < n / 4; i += 32) {
        const float4 a = __ldg(&a4[i]), v = x4[i];
        sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, offset);
    if (lane == 0) y[row] = sum;
}

// One warp per row of a sparse matrix.
extern "C" __global__ void spmvCsrVector(const int* __restrict__ rowPtr,
                                         const int* __restrict__ colIdx,
                                         const float* __restrict__ values,
                                         const float* __restrict__ x, float* y, int rows,
                                         int mutant) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0.0f;
    const int end = mutant == 1 ? rowPtr[row + 1] + 1 : rowPtr[row + 1];
    for (int j = rowPtr[row] + lane; j < end; j += 32) sum += values[j] * x[colIdx[j]];
    // A mask of those who had work: not all who call.
    unsigned mask = FULL_MASK;
    if (mutant == 2) mask = (1u << min(31, end - rowPtr[row])) - 1;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(mask, sum, d);
    if (lane == 0) y[row] = sum;
}

// ---- neighbours ------------------------------------------------------------------------------

#define RADIUS 3
#define BLOCK_SIZE 128

extern "C" __global__ void stencil1d(const int* in, int* out, int n, int mutant) {
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    const int gindex = threadIdx.x + blockIdx.x * blockDim.x, lindex = threadIdx.x + RADIUS;
    temp[lindex] = gindex < n ? in[gindex] : 0;
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = gindex >= RADIUS || mutant == 2 ? in[gindex - RADIUS] : 0;
        const int right = gindex + BLOCK_SIZE;
        temp[lindex + BLOCK_SIZE] = right < n ? in[right] : 0;
    }
    if (mutant != 1) __syncthreads();
    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
    if (gindex < n) out[gindex] = result;
}

// A block that swaps elements of one array of shared memory, ever further apart, then nearer.
extern "C" __global__ void bitonicSort(const unsigned* in, unsigned* out, int n, int mutant) {
    extern __shared__ unsigned keys[];
    const unsigned tid = threadIdx.x;
    keys[tid] = tid < n ? in[tid] : 0xffffffffu;
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            const unsigned partner = tid ^ j;
            if (partner > tid) {
                const bool up = (tid & k) == 0;
                const unsigned a = keys[tid], b = keys[partner];
                if ((a > b) == up) {
                    keys[tid] = b;
                    keys[partner] = a;
                }
                // Half of the threads never come here.
                if (mutant == 2) __syncthreads();
            }
            if (mutant != 1 || j > 32) __syncthreads();
        }
    }
    if (mutant == 1) __syncthreads();
    if (tid < n) out[tid] = keys[tid];
}

// Hillis and Steele, with a flag that stops the sum where a segment begins.
extern "C" __global__ void segmentedScan(const int* values, const int* heads, int* out, int n,
                                         int mutant) {
    __shared__ int sums[2][256], flags[2][256];
    const int tid = threadIdx.x;
    int in = 0;
    sums[in][tid] = tid < n ? values[tid] : 0;
    flags[in][tid] = tid < n ? heads[tid] : 1;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        const int o = mutant == 1 ? in : 1 - in;
        int sum = sums[in][tid], flag = flags[in][tid];
        if (tid >= d && (!flag || mutant == 2)) sum += sums[in][tid - d];
        if (tid >= d) flag |= flags[in][tid - d];
        sums[o][tid] = sum;
        flags[o][tid] = flag;
        in = o;
        __syncthreads();
    }
    if (tid < n) out[tid] = sums[in][tid];
}

// Game of life on a torus with a frame of one in shared memory; tiles of 16 x 16.
extern "C" __global__ void gameOfLife(const unsigned char* old, unsigned char* next, int width,
                                      int height, int mutant) {
    constexpr int T = 16, S = T + 2;
    __shared__ unsigned char cells[S * S];
    const int tilesX = width / T, bx = blockIdx.x % tilesX * T, by = blockIdx.x / tilesX * T;
    for (int i = threadIdx.x; i < S * S; i += blockDim.x) {
        const int gx = (bx + i % S - 1 + width) % width, gy = (by + i / S - 1 + height) % height;
        cells[i] = old[gy * width + gx];
    }
    if (mutant != 1) __syncthreads();
    const int x = threadIdx.x % T, y = threadIdx.x / T, c = (y + 1) * S + x + 1;
    const int alive = cells[c - S - 1] + cells[c - S] + cells[c - S + 1] + cells[c - 1] +
                      cells[c + 1] + cells[c + S - 1] + cells[c + S] + cells[c + S + 1];
    next[(by + y) * width + bx + x] = alive == 3 || (alive == 2 && cells[c]);
}
