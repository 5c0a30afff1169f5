"""Whether launches are resident as a whole: borders in pairs, and what a refusal says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.resources import CompiledKernel, CompiledModule, LaunchResidency, Residency

# 4 blocks on each of 132 SMs are 528.
FULL = KernelLaunch("row", 528, 256, (), dynamic_smem_bytes=16384, cooperative=True)
ONE_MORE = replace(FULL, blocks=529)
TWO_MORE = replace(FULL, blocks=530)
PLAIN = replace(FULL, blocks=10**6, cooperative=False)

Hold = Callable[..., Residency]


def test_a_cooperative_launch_of_as_many_blocks_as_fit_passes(residency: Hold) -> None:
    residency(4, FULL).require()


def test_a_cooperative_launch_of_one_block_more_fails(residency: Hold) -> None:
    with pytest.raises(GateFailure, match="does not fit fake device: 1 block too many"):
        residency(4, ONE_MORE).require()


def test_a_hand_made_barrier_needs_residency_like_a_cooperative_launch(residency: Hold) -> None:
    spinning = replace(ONE_MORE, cooperative=False, waits_on_blocks=True)

    assert not residency(4, spinning).fits


def test_blocks_that_wait_for_nobody_need_not_be_resident(residency: Hold) -> None:
    assert residency(4, PLAIN).fits


def test_a_kernel_of_which_no_block_fits_never_fits(residency: Hold) -> None:
    with pytest.raises(GateFailure, match="does not fit fake device: not even one block per SM"):
        residency(0, PLAIN).require()


def test_blocks_beyond_the_launch_bounds_are_refused_for_that_reason() -> None:
    bounded = replace(CompiledKernel("row", 40, 128, 0, 0, 0), max_threads_per_block=128)
    refused = Residency("fake device", "driver", "row", (LaunchResidency(PLAIN, bounded, 0, 132),))

    assert str(refused).splitlines()[2:] == [
        (
            "  because    40 registers per thread, 256 threads and 16512 shared bytes "
            "(16384 of them dynamic) per block; its __launch_bounds__ allow 128 threads"
        ),
        "  would fit  0 rows per launch (1 block per row)",
        "the driver refuses such a launch; make the block smaller, then: pytest --rmsperf --lf",
    ]


@pytest.mark.parametrize(
    ("launch", "spare"), [(FULL, 0), (ONE_MORE, -1), (replace(FULL, blocks=1), 527)]
)
def test_headroom_is_what_fits_beyond_what_is_asked(
    residency: Hold, launch: KernelLaunch, spare: int
) -> None:
    assert residency(4, launch).headroom_blocks == spare


def test_headroom_is_unknown_where_no_launch_waits(residency: Hold) -> None:
    assert residency(4, PLAIN).headroom_blocks is None


def test_the_tightest_launch_is_one_that_must_be_resident(residency: Hold) -> None:
    small = replace(FULL, blocks=8)

    assert residency(4, PLAIN, small, FULL).tightest.launch is FULL


def test_one_launch_too_large_makes_the_whole_plan_unfit(residency: Hold) -> None:
    assert not residency(4, FULL, ONE_MORE, FULL).fits


def test_a_refusal_says_both_numbers_their_causes_and_what_would_fit(residency: Hold) -> None:
    wide = replace(TWO_MORE, blocks_per_unit=32)

    assert str(residency(4, wide)).splitlines() == [
        "does not fit fake device: 2 blocks too many (driver)",
        "  row asks for 530 blocks at once; 4 blocks per SM x 132 SMs = 528 fit",
        (
            "  because    40 registers per thread, 256 threads and 16512 shared bytes "
            "(16384 of them dynamic) per block"
        ),
        "  would fit  16 rows per launch (32 blocks per row)",
        (
            "a launch that waits on blocks which are not resident never ends; split its rows into "
            "more launches or make the block smaller, then: pytest --rmsperf --lf"
        ),
    ]


def test_a_refusal_never_suggests_to_drop_the_cooperative_attribute(residency: Hold) -> None:
    assert "cooperative" not in str(residency(4, ONE_MORE)).lower()


def test_a_fit_says_how_many_blocks_are_to_spare(residency: Hold) -> None:
    assert str(residency(4, replace(FULL, blocks=500))) == (
        "fits fake device (driver): 500 of 528 blocks, 28 to spare"
    )


def test_a_fit_of_launches_that_wait_for_nobody_says_so(residency: Hold) -> None:
    assert str(residency(4, PLAIN)) == "fits fake device (driver): no launch waits on other blocks"


def test_a_launch_of_a_kernel_that_the_source_lacks_names_those_it_has(residency: Hold) -> None:
    with pytest.raises(GateFailure, match=r"no kernel 'column' in row\.cu; it defines: row"):
        residency(4, replace(FULL, kernel="column"))


def test_a_source_without_kernels_says_that_it_has_none() -> None:
    empty = CompiledModule("row.cu", (), "key", b"", (), from_cache=False)

    with pytest.raises(GateFailure, match="it defines: none"):
        empty.kernel("row")


def test_a_kernel_is_found_by_its_whole_name() -> None:
    short, long = (CompiledKernel(name, 32, 0, 0, 0, 0) for name in ("row", "row_sums"))
    module = CompiledModule("row.cu", (), "key", b"", (long, short), from_cache=False)

    assert module.kernel("row") is short
