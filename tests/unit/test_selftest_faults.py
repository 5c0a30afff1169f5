"""The operator that faults are planted in: its plans, its reference, and what it compiles to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pytest_rmsperf.accuracy import Precision
from pytest_rmsperf.cases import Variant, load_operator
from pytest_rmsperf.device.compiler import Recipe, compile_recipe
from pytest_rmsperf.launch import KernelLaunch
from pytest_rmsperf.resources import Capacity, CompiledModule
from pytest_rmsperf.selftest.faults import (
    CLOCKS_PER_STEP,
    DELAYS,
    ONE_BLOCK_TOO_MANY,
    OPERATOR,
    SOUND,
    TWIN,
    WRONG_INDEX,
    delayed,
)

Devices = Callable[..., Capacity]

(PROBLEM,) = OPERATOR.problems

each_variant = pytest.mark.parametrize("variant", OPERATOR.variants, ids=lambda one: str(one.name))


def launch_of(variant: str, capacity: Capacity) -> KernelLaunch:
    (launch,) = OPERATOR.variant(variant).plan(PROBLEM, capacity).launches
    return launch


def compiled(variant: Variant, cache_dir: Path) -> CompiledModule:
    recipe = Recipe(variant.source, "sm_90", variant.constants, variant.flags)
    return compile_recipe(recipe, cache_dir=cache_dir)


# ---- plans -----------------------------------------------------------------------------------


def test_a_worker_finds_the_operator_by_its_folder() -> None:
    assert load_operator(OPERATOR.folder).name == OPERATOR.name


@pytest.mark.parametrize(("blocks_per_sm", "sms"), [(1, 16), (2, 8), (8, 132)])
def test_the_sound_kernel_fits_small_devices(
    capacity: Devices, blocks_per_sm: int, sms: int
) -> None:
    launch = launch_of(SOUND, capacity(blocks_per_sm, sms=sms))

    assert launch.must_be_resident
    assert launch.blocks <= blocks_per_sm * sms


@pytest.mark.parametrize(("blocks_per_sm", "sms"), [(1, 16), (8, 132)])
def test_one_block_too_many_is_one_more_than_the_device_at_hand_holds(
    capacity: Devices, blocks_per_sm: int, sms: int
) -> None:
    launch = launch_of(ONE_BLOCK_TOO_MANY, capacity(blocks_per_sm, sms=sms))

    assert launch.must_be_resident
    assert launch.blocks == blocks_per_sm * sms + 1


def test_delays_grow_and_are_whole_steps() -> None:
    assert list(DELAYS) == sorted(set(DELAYS))
    assert [clocks % CLOCKS_PER_STEP for clocks in DELAYS] == [0] * len(DELAYS)


@pytest.mark.parametrize("clocks", DELAYS)
def test_a_delayed_variant_differs_from_the_sound_one_in_its_steps_alone(clocks: int) -> None:
    sound, other = (dict(OPERATOR.variant(one).constants) for one in (SOUND, delayed(clocks)))

    assert other == {**sound, "DELAY_STEPS": clocks // CLOCKS_PER_STEP}


def test_the_wrong_element_is_the_first_of_a_vector_and_inside_of_the_output() -> None:
    row, column = WRONG_INDEX

    assert row < PROBLEM["rows"]
    assert column < PROBLEM["columns"]
    assert column % 4 == 0


# ---- the reference ---------------------------------------------------------------------------


@pytest.mark.parametrize("precision", Precision)
def test_the_shares_of_a_row_add_up_to_one(precision: Precision) -> None:
    arrays = OPERATOR.input_sets[0].make(PROBLEM)

    shares = OPERATOR.reference(arrays, precision)["y"]

    assert shares.dtype.name == precision.value
    assert np.allclose(shares.sum(axis=1, dtype=np.float64), 1.0, rtol=1e-6)


def test_inputs_have_the_shape_and_type_of_the_tensor() -> None:
    x = OPERATOR.input_sets[0].make(PROBLEM)["x"]

    assert (x.shape, x.dtype.name) == (OPERATOR.tensors(PROBLEM)[0].shape, "float32")


# ---- the source ------------------------------------------------------------------------------


@each_variant
def test_every_variant_compiles_without_spills(variant: Variant, cache_dir: Path) -> None:
    (kernel,) = compiled(variant, cache_dir).kernels

    assert (kernel.local_bytes, kernel.spill_store_bytes) == (0, 0)


def test_the_twin_is_a_module_of_its_own(cache_dir: Path) -> None:
    sound, twin = (compiled(OPERATOR.variant(one), cache_dir) for one in (SOUND, TWIN))

    assert twin.key != sound.key
    assert twin.kernels == sound.kernels
