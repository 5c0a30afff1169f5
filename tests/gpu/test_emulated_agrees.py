"""The emulated device against the real one: the same text, the same inputs, the same outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR

if TYPE_CHECKING:
    from .conftest import Program

# ex2.approx and rsqrt.approx are within 2 ulp of what the emulation rounds correctly.
APART = 1e-6


def test_emulated_outputs_of_every_variant_are_those_of_the_device(program: Program) -> None:
    found = program("emulated_agrees.py")

    print(found)
    assert set(found["apart"]) == {variant.name for variant in OPERATOR.variants}
    assert max(found["apart"].values()) < APART


def test_strangers_and_clusters_give_the_same_emulated(program: Program) -> None:
    found = program("strangers_agree.py")

    print(found)
    assert len(found["apart"]) == 5
    # The grid-wide sum adds in whichever order its atomics come.
    assert max(found["apart"].values()) < APART
