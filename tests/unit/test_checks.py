"""What a machine says of the work that cannot be done on it."""

from __future__ import annotations

import pytest

from pytest_rmsperf.checks import EmulatedMachine, Machine
from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceIdentity, DeviceRecord, DeviceState

H100 = DeviceIdentity("NVIDIA H100 80GB HBM3", 132, "9.0", 81_559)
CUDA = Machine(DeviceRecord(H100, "GPU-1", "13.0", DeviceState()), None)
EMULATED = Machine(None, "no driver", emulated=EmulatedMachine(H100, "g++ 12.2.0", Schedules()))
NEITHER = Machine(None, "no driver", why_no_emulation="no C++ compiler")
NOT_LOOKED_FOR = Machine(None, "no driver")


@pytest.mark.parametrize(
    ("machine", "not_timed", "not_launched"),
    [
        (CUDA, None, None),
        (EMULATED, "no CUDA device (no driver)", None),
        (
            NEITHER,
            "no CUDA device (no driver)",
            "no CUDA device (no driver), and no emulated one (no C++ compiler)",
        ),
        (NOT_LOOKED_FOR, "no CUDA device (no driver)", "no CUDA device (no driver)"),
    ],
    ids=["cuda", "emulated", "neither", "not looked for"],
)
def test_what_cannot_be_done_is_told_with_its_reasons(
    machine: Machine, not_timed: str | None, not_launched: str | None
) -> None:
    assert (machine.why_not_timed, machine.why_not_launched) == (not_timed, not_launched)
