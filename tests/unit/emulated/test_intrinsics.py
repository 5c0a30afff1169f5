"""Mathematical and integer functions of the stand-in headers, against numpy and exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import erfc, isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pytest_rmsperf.emulated.library import Grid

Floats = npt.NDArray[np.float32]
Words = npt.NDArray[np.uint32]
Emulate = Callable[..., Any]  # the class is in conftest, which cannot be imported

INFINITY, NAN = float("inf"), float("nan")
NEAREST = NAN  # toward no side
XS: Floats = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 0.1, 7.0, 1e-40, -1e-40),
        *(88.5, -87.0, 127.3, 1e10, -1e10, 2**31, -(2**31), 2**32, 2**63, -(2.0**63), 2**64),
        *(1e30, -1e30, INFINITY, -INFINITY, NAN, 2**-126),
    ],
    np.float32,
)
ONE = Grid(blocks=1, threads_per_block=32)


def double(x: Floats) -> npt.NDArray[np.float64]:
    return x.astype(np.float64)


def single(x: npt.ArrayLike) -> Floats:
    return np.asarray(x).astype(np.float32)


def rounded(exact: Fraction, toward: float) -> np.float32:
    """Return the float next to an exact value, to the side of 0, inf or -inf, or the nearest."""
    near = np.float32(float(exact))  # rounded twice, so perhaps not the nearest
    around = [np.nextafter(near, np.float32(side)) for side in (-INFINITY, INFINITY)]
    by_side: dict[float, Callable[[Fraction], bool]] = {
        0.0: lambda one: abs(one) <= abs(exact),
        INFINITY: lambda one: one >= exact,
        -INFINITY: lambda one: one <= exact,
    }
    fits = by_side.get(toward)
    return min(
        (one for one in (near, *around) if fits is None or fits(Fraction(float(one)))),
        key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1),
    )


def exactly(operation: Callable[[Fraction], Fraction], toward: float) -> Callable[[Floats], Floats]:
    """Round an exact operation on each finite input; other inputs are passed over."""

    def expected(x: Floats) -> Floats:
        results = [
            rounded(operation(Fraction(float(one))), toward) if np.isfinite(one) else np.float32(0)
            for one in x
        ]
        return np.array(results, np.float32)

    return expected


def each(function: Callable[[float], float]) -> Callable[[Floats], Floats]:
    return lambda x: single([function(float(one)) for one in x])


def fast_exp(x: Floats) -> Floats:
    return single(np.exp2(double(x * np.float32(1.4426950408889634))))


def divided(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        quotient = np.float32(1) / x
    lost = (np.abs(x) > np.float32(2.0**126)) & np.isfinite(x)
    return np.where(lost, np.copysign(np.float32(0), x), quotient)


# Expressions of `x`, and what they are; an input that only C++ leaves undefined does not occur.
FLOAT: dict[str, Callable[[Floats], Floats]] = {
    "__expf(x)": fast_exp,
    "__exp10f(x)": lambda x: single(np.exp2(double(x * np.float32(3.3219280948873623)))),
    "__logf(x)": lambda x: single(np.log2(double(x))) * np.float32(0.6931471805599453),
    "__log2f(x)": lambda x: single(np.log2(double(x))),
    "__log10f(x)": lambda x: single(np.log2(double(x))) * np.float32(0.3010299956639812),
    "__powf(2.0f, x)": lambda x: single(np.exp2(double(x))),
    "__fdividef(1.0f, x)": divided,
    "__fdividef(x, 0x1p127f)": lambda x: np.where(np.isinf(x), np.float32(NAN), x * np.float32(0)),
    "__fdividef(x, 0x1p126f)": lambda x: x / np.float32(2.0**126),
    "rsqrtf(x)": lambda x: single(1 / np.sqrt(double(x))),
    "rcbrtf(x)": lambda x: single(np.float64(1) / np.cbrt(double(x))),
    "__frcp_rn(x)": lambda x: np.float32(1) / x,
    "__fsqrt_rn(x)": np.sqrt,
    "__saturatef(x)": lambda x: np.where(np.isnan(x), np.float32(0), np.clip(x, 0, 1)),
    "fmaxf(x, 1.0f)": lambda x: np.fmax(x, np.float32(1)),
    "fminf(NAN, x)": lambda x: x,
    "max(x, 1.0f)": lambda x: np.fmax(x, np.float32(1)),
    "static_cast<float>(min(1.0, x))": lambda x: np.fmin(x, np.float32(1)),
    "normcdff(x)": each(lambda x: 0.5 * erfc(-x * 0.7071067811865476)),
    "norm3df(x, 0.0f, 0.0f)": np.abs,
    "__fmaf_rn(x, 3.0f, 1.0f)": exactly(lambda x: x * 3 + 1, NEAREST),
    "__fadd_rd(x, 0x1p-40f)": exactly(lambda x: x + Fraction(1, 2**40), -INFINITY),
    "__fadd_ru(x, 0x1p-40f)": exactly(lambda x: x + Fraction(1, 2**40), INFINITY),
    "__fsub_rz(x, 0x1p-40f)": exactly(lambda x: x - Fraction(1, 2**40), 0.0),
    "__fmul_rz(x, 0.75f)": exactly(lambda x: x * Fraction(3, 4), 0.0),
    "__fdiv_ru(x, 3.0f)": exactly(lambda x: x / 3, INFINITY),
    "__fdiv_rd(x, 3.0f)": exactly(lambda x: x / 3, -INFINITY),
}


def saturated(low: int, high: int, nan: int, rounding: Callable[[Floats], Floats]) -> object:
    def expected(x: Floats) -> list[int]:
        return [
            nan if isnan(one) else low if one < low else high if one > high else int(rounding(one))
            for one in x.tolist()
        ]  # fmt: skip

    return expected


INT32, UINT32, INT64 = (-(2**31), 2**31 - 1), (0, 2**32 - 1), (-(2**63), 2**63 - 1)
# As 64-bit integers. PTX has NaN become 0, or the highest bit alone where 64 bits take part.
INTEGER: dict[str, object] = {
    "__float2int_rn(x)": saturated(*INT32, 0, np.rint),
    "__float2int_rz(x)": saturated(*INT32, 0, np.trunc),
    "__float2int_ru(x)": saturated(*INT32, 0, np.ceil),
    "__float2int_rd(x)": saturated(*INT32, 0, np.floor),
    "__float2uint_rn(x)": saturated(*UINT32, 0, np.rint),
    "__float2ll_rn(x)": saturated(*INT64, -(2**63), np.rint),
    "__double2int_rz(x)": saturated(*INT32, -(2**31), np.trunc),
    "__double2ll_rd(x)": saturated(*INT64, -(2**63), np.floor),
}

WORDS = [0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0x80FF01FE]
MASK = 0xFFFFFFFF
OTHER = 0x9E3779B9


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def byte(x: int, i: int) -> int:
    return x >> 8 * i & 0xFF


def permuted(x: int, y: int, selector: int) -> int:
    return sum(byte(y << 32 | x, selector >> 4 * i & 7) << 8 * i for i in range(4))


def dot(x: int, y: int, sign: Callable[[int], int]) -> int:
    return sum(sign(byte(x, i)) * sign(byte(y, i)) for i in range(4))


# Expressions of `x` and the constant OTHER, and what they are modulo 2^32.
WORD: dict[str, Callable[[int], int]] = {
    "__brev(x)": lambda x: int(f"{x:032b}"[::-1], 2),
    "__popc(x)": lambda x: x.bit_count(),
    "__clz(x)": lambda x: 32 - x.bit_length(),
    "__ffs(x)": lambda x: (x & -x).bit_length(),
    "__byte_perm(x, OTHER, 0x6172)": lambda x: permuted(x, OTHER, 0x6172),
    "__funnelshift_l(x, OTHER, 37)": lambda x: ((OTHER << 32 | x) << 5) >> 32,
    "__funnelshift_lc(x, OTHER, 37)": lambda x: x,
    "__funnelshift_r(x, OTHER, 37)": lambda x: (OTHER << 32 | x) >> 5,
    "__funnelshift_rc(x, OTHER, 37)": lambda _: OTHER,
    "__umulhi(x, OTHER)": lambda x: x * OTHER >> 32,
    "__mulhi(x, OTHER)": lambda x: signed(x) * signed(OTHER) >> 32,
    "__umul24(x, OTHER)": lambda x: (x & 0xFFFFFF) * (OTHER & 0xFFFFFF),
    "__mul24(x, OTHER)": lambda x: signed(x, 24) * signed(OTHER, 24),
    "__sad(x, OTHER, 5)": lambda x: abs(signed(x) - signed(OTHER)) + 5,
    "__usad(x, OTHER, 5)": lambda x: abs(x - OTHER) + 5,
    "__hadd(static_cast<int>(x), -7)": lambda x: (signed(x) - 7) >> 1,
    "__rhadd(static_cast<int>(x), -7)": lambda x: (signed(x) - 6) >> 1,
    "__uhadd(x, OTHER)": lambda x: (x + OTHER) >> 1,
    "__dp4a(x, OTHER, 3u)": lambda x: dot(x, OTHER, lambda one: one) + 3,
    "__dp4a(static_cast<int>(x), -2, 3)": lambda x: dot(x, MASK - 1, lambda b: signed(b, 8)) + 3,
    "max(-1, x)": lambda _: MASK,
    "min(static_cast<int>(x), 5)": lambda x: min(signed(x), 5),
    "__float_as_uint(__uint_as_float(x))": lambda x: x,
    "static_cast<unsigned>(__clzll(x))": lambda x: 64 - x.bit_length(),
    "static_cast<unsigned>(__brevll(x) >> 32)": lambda x: int(f"{x:032b}"[::-1], 2),
    "static_cast<unsigned>(__umul64hi(x, 1ull << 40))": lambda x: x >> 24,
}

# Name, size and alignment of the CUDA C++ Programming Guide's table of vector types.
VECTORS = {
    "char1": (1, 1), "uchar2": (2, 2), "char3": (3, 1), "uchar4": (4, 4),
    "short1": (2, 2), "ushort2": (4, 4), "short3": (6, 2), "ushort4": (8, 8),
    "int1": (4, 4), "uint2": (8, 8), "int3": (12, 4), "uint4": (16, 16),
    "long1": (8, 8), "ulong2": (16, 16), "long3": (24, 8), "ulong4": (32, 16),
    "longlong1": (8, 8), "ulonglong2": (16, 16), "longlong3": (24, 8), "ulonglong4": (32, 16),
    "float1": (4, 4), "float2": (8, 8), "float3": (12, 4), "float4": (16, 16),
    "double1": (8, 8), "double2": (16, 16), "double3": (24, 8), "double4": (32, 16),
    "double4_16a": (32, 16), "double4_32a": (32, 32), "dim3": (12, 4),
}  # fmt: skip


def kernel(name: str, signature: str, head: str, statements: Sequence[str]) -> str:
    lines = "".join(f"    {one};\n" for one in (head, *statements))
    return f'extern "C" __global__ void {name}({signature}) {{\n{lines}}}\n'


def columns(name: str, kind: str, argument: str, expressions: Sequence[str]) -> str:
    """A kernel of which each thread evaluates all expressions for one input."""
    statements = [
        f"out[{i} * blockDim.x + threadIdx.x] = {one}" for i, one in enumerate(expressions)
    ]
    head = f"const {argument} x = xs[threadIdx.x]"
    return kernel(name, f"const {argument}* xs, {kind}* out", head, statements)


@pytest.fixture(scope="module")
def results(emulate: Emulate) -> dict[str, npt.NDArray[Any]]:
    """Each expression's values for all inputs, from one launch per table."""
    sizes = [
        f"out[{2 * i}] = sizeof({name}); out[{2 * i + 1}] = alignof({name})"
        for i, name in enumerate(VECTORS)
    ]
    text = (
        f"constexpr unsigned OTHER = {OTHER}u;\n"
        + columns("of_float", "float", "float", list(FLOAT))
        + columns("of_integer", "long long", "float", list(INTEGER))
        + columns("of_word", "unsigned", "unsigned", list(WORD))
        + kernel("of_vector", "int* out", "if (threadIdx.x != 0) return", sizes)
    )
    kernels = emulate("intrinsics", text, "of_float", "of_integer", "of_word", "of_vector")
    floats = np.zeros((len(FLOAT), 32), np.float32)
    integers = np.zeros((len(INTEGER), 32), np.int64)
    words = np.zeros((len(WORD), len(WORDS)), np.uint32)
    vectors = np.zeros((len(VECTORS), 2), np.int32)
    kernels.run("of_float", ONE, XS, floats)
    kernels.run("of_integer", ONE, XS, integers)
    kernels.run("of_word", Grid(1, len(WORDS)), np.array(WORDS, np.uint32), words)
    kernels.run("of_vector", ONE, vectors)
    names = (*FLOAT, *INTEGER, *WORD, *VECTORS)
    return dict(zip(names, (*floats, *integers, *words, *vectors), strict=True))


