"""The protocol on a device: each way of timing gives what the others lead one to expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conftest import Program


def test_a_queue_behind_a_block_takes_a_little_longer_per_launch_than_a_graph(
    program: Program,
) -> None:
    found = program("protocol.py", "queued")

    difference = found["queued"]["device_ns"] / found["graph"]["device_ns"] - 1

    print(found)
    assert found["queued"]["launches"] > 1
    # 8.8 % of 7.8 us on an H200: a cooperative launch costs that much outside of a graph. One that
    # waited for the host would take twice as long.
    assert 0 < difference < 0.2, found


def test_a_session_times_by_a_queue_what_cannot_be_captured_and_says_so(
    program: Program,
) -> None:
    found = program("protocol.py", "fallback")

    print(found)
    assert (found["timing"], found["blocks"]) == ("queued", 7)


def test_a_block_that_the_host_never_lets_go_ends_by_itself_after_its_limit(
    program: Program,
) -> None:
    found = program("protocol.py", "held")

    print(found)
    assert (found["gave_up"], found["gave_up_when_let_go"]) == (True, False)
    assert 0.9 < found["seconds"] < 5


def test_a_kernel_that_finds_a_cold_cache_takes_longer_on_the_device(program: Program) -> None:
    found = program("protocol.py", "cold")

    print(found)
    shares = {
        name: one["cold"]["device_ns"] / one["warm"]["device_ns"] - 1 for name, one in found.items()
    }
    ends = {(one["cold"]["blocks"], one["cold"]["stop_reason"]) for one in found.values()}
    assert ends == {(7, "blocks")}
    assert min(shares.values()) > 0.03, shares


def test_idling_before_each_block_does_not_move_what_is_measured(program: Program) -> None:
    found = program("protocol.py", "cooldown")

    idle, busy = found["300 ms"], found["0 ms"]

    print(found)
    assert idle["readings"] == busy["readings"] == [7, 7]
    assert abs(idle["device_ns"] / busy["device_ns"] - 1) < 0.05, found
