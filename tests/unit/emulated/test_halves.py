"""Numbers of 16 bits: conversions over all of them, arithmetic against numpy and fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_rmsperf.emulated.library import Grid

if TYPE_CHECKING:
    Emulate = Callable[..., Any]  # the class is in conftest, which cannot be imported

Bits = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

SIXTEEN = 1 << 16
WHOLE = Grid(blocks=SIXTEEN // 1024, threads_per_block=1024)
TEXT = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define PLACE const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void widen(float* halves, float* bfloats) {
    PLACE;
    halves[i] = __half2float(__ushort_as_half(i));
    bfloats[i] = __bfloat162float(__ushort_as_bfloat16(i));
}

extern "C" __global__ void narrow(const float* x, int* out) {
    PLACE;
    const int n = gridDim.x * blockDim.x;
    out[0 * n + i] = __half_as_ushort(__float2half_rn(x[i]));
    out[1 * n + i] = __half_as_ushort(__float2half_rz(x[i]));
    out[2 * n + i] = __half_as_ushort(__float2half_ru(x[i]));
    out[3 * n + i] = __half_as_ushort(__float2half_rd(x[i]));
    out[4 * n + i] = __bfloat16_as_ushort(__float2bfloat16(x[i]));
    out[5 * n + i] = __bfloat16_as_ushort(__float2bfloat16_rz(x[i]));
}

extern "C" __global__ void compute(const int* bits, int* out) {
    PLACE;
    const int n = gridDim.x * blockDim.x;
    const half a = __ushort_as_half(bits[i]), b = __ushort_as_half(bits[n + i]);
    const half c = __ushort_as_half(bits[2 * n + i]);
    out[0 * n + i] = __half_as_ushort(a + b);
    out[1 * n + i] = __half_as_ushort(a - b);
    out[2 * n + i] = __half_as_ushort(a * b);
    out[3 * n + i] = __half_as_ushort(a / b);
    out[4 * n + i] = __half_as_ushort(__hfma(a, b, c));
    out[5 * n + i] = __half_as_ushort(hsqrt(a));
    out[6 * n + i] = __half_as_ushort(__hmax(a, b));
    out[7 * n + i] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * __hltu(a, b);
}
"""


@pytest.fixture(scope="module")
def kernels(emulate: Emulate) -> Any:
    return emulate("halves", TEXT, "widen", "narrow", "compute")


def test_every_number_of_16_bits_is_widened_exactly(kernels: Any) -> None:
    halves, bfloats = np.zeros(SIXTEEN, np.float32), np.zeros(SIXTEEN, np.float32)

    kernels.run("widen", WHOLE, halves, bfloats)

    every = np.arange(SIXTEEN, dtype=np.uint32)
    np.testing.assert_array_equal(halves, every.astype(np.uint16).view(np.float16))
    np.testing.assert_array_equal(bfloats, (every << 16).view(np.float32))


# ---- narrowing -------------------------------------------------------------------------------


def floats_around_halves() -> Floats:
    """Ties and their neighbours, overflow, numbers below the smallest, and random ones."""
    ties = np.arange(0, 0x7C00, 5, dtype=np.uint16).view(np.float16).astype(np.float32)
    steps = np.spacing(ties.astype(np.float16)).astype(np.float32) / 2
    special = [0.0, 65504, 65519.996, 65520, 1e6, 2**-25, 2**-24 * 0.51, 1e-30, np.inf, 3.4e38]
    some = np.random.default_rng(1).normal(size=4000).astype(np.float32)
    values = np.concatenate(
        [ties + steps, np.nextafter(ties + steps, 0), np.array(special, np.float32), some]
    ).astype(np.float32)
    both = np.concatenate([values, -values, [np.float32(np.nan)]]).astype(np.float32)
    return np.resize(both, 32 * 1024)


