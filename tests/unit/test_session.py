"""A session of timing: what is timed in which order, until when, over cases that follow scripts."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count, cycle, repeat
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rmsperf.checks import Turn
from pytest_rmsperf.device.session import IDLE_MS, TimedCase
from pytest_rmsperf.errors import GateFailure
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.protocol import LEAST_BLOCKS, StopReason
from pytest_rmsperf.samples import Timing
from pytest_rmsperf.schedule import places
from scripted_session import OUTPUT, THREE_BLOCKS, Bench, Scripted

CASES = OPERATOR.cases()[:3]
TWINS = (CASES[0], replace(CASES[0], origin="1a2b3c4"), *CASES[1:])


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench on which no time passes."""
    return Bench(monkeypatch)


# ---- samples ---------------------------------------------------------------------------------


def test_each_case_gets_one_device_sample_and_its_completions_per_block(bench: Bench) -> None:
    found = bench.session(CASES).measure(CASES).samples

    assert [one.device_ns for one in found.values()] == [(8000,) * 3] * 3
    assert [one.completion_ns for one in found.values()] == [(14_000,) * 6] * 3
    assert [one.launches_per_graph for one in found.values()] == [64] * 3


def test_samples_say_how_their_launches_were_queued(bench: Bench) -> None:
    session = bench.session(CASES, b=Scripted(timing=Timing.QUEUED))

    found = session.measure(CASES).samples

    timings = [one.timing for one in found.values()]
    assert timings == [Timing.GRAPH, Timing.QUEUED, Timing.GRAPH]


def test_the_warm_up_is_a_block_that_is_dropped(bench: Bench) -> None:
    script = Scripted(device_ns=count(1))

    found = bench.session(CASES, a=script).measure(CASES)

    assert found.samples[CASES[0].id].device_ns == (2, 3, 4)
    path = ["state zeroed", "device", "2 completions"]
    assert script.done == [*path * 4, "renewed", *path], "the last is looked at and not counted"


def test_all_cases_are_warm_before_the_first_is_timed(bench: Bench) -> None:
    bench.session(CASES).measure(CASES)

    steps = [step for _, step in bench.said]
    assert steps[:4] == ["warm up"] * 3 + ["time"]
    assert steps.count("warm up") == 3


# ---- turns -----------------------------------------------------------------------------------


def test_the_order_of_every_block_is_recorded_as_it_was(bench: Bench) -> None:
    found = bench.session(TWINS, replace(THREE_BLOCKS, blocks=8)).measure(TWINS)

    recorded = [found.order[place] for turn in found.turns for place in places(turn, 4)]
    assert recorded == bench.steps("time")
    assert found.order == tuple(case.id for case in TWINS)


def test_every_other_block_goes_backwards(bench: Bench) -> None:
    found = bench.session(CASES).measure(CASES)

    assert found.turns == (
        Turn(0, backwards=False),
        Turn(0, backwards=True),
        Turn(1, backwards=False),
    )


def test_a_case_and_its_twin_are_timed_one_right_after_the_other(bench: Bench) -> None:
    bench.session(TWINS, replace(THREE_BLOCKS, blocks=9)).measure(TWINS)

    timed = bench.steps("time")
    mine, twin = TWINS[0].id, TWINS[1].id
    blocks = [timed[start : start + 4] for start in range(0, len(timed), 4)]
    leads = [block.index(twin) - block.index(mine) for block in blocks]
    assert leads == [1, -1, 1, -1, 1, -1, 1, -1, 1]


def test_the_device_is_read_once_per_block_after_all_is_timed(bench: Bench) -> None:
    first = Scripted()
    first.done = first.context.log

    found = bench.session(CASES, a=first).measure(CASES)

    assert [state.sm_mhz for state in found.during] == [1980] * 3
    path = ["state zeroed", "device", "2 completions"]
    assert first.done == [*path, *[*path, "sample"] * 3, "renewed", *path]


# ---- the end ---------------------------------------------------------------------------------


def test_a_session_of_all_its_blocks_says_so(bench: Bench) -> None:
    assert bench.session(CASES).measure(CASES).stop_reason is StopReason.BLOCKS


def test_a_session_ends_once_every_median_is_known(bench: Bench) -> None:
    found = bench.session(CASES, replace(THREE_BLOCKS, blocks=15, precision_ppm=500)).measure(CASES)

    assert (found.stop_reason, len(found.turns)) == (StopReason.PRECISION, LEAST_BLOCKS)


def test_one_case_that_scatters_keeps_a_session_going(bench: Bench) -> None:
    scattering = Scripted(device_ns=cycle([7000, 9000]))
    protocol = replace(THREE_BLOCKS, blocks=15, precision_ppm=500)

    found = bench.session(CASES, protocol, c=scattering).measure(CASES)

    assert (found.stop_reason, len(found.turns)) == (StopReason.BLOCKS, 15)


