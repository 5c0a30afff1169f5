"""Device time per launch, on a device of which only the time is counted."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any, NoReturn

import pytest

from fake_cuda import FakeBlocker, FakeCase, FakeContext, FakeEvent
from pytest_rmsperf.device.clock import (
    ATTEMPTS,
    ESTIMATES,
    MOST_LAUNCHES,
    MOST_QUEUED,
    QueuedLaunches,
    UnrolledLaunches,
    device_clock,
)
from pytest_rmsperf.errors import DeviceError
from pytest_rmsperf.samples import Timing

WAYS = ["graph", "queue"]


def case_of(launch_ns: float | Iterable[float] = 8000, **about: Any) -> FakeCase:
    lasting = repeat(launch_ns) if isinstance(launch_ns, (int, float)) else launch_ns
    return FakeCase(iter(lasting), **about)


def unrolled(case: Any, launches: int) -> UnrolledLaunches:
    return UnrolledLaunches(case, launches)


def queued(case: Any, launches: int, *, early: int = 0) -> QueuedLaunches:
    blocker: Any = FakeBlocker(case.context, early)
    return QueuedLaunches(case, launches, blocker)


def lasting(way: str, case: Any, graph_us: int = 1000) -> UnrolledLaunches | QueuedLaunches:
    if way == "graph":
        return UnrolledLaunches.lasting(case, graph_us)
    blocker: Any = FakeBlocker(case.context)
    return QueuedLaunches.lasting(case, graph_us, blocker)


# ---- one reading -----------------------------------------------------------------------------


@pytest.mark.parametrize("launches", [1, 10, 100])
@pytest.mark.parametrize("way", [unrolled, queued])
def test_time_per_launch_does_not_depend_on_how_many_are_timed(way: Any, launches: int) -> None:
    assert way(case_of(8000), launches).time_ns() == 8000


def test_a_graph_runs_once_untimed_and_then_between_events_on_the_same_stream() -> None:
    case = case_of()

    unrolled(case, 64).time_ns()

    assert case.context.log == [
        "graph of 64",
        "record",
        "graph of 64",
        "record",
        "wait",
        "close graph of 64",
    ]


def test_launches_are_queued_between_events_behind_a_block_after_one_untimed() -> None:
    case = case_of()

    queued(case, 64).time_ns()

    steps = ["queue 1", "block", "record", "queue 64", "record", "let go", "wait"]
    assert case.context.log == steps


@pytest.mark.parametrize("way", [unrolled, queued])
def test_untimed_launches_are_not_counted(way: Any) -> None:
    case = case_of(chain([500_000], repeat(8000)))

    assert way(case, 1).time_ns() == 8000


def test_launches_that_ran_before_all_were_queued_are_timed_again() -> None:
    case = case_of()

    assert queued(case, 64, early=ATTEMPTS - 1).time_ns() == 8000
    assert case.context.log.count("block") == ATTEMPTS


def test_launches_that_are_never_queued_in_time_are_an_error_and_no_figure() -> None:
    clock = queued(case_of(), 64, early=ATTEMPTS)

    with pytest.raises(DeviceError, match=r"^cannot be timed: 64 launches were not queued within "):
        clock.time_ns()


@pytest.mark.parametrize("elapsed_ms", [-0.001, float("nan"), float("inf")])
def test_a_timer_that_gives_no_time_is_broken(
    monkeypatch: pytest.MonkeyPatch, elapsed_ms: float
) -> None:
    monkeypatch.setattr(FakeEvent, "__sub__", lambda *_: elapsed_ms)

    with pytest.raises(DeviceError, match=r"two events are .* the device timer is broken"):
        unrolled(case_of(), 8).time_ns()


def test_no_time_at_all_is_a_sample_for_the_judge_to_refuse() -> None:
    assert unrolled(case_of(0), 8).time_ns() == 0


# ---- how many --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launch_ns", "launches"),
    [
        (7813, 64),  # 127.99 fit
        (7812, 128),  # 128.008 fit
        (500_001, 1),
        (500_000, 2),
        (1, MOST_LAUNCHES),
        (0, MOST_LAUNCHES),
    ],
)
def test_graph_holds_the_power_of_two_that_lasts_at_most_as_long(
    launch_ns: int, launches: int
) -> None:
    assert lasting("graph", case_of(launch_ns)).launches == launches


@pytest.mark.parametrize("slow", range(1, ESTIMATES))
def test_slow_first_estimates_do_not_shorten_the_graph(slow: int) -> None:
    # One launch in a graph of its own, and graphs of 8, each run twice.
    case = case_of(chain(repeat(15_000, 2 + slow * 2 * 8), repeat(7812)))

    assert lasting("graph", case).launches == 128


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_that_lasts_longer_than_the_graph_is_launched_few_times(way: str) -> None:
    case = case_of(2e9)

    clock = lasting(way, case)

    assert (clock.launches, len(case.launched)) == (1, 4)


@pytest.mark.parametrize(("launch_ns", "few"), [(1_000_000, True), (999_999, False)])
def test_only_what_lasts_as_long_as_the_graph_is_spared_the_estimate(
    launch_ns: int, *, few: bool
) -> None:
    case = case_of(launch_ns)

    lasting("graph", case)

    assert (len(case.launched) == 4) is few


def test_one_slow_launch_does_not_make_a_kernel_slow() -> None:
    case = case_of(chain([2e9, 2e9], repeat(7812)))

    assert lasting("graph", case).launches == 128


@pytest.mark.parametrize("copies", [1, 4])
def test_a_kernel_that_turns_slow_after_its_first_reading_is_still_launched(copies: int) -> None:
    case = case_of(chain(repeat(8000, 2 * copies), repeat(2_000_000)), copies=copies)

    assert lasting("graph", case).launches == copies


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("copies", "launches"), [(2, 128), (128, 128), (256, 256)])
def test_launches_are_whole_rounds_of_the_copies(way: str, copies: int, launches: int) -> None:
    assert lasting(way, case_of(7812, copies=copies)).launches == launches


def test_a_graph_holds_a_round_of_more_copies_than_launches_otherwise_allowed() -> None:
    assert lasting("graph", case_of(7812, copies=4096)).launches == 4096


@pytest.mark.parametrize(("kernels", "launches"), [(1, 256), (2, 128), (3, 128), (5, 64)])
def test_no_more_kernels_are_queued_than_a_stream_takes(kernels: int, launches: int) -> None:
    clock = lasting("queue", case_of(10, kernels=kernels))

    assert clock.launches == launches
    assert clock.launches * kernels < MOST_QUEUED


def test_a_round_that_a_stream_just_takes_is_queued() -> None:
    assert lasting("queue", case_of(kernels=255, copies=2)).launches == 2


def test_a_round_that_a_stream_does_not_take_is_refused_with_both_numbers() -> None:
    case = case_of(kernels=256, copies=2)

    with pytest.raises(DeviceError, match=r"^cannot be timed: 2 times 256 launches .* 511 can be"):
        lasting("queue", case)


# ---- which -----------------------------------------------------------------------------------


def no_blocker() -> NoReturn:
    raise AssertionError("nobody needs it")


def test_a_case_that_can_be_captured_is_timed_by_a_graph() -> None:
    case: Any = case_of()

    assert device_clock(case, 1000, no_blocker).timing is Timing.GRAPH


def test_a_case_that_cannot_be_captured_is_timed_by_a_queue() -> None:
    case: Any = case_of(can_be_captured=False)
    blocker: Any = FakeBlocker(case.context)

    clock = device_clock(case, 1000, lambda: blocker)

    assert (clock.timing, clock.time_ns()) == (Timing.QUEUED, 8000)


def test_a_launch_that_fails_while_a_graph_is_timed_is_not_tried_by_a_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: FakeContext) -> NoReturn:
        raise DeviceError("CUDA_ERROR_ILLEGAL_ADDRESS")

    monkeypatch.setattr(FakeContext, "synchronize", fail)
    case: Any = case_of()

    with pytest.raises(DeviceError, match="ILLEGAL_ADDRESS"):
        device_clock(case, 1000, no_blocker)


@pytest.mark.parametrize("launch_ns", [8000, 2_000_000])
def test_a_graph_of_so_many_launches_as_are_asked_for_holds_them(launch_ns: int) -> None:
    case: Any = case_of(launch_ns)

    assert device_clock(case, 1000, no_blocker, launches=64).launches == 64


def test_a_case_that_cannot_be_captured_is_queued_however_many_launches_are_asked_for() -> None:
    case: Any = case_of(can_be_captured=False)
    blocker: Any = FakeBlocker(case.context)

    assert device_clock(case, 1000, lambda: blocker, launches=64).timing is Timing.QUEUED
