"""What would become a static baseline: its own figures, and what of the old one lives on in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import CODE, H100, H200, L4, NVRTC, cost_of, fit_of_device, kernel_of, launch_of
from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.storing.static_admission import accepted, dropped

BOTH = cost_of(fit_of_device(H100), fit_of_device(H200))
ALONE = replace(BOTH, fits=BOTH.fits[:1])


def with_kernel(registers: int) -> StaticCost:
    """ALONE with this many registers."""
    return replace(ALONE, kernels=(kernel_of(registers=registers),))


# ---- devices that were not looked at ---------------------------------------------------------


def test_first_cost_is_accepted_as_it_is() -> None:
    assert (accepted(BOTH, None), dropped(BOTH, None)) == (BOTH, ())


def test_devices_are_sorted_by_name() -> None:
    assert accepted(replace(BOTH, fits=BOTH.fits[::-1]), None) == BOTH


def test_plan_on_a_device_that_was_not_looked_at_stays_with_the_same_kernels() -> None:
    assert (accepted(ALONE, BOTH), dropped(ALONE, BOTH)) == (BOTH, ())


def test_plan_on_a_device_that_was_looked_at_is_the_new_one() -> None:
    fewer = replace(BOTH, fits=(BOTH.fits[0], fit_of_device(H200, blocks_per_sm=5)))

    assert accepted(fewer, BOTH) == fewer


@pytest.mark.parametrize(
    "other",
    [
        with_kernel(41),
        replace(ALONE, kernels=(kernel_of(code=replace(CODE, sha256="77" * 32)),)),
        replace(ALONE, flags=("-O1",)),
        replace(ALONE, compiler=(*NVRTC, ("arch", "sm_90"))),
    ],
    ids=["registers", "machine code", "flags", "compiler"],
)
def test_plan_on_a_device_that_was_not_looked_at_is_dropped_with_other_machine_code(
    other: StaticCost,
) -> None:
    assert (accepted(other, BOTH), dropped(other, BOTH)) == (other, (H200,))


def test_plan_that_launches_a_kernel_of_its_own_is_dropped_where_nobody_compiled_that() -> None:
    wide = fit_of_device(H200, launch_of("wide"))
    old = cost_of(ALONE.fits[0], wide, kernels=[kernel_of(), kernel_of("wide")])

    assert (accepted(ALONE, old), dropped(ALONE, old)) == (ALONE, (H200,))


def test_other_kernel_of_the_case_does_not_drop_a_plan_that_does_not_launch_it() -> None:
    wide = fit_of_device(L4, launch_of("wide"))
    old = cost_of(*BOTH.fits, wide, kernels=[kernel_of(), kernel_of("wide")])

    assert dropped(ALONE, old) == (L4,)


# ---- instruction counts ----------------------------------------------------------------------


def counting(instructions: int | None, sha256: str = CODE.sha256) -> StaticCost:
    counts = (("barrier", 2),) if instructions else ()
    code = replace(CODE, sha256=sha256, instructions=instructions, counts=counts)
    return replace(BOTH, kernels=(kernel_of(code=code),))


def test_counts_of_the_same_code_stay_where_nothing_is_installed_that_counts() -> None:
    assert accepted(counting(None), counting(240)) == counting(240)


def test_counts_of_other_code_are_forgotten() -> None:
    other = counting(None, "77" * 32)

    assert accepted(other, counting(240)) == other


def test_counts_are_added_where_they_can_be_had() -> None:
    assert accepted(counting(240), counting(None)) == counting(240)


def test_plan_stays_where_the_counts_alone_are_new() -> None:
    one_device = replace(counting(240), fits=ALONE.fits)

    assert accepted(one_device, counting(None)) == counting(240)
