"""The host clock against a plain C loop over the same graph, block by block in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Program


@pytest.mark.parametrize("variant", ["unfused", "megakernel_row"])
def test_the_host_clock_is_within_two_percent_of_a_plain_c_loop(
    program: Program, variant: str
) -> None:
    found = program("host_clock.py", variant)

    difference = found["own_ns"] / found["plain_ns"] - 1

    print(f"{variant}: own {found['own_ns']} ns, plain C {found['plain_ns']} ns")
    assert abs(difference) < 0.02, found
