"""What the device's memory refuses is the plan's or the caller's fault, and costs no worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_rmsperf.device.memory import Allocation, DeviceMemory
from pytest_rmsperf.errors import OperatorError, PlanError
from pytest_rmsperf.launch import Buffer, Role


@pytest.fixture
def memory() -> DeviceMemory:
    """Memory of one input of four elements, on no device."""
    nothing: Any = None
    x = Buffer("x", Role.INPUT, (4,))
    return DeviceMemory([Allocation(x, nothing, nothing)])


def test_an_input_that_is_missing_is_named(memory: DeviceMemory) -> None:
    with pytest.raises(OperatorError, match=r"^inputs must be \['x'\], got \['z'\]$"):
        memory.upload({"z": np.zeros(4, np.float32)})


def test_an_input_of_another_shape_is_told_with_both_shapes(memory: DeviceMemory) -> None:
    with pytest.raises(OperatorError, match=r"^input x must be float32 of shape \(4,\), got .*3,"):
        memory.upload({"x": np.zeros(3, np.float32)})


def test_a_buffer_that_the_plan_lacks_is_told_with_those_it_has(memory: DeviceMemory) -> None:
    with pytest.raises(PlanError, match=r"^a launch names buffer 'z', but the plan has x$"):
        memory["z"]
