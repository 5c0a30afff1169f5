"""Readings of a real device: cheap enough for between blocks, and not blind to a busy neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import Program


def test_a_sample_between_blocks_costs_less_than_two_milliseconds(program: Program) -> None:
    found = program("readings.py")

    print(found)
    assert found["sample_ms"] < 2


def test_a_process_that_keeps_the_device_busy_makes_it_unfit_and_is_named(
    program: Program,
) -> None:
    found = program("readings.py", "beside")

    print(found)
    assert "% busy before a session" in found["unfit"]
    # A container may show no process at all, or only those of the host: then it is told so.
    hidden = "no other process is listed" in found["unfit"] or found["ours_unlisted"]
    assert hidden or f"pid {found['pid']}" in found["unfit"]