Results = dict[str, npt.NDArray[Any]]


@pytest.mark.parametrize("expression", FLOAT)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # infinities and NaN are among the inputs
def test_float_function_has_the_steps_and_roundings_of_the_device(
    results: Results, expression: str
) -> None:
    only_finite = any(one in expression for one in ("_rd(", "_ru(", "_rz(", "fma"))
    kept = np.isfinite(XS) | (not only_finite)

    got, want = results[expression][kept], FLOAT[expression](XS)[kept]

    # numpy's functions in double may differ from the C library's by their last bit.
    np.testing.assert_array_max_ulp(got, want, maxulp=1 if "exp" in expression else 0)


@pytest.mark.parametrize("expression", INTEGER)
def test_conversion_rounds_as_named_and_saturates(results: Results, expression: str) -> None:
    expected = INTEGER[expression]
    assert callable(expected)

    assert results[expression].tolist() == expected(XS)


@pytest.mark.parametrize("expression", WORD)
def test_integer_function_has_every_bit(results: Results, expression: str) -> None:
    assert results[expression].tolist() == [WORD[expression](x) & MASK for x in WORDS]


@pytest.mark.parametrize("name", VECTORS)
def test_vector_type_has_the_size_and_alignment_of_the_device(results: Results, name: str) -> None:
    assert tuple(results[name].tolist()) == VECTORS[name]
