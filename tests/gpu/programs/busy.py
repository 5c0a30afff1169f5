"""Keep the device busy with one kernel after the other until killed; print `busy` once it is."""

from __future__ import annotations

import cupy

SPIN = """
extern "C" __global__ void spin() {
    for (const long long start = clock64(); clock64() - start < 2000000;) {
    }
}
"""
BLOCKS, THREADS_PER_BLOCK = 264, 256


def main() -> None:
    spin = cupy.RawKernel(SPIN, "spin")
    spin((BLOCKS,), (THREADS_PER_BLOCK,), ())
    cupy.cuda.runtime.deviceSynchronize()
    print("busy", flush=True)
    while True:
        for _ in range(50):
            spin((BLOCKS,), (THREADS_PER_BLOCK,), ())
        cupy.cuda.runtime.deviceSynchronize()


if __name__ == "__main__":
    main()