def test_a_precision_never_met_ends_with_the_time_budget(bench: Bench) -> None:
    bench.tick_s = 2.0
    scattering = Scripted(device_ns=cycle([2000, 4000]))
    protocol = replace(THREE_BLOCKS, blocks=1000, precision_ppm=500, budget_ms=60_000)

    found = bench.session(CASES, protocol, a=scattering).measure(CASES)

    assert (found.stop_reason, len(found.turns)) == (StopReason.BUDGET, 30)


def test_a_block_slower_than_the_whole_budget_is_taken_and_is_the_last(bench: Bench) -> None:
    bench.tick_s = 100.0

    found = bench.session(CASES, replace(THREE_BLOCKS, budget_ms=1)).measure(CASES)

    assert (found.stop_reason, len(found.turns), len(found.during)) == (StopReason.BUDGET, 1, 1)
    assert [one.device_ns for one in found.samples.values()] == [(8000,)] * 3


# ---- cooldown --------------------------------------------------------------------------------


def test_without_a_cooldown_the_device_is_never_left_idle(bench: Bench) -> None:
    bench.session(CASES).measure(CASES)

    assert bench.slept_s == []
    assert {step for _, step in bench.said} == {"warm up", "time", "check again"}


def test_what_is_measured_first_after_idling_is_dropped(bench: Bench) -> None:
    # The warm-up; then a wake-up and a sample in each block in which it is the first.
    waking = Scripted(device_ns=chain([1, 900_000], repeat(8000)))
    protocol = replace(THREE_BLOCKS, cooldown_ms=250)

    found = bench.session(CASES, protocol, a=waking).measure(CASES)

    assert found.samples[CASES[0].id].device_ns == (8000, 8000, 8000)
    assert bench.slept_s == [0.25] * 3


def test_each_block_wakes_the_device_by_the_case_that_it_times_first(bench: Bench) -> None:
    bench.session(CASES, replace(THREE_BLOCKS, cooldown_ms=250)).measure(CASES)

    a, b, c = (case.id for case in CASES)
    assert bench.steps("wake up") == [a, c, b]
    assert bench.steps("time") == [a, b, c, c, b, a, b, c, a]


def test_a_long_cooldown_gives_signs_of_life(bench: Bench) -> None:
    protocol = replace(THREE_BLOCKS, blocks=1, cooldown_ms=2 * IDLE_MS + 1)

    bench.session(CASES, protocol).measure(CASES)

    assert bench.slept_s == [IDLE_MS / 1000, IDLE_MS / 1000, 0.001]
    assert bench.steps("cool down") == [CASES[0].id] * 3


# ---- afterwards ------------------------------------------------------------------------------


def test_a_case_that_depends_on_what_an_earlier_launch_left_is_wrong_after_timing(
    bench: Bench,
) -> None:
    session = bench.session(CASES, b=Scripted(output=OUTPUT * 2))

    with pytest.raises(GateFailure, match=rf"^wrong after timing: {CASES[1].id} "):
        session.measure(CASES)


def test_a_case_that_writes_outside_while_it_is_timed_is_named_with_the_buffer(
    bench: Bench,
) -> None:
    session = bench.session(CASES, c=Scripted(outside=("y",)))

    with pytest.raises(GateFailure, match=rf"^wrong while timed: {CASES[2].id} .* outside of y\n"):
        session.measure(CASES)


def test_the_last_step_announced_is_of_the_case_that_fails(bench: Bench) -> None:
    session = bench.session(CASES, b=Scripted(output=OUTPUT * 2))

    with pytest.raises(GateFailure):
        session.measure(CASES)

    assert bench.said[-1] == (CASES[1].id, "check again")


@pytest.mark.parametrize("wrong", [0, 1])
def test_every_copy_of_a_case_must_still_give_the_first_launchs_bits(wrong: int) -> None:
    parts = [Scripted(), Scripted()]
    parts[wrong].output = OUTPUT * 2
    rotation: Any = SimpleNamespace(parts=parts)
    clock: Any = None

    timed = TimedCase(CASES[0], rotation, clock, {"y": OUTPUT}, distinct=2)

    assert not timed.still_computes()


def test_a_buffer_damaged_in_several_copies_is_named_once() -> None:
    parts = [Scripted(outside=("y",)), Scripted(outside=("x", "y"))]
    rotation: Any = SimpleNamespace(parts=parts)
    clock: Any = None

    assert TimedCase(CASES[0], rotation, clock, {}).damaged() == ["y", "x"]
