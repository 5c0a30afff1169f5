"""The selftest where there is no CUDA device: what it demands, and when that is too little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest

from pytest_rmsperf.emulation import Schedules
from pytest_rmsperf.environment import DeviceChoice
from pytest_rmsperf.instrument import WorkerInstrument
from pytest_rmsperf.judge.thresholds import STORED
from pytest_rmsperf.messages import WorkerSettings
from pytest_rmsperf.selftest.runner import MOST_DEADLINE_S, hastened, selftest
from pytest_rmsperf.settings import Settings
from pytest_rmsperf.supervisor import Deadlines
from scripted_machine import CUDA, EMULATED, NEITHER, TOLD, TOLD_EMULATED, Scripted, selftest_on

GPU_ABSENT = "FAILED: a GPU was asked for"

Run = Callable[..., tuple[list[str], bool]]


@pytest.fixture
def run(default_settings: Settings) -> Run:
    """Run the selftest on a scripted instrument: `run(Scripted(NEITHER), require_gpu=True)`."""
    protocol = replace(default_settings.protocol, blocks=5)
    return partial(selftest_on, replace(default_settings, thresholds=STORED, protocol=protocol))


# ---- no CUDA device --------------------------------------------------------------------------


def test_the_emulated_device_must_tell_all_mistakes_and_delays_are_not_run(run: Run) -> None:
    lines, succeeded = run(Scripted(EMULATED, dict(TOLD_EMULATED)))

    assert lines[-1] == (
        "selftest: 6 of 6 planted cases told right, 14 not run: no CUDA device (none)"
    )
    assert succeeded


def test_a_mistake_that_the_emulated_device_does_not_tell_is_red(run: Run) -> None:
    lines, succeeded = run(Scripted(EMULATED, dict(TOLD)))

    assert lines[-2] == (
        "selftest: MISSED 2 of 6: a barrier one block short (check), an illegal address (check)"
    )
    assert not succeeded


def test_where_nothing_can_be_launched_residency_alone_is_demanded(run: Run) -> None:
    instrument = Scripted(NEITHER)

    lines, succeeded = run(instrument)

    assert lines[-1].startswith("selftest: 1 of 1 planted cases told right, 19 not run: no CUDA")
    assert "endless" not in instrument.checked
    assert succeeded


@pytest.mark.parametrize(
    "asked",
    [{"require_gpu": True}, {"device": DeviceChoice.CUDA}, {"expect_gpu": "NVIDIA H200"}],
    ids=lambda one: next(iter(one)),
)
def test_what_is_not_run_is_red_where_a_gpu_was_asked_for(
    run: Run, asked: dict[str, object]
) -> None:
    lines, succeeded = run(Scripted(NEITHER), **asked)

    assert lines[-1].startswith(GPU_ABSENT)
    assert not succeeded


def test_a_gpu_that_was_asked_for_and_is_there_is_green(run: Run) -> None:
    lines, succeeded = run(Scripted(CUDA), require_gpu=True)

    assert not lines[-1].startswith(GPU_ABSENT)
    assert succeeded


# ---- the deadline ----------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "used"), [(30.0, MOST_DEADLINE_S), (4.0, 4.0)])
def test_the_endless_kernel_is_not_waited_for_longer_than_it_takes(
    default_settings: Settings, given: float, used: float
) -> None:
    settings = replace(default_settings, deadline_s=given)

    assert hastened(settings).deadline_s == used


# ---- the emulated device for real ------------------------------------------------------------


@pytest.fixture
def emulated() -> Iterator[WorkerInstrument]:
    settings = WorkerSettings("sm_90", DeviceChoice.EMULATED, Schedules(0, 2))
    instrument = WorkerInstrument(settings, Deadlines(step_s=30.0), lambda _: None)
    yield instrument
    instrument.close()


def test_the_emulated_device_tells_every_mistake_by_its_name(
    emulated: WorkerInstrument, default_settings: Settings
) -> None:
    lines, succeeded = selftest(emulated, default_settings, lambda _: None)

    assert succeeded, "\n".join(lines)
    assert lines[-1].startswith("selftest: 6 of 6 planted cases told right, 14 not run")
