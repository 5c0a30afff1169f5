"""Every variant on shapes at the edges of its launch plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR

if TYPE_CHECKING:
    from .conftest import Program


def test_every_variant_is_right_on_every_shape_its_plan_accepts(program: Program) -> None:
    found = program("shapes.py")

    print(f"{found['cases']} cases, {found['launches']} launches")
    assert found["failures"] == {}
    assert found["cases"] == 9 * 2 * len(OPERATOR.variants)


def test_offsets_beyond_two_to_the_31_reach_the_last_row(program: Program) -> None:
    found = program("large_offsets.py")

    print(found)
    assert found["elements"] > 2**31
    assert len(found["errors"]) == 4
    assert max(found["errors"].values()) < OPERATOR.tolerance.relative