@pytest.fixture(scope="module")
def narrowed(kernels: Any) -> tuple[Floats, Bits]:
    x = floats_around_halves()
    out = np.zeros((6, x.size), np.int32)
    kernels.run("narrow", Grid(x.size // 1024, 1024), x, out)
    return x, out


def half_bits(x: Floats) -> Bits:
    with np.errstate(over="ignore"):
        bits = x.astype(np.float16).view(np.uint16).astype(np.int32)
    return np.where(np.isnan(x), 0x7FFF, bits)


def test_narrowing_rounds_to_nearest_even(narrowed: tuple[Floats, Bits]) -> None:
    x, out = narrowed

    np.testing.assert_array_equal(out[0], half_bits(x))


@pytest.mark.parametrize(("row", "side"), [(1, "zero"), (2, "up"), (3, "down")])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")  # numbers beyond 65504 are wanted
def test_narrowing_rounds_to_the_side_that_is_named(
    narrowed: tuple[Floats, Bits], row: int, side: str
) -> None:
    x, out = narrowed[0][np.isfinite(narrowed[0])], narrowed[1][row, np.isfinite(narrowed[0])]
    near = x.astype(np.float16)
    right = {"zero": np.abs(near) <= np.abs(x), "up": near >= x, "down": near <= x}[side]
    toward = {"zero": 0.0, "up": np.inf, "down": -np.inf}[side]

    want = np.where(right, near, np.nextafter(near, np.float16(toward)))

    np.testing.assert_array_equal(values(out), want)


def test_bfloat16_is_the_upper_half_of_the_nearest_float(narrowed: tuple[Floats, Bits]) -> None:
    x, out = narrowed
    bits = x.view(np.uint32).astype(np.int64)

    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    nan = np.isnan(x)

    np.testing.assert_array_equal(out[4], np.where(nan, 0x7FFF, nearest))
    np.testing.assert_array_equal(out[5], np.where(nan, 0x7FFF, bits >> 16))


# ---- arithmetic ------------------------------------------------------------------------------

PAIRS = 4096


@pytest.fixture(scope="module")
def computed(kernels: Any) -> tuple[Bits, Bits]:
    bits = np.random.default_rng(2).integers(0, SIXTEEN, (3, PAIRS)).astype(np.int32)
    bits[:, :4] = [[0x7E00, 0x0000, 0x8000, 0x7C00]] * 3
    bits[1, :4] = [0x3C00, 0x8000, 0x0000, 0x7E00]
    out = np.zeros((8, PAIRS), np.int32)
    kernels.run("compute", Grid(PAIRS // 1024, 1024), bits, out)
    return bits, out


def values(bits: Bits) -> npt.NDArray[np.float16]:
    return bits.astype(np.uint16).view(np.float16)


ARITHMETIC: dict[str, tuple[int, Callable[..., Any]]] = {
    "sum": (0, lambda a, b: a + b),
    "difference": (1, lambda a, b: a - b),
    "product": (2, lambda a, b: a * b),
    "quotient": (3, lambda a, b: a / b),
    "root": (5, lambda a, _: np.sqrt(a)),
    "maximum": (6, np.fmax),
}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # all bits occur, so infinities and NaN do
def test_half_arithmetic_is_rounded_once(computed: tuple[Bits, Bits], name: str) -> None:
    bits, out = computed
    row, operation = ARITHMETIC[name]

    want = operation(values(bits[0]), values(bits[1]))

    np.testing.assert_array_equal(values(out[row]), want)


def test_half_fma_is_rounded_once(computed: tuple[Bits, Bits]) -> None:
    bits, out = computed
    finite = np.isfinite(values(bits).astype(np.float32)).all(axis=0)

    for i in np.flatnonzero(finite):
        a, b, c = (Fraction(float(one)) for one in values(bits[:, i]))
        assert out[4, i] & 0x7FFF == _nearest_half(abs(a * b + c)), bits[:, i]


def _nearest_half(exact: Fraction) -> int:
    """Return the bits of the half next to a non-negative value, ties to even."""
    halves = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float64)
    halves[-1] = 65536.0  # what infinity stands for when it is rounded to
    place = int(np.searchsorted(halves, float(exact)))
    around = [one for one in range(place - 2, place + 3) if 0 <= one <= 0x7C00]
    return min(around, key=lambda one: (abs(Fraction(float(halves[one])) - exact), one & 1))


def test_comparisons_with_nan_are_false_unless_they_are_unordered(
    computed: tuple[Bits, Bits],
) -> None:
    bits, out = computed
    a, b = values(bits[0]), values(bits[1])

    unordered = np.isnan(a) | np.isnan(b)
    want = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * ((a < b) | unordered)

    np.testing.assert_array_equal(out[7], want)
