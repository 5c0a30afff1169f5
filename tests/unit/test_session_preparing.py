"""How a session prepares its cases: on which memory, in how many copies, by which clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import pytest

from fake_cuda import FakeBlocker
from pytest_rmsperf.device import rotation, session
from pytest_rmsperf.device.launcher import NotCaptured
from pytest_rmsperf.device.memory import DeviceMemory, OutOfMemory
from pytest_rmsperf.device.scratch import MOST_BYTES_INSIDE
from pytest_rmsperf.errors import PlanError
from pytest_rmsperf.probes import probe_of
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Timing
from workshop import COLD, Placed, Workshop, case_of, memories_of, twin_of


@pytest.fixture
def workshop(monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A workshop whose launches can be captured."""
    return Workshop.opened(monkeypatch)


def test_a_warm_case_has_one_copy_of_its_tensors_and_many_places_for_its_scratch(
    workshop: Workshop,
) -> None:
    (found,) = workshop.prepare(case_of(), protocol=Protocol())

    memories = memories_of(found)
    assert [one.buffers for one in memories] == [(Placed("counters", 0, i),) for i in range(16)]
    assert {id(one.shared) for one in memories} == {id(memories[0].shared)}
    assert (found.clock.timing, found.clock.time_ns()) == (Timing.GRAPH, 8000)


def test_a_warm_case_is_completed_at_one_place_alone(workshop: Workshop) -> None:
    (found,) = workshop.prepare(case_of(), protocol=Protocol())
    parts: Any = found.rotation.parts
    parts[0].complete = lambda count: [count]

    assert (found.rotation.complete(20), found.distinct) == ([20], 1)


def test_launches_too_long_for_all_places_go_through_few(workshop: Workshop) -> None:
    found = [
        workshop.prepare(case_of(launch_ns=launch_ns), protocol=Protocol())[0]
        for launch_ns in (300_000, 2_000_000)
    ]

    assert [one.rotation.copies for one in found] == [2, 1]


def test_a_cold_case_has_so_many_that_each_leaves_the_cache_in_between(
    workshop: Workshop,
) -> None:
    (found,) = workshop.prepare(case_of())

    assert found.rotation.copies == 4
    assert found.clock.launches % 4 == 0


def test_each_copy_has_tensors_and_state_of_its_own(workshop: Workshop) -> None:
    (found,) = workshop.prepare(case_of())

    memories = memories_of(found)
    assert [memory.buffers for memory in memories] == [(Placed("counters", i),) for i in range(4)]
    assert len({id(memory.shared) for memory in memories}) == 4


def test_cases_have_their_scratch_and_state_in_the_same_place(workshop: Workshop) -> None:
    first, second = map(memories_of, workshop.prepare(case_of(), case_of()))

    assert [one.buffers for one in first] == [one.buffers for one in second]


@pytest.mark.parametrize("protocol", [Protocol(), COLD], ids=["warm", "cold"])
def test_a_case_and_its_twin_work_on_the_same_tensors_copy_by_copy(
    workshop: Workshop, protocol: Protocol
) -> None:
    both = (case_of(), twin_of(case_of()))

    mine, theirs = map(memories_of, workshop.prepare(*both, protocol=protocol))

    assert [id(one.shared) for one in mine] == [id(one.shared) for one in theirs]
    assert [one.buffers for one in mine] == [one.buffers for one in theirs]


def test_a_twin_is_timed_by_as_many_launches_however_long_they_last(workshop: Workshop) -> None:
    mine, twin = case_of(launch_ns=8000), twin_of(case_of(launch_ns=16_000))

    together = workshop.prepare(mine, twin, protocol=Protocol(graph_us=600))
    alone = workshop.prepare(twin, protocol=Protocol(graph_us=600))

    assert [one.clock.launches for one in (*together, *alone)] == [64, 64, 32]


def test_a_twin_goes_through_as_many_places_however_long_its_launches_last(
    workshop: Workshop,
) -> None:
    mine, twin = case_of(launch_ns=8000), twin_of(case_of(launch_ns=2_000_000))

    found = workshop.prepare(mine, twin, protocol=Protocol())

    assert [one.rotation.copies for one in found] == [16, 16]


def test_a_twin_of_more_copies_is_timed_by_a_whole_round_of_them(workshop: Workshop) -> None:
    mine, twin = case_of(counters=20_000), twin_of(case_of(counters=1))

    found = workshop.prepare(mine, twin, protocol=replace(COLD, graph_us=1))

    assert [(one.rotation.copies, one.clock.launches) for one in found] == [(2, 2), (4, 4)]


def test_the_copy_probe_rotates_as_its_case_does_and_the_null_kernel_has_nothing_to(
    workshop: Workshop,
) -> None:
    copy, null = (probe_of(case_of(), name) for name in ("copy", "null"))

    found = workshop.prepare(copy, null)

    assert [one.rotation.copies for one in found] == [4, 1]


def test_a_case_that_cannot_be_captured_is_queued_behind_a_block(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise NotCaptured("cannot be captured into a graph: the driver says no")

    monkeypatch.setattr(rotation, "captured", refuse)
    monkeypatch.setattr(session, "Blocker", lambda module: FakeBlocker(module.context))

    found = workshop.prepare(case_of(), case_of(), protocol=Protocol())

    assert [one.clock.timing for one in found] == [Timing.QUEUED] * 2
    assert [one.clock.time_ns() for one in found] == [8000] * 2
    assert workshop.compiled.count("block.cu") == 1


def test_nobody_pays_for_the_block_where_all_can_be_captured(workshop: Workshop) -> None:
    workshop.prepare(case_of(), protocol=Protocol())

    assert "block.cu" not in workshop.compiled


def no_memory(*_: object) -> NoReturn:
    raise OutOfMemory("buffer x of 18432 bytes does not fit: 100 bytes of device memory are free")


def test_copies_that_do_not_fit_are_told_with_their_size_and_what_is_free(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DeviceMemory, "of", no_memory)

    with pytest.raises(OutOfMemory) as caught:
        workshop.prepare(case_of())

    assert str(caught.value) == (
        "cannot be timed cold: 4 copies of 32772 bytes each must take turns to leave an L2 of "
        "40000 bytes; buffer x of 18432 bytes does not fit: 100 bytes of device memory are free"
    )


def test_a_warm_case_that_does_not_fit_is_not_told_of_copies(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DeviceMemory, "of", no_memory)

    with pytest.raises(OutOfMemory, match=r"^buffer x of 18432 bytes does not fit"):
        workshop.prepare(case_of(), protocol=Protocol())


def test_a_case_too_small_for_a_cold_cache_is_refused(workshop: Workshop) -> None:
    workshop.context.l2_cache_size = 10**9

    with pytest.raises(PlanError, match=r"^cannot be timed cold: a launch touches 32772 bytes"):
        workshop.prepare(case_of())


@pytest.mark.parametrize(("counters", "places"), [(1, 16), (MOST_BYTES_INSIDE, 1)])
def test_a_case_whose_state_all_places_would_share_has_one_place(
    workshop: Workshop, counters: int, places: int
) -> None:
    (found,) = workshop.prepare(case_of(counters=counters), protocol=Protocol())

    assert found.rotation.copies == places
