"""What the compiler's log and the occupancy formula say, against the driver's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import Program


def test_registers_shared_local_and_blocks_per_sm_equal_the_drivers(program: Program) -> None:
    found = program("attributes.py")

    differing = [one for one in found if one["compiler"] != one["driver"]]

    print(f"{len(found)} launches compared")
    assert len(found) >= 14
    assert differing == []
