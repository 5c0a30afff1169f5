"""What a session must be to become a baseline: more than to be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_rmsperf.environment import DeviceState, Tenant
from pytest_rmsperf.judge.health import why_unfit, why_unfit_to_store
from readings import AFTER, DESKTOP, IDLE, LOADED, at_clocks, session, session_of

SOUND = session()


def test_sessions_on_an_idle_device_may_be_stored() -> None:
    assert why_unfit_to_store([SOUND, SOUND, SOUND]) is None


def test_no_session_is_nothing_to_store() -> None:
    assert why_unfit_to_store([]) == "nothing was measured"


def test_one_unfit_session_among_sound_ones_is_enough() -> None:
    unfit = session(unfit="the device was 97 % busy before a session: train.py (pid 4711)")

    assert why_unfit_to_store([SOUND, unfit, SOUND]) == unfit.unfit


# ---- other processes -------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 7, 16], ids=["before", "during", "after"])
def test_nothing_is_stored_beside_another_process_that_may_be_measured_beside(place: int) -> None:
    readings = [IDLE, *[LOADED] * 15, AFTER]
    quiet = [replace(one, other_processes=None) for one in readings]
    quiet[place] = replace(readings[place], other_processes=(DESKTOP,))
    found = session_of(*quiet)

    reasons = why_unfit(found), why_unfit_to_store([found])

    assert reasons == (None, "another process is on the device: Xorg (pid 1200)")


def test_only_ourselves_under_a_pid_of_the_host_are_no_other() -> None:
    before = replace(IDLE, other_processes=(Tenant(70_001),), ours_unlisted=True)

    assert why_unfit_to_store([session(before=before)]) is None


def test_of_two_pids_of_the_host_one_is_another() -> None:
    others = (Tenant(70_001), Tenant(70_002))
    before = replace(IDLE, other_processes=others, ours_unlisted=True)

    reason = why_unfit_to_store([session(before=before)])

    assert reason is not None
    assert reason.startswith("another process is on the device: ")


# ---- what must be known ----------------------------------------------------------------------


def test_an_unknown_driver_is_refused_with_what_nvml_said() -> None:
    note = "every field: install nvidia-ml-py, so that NVML can be asked"
    nothing = DeviceState(notes=(note,))

    reason = why_unfit_to_store([session(before=nothing, during=[nothing] * 15, after=nothing)])

    assert reason == f"the driver is unknown: NVML does not tell ({note})"


def test_a_session_without_any_reading_is_refused() -> None:
    silent = session(before=None, during=[], after=None)

    assert why_unfit_to_store([silent]) == "the driver is unknown: nobody asked NVML"


def test_notes_on_other_fields_are_no_reason() -> None:
    before = replace(IDLE, driver=None, notes=("driver: Unknown Error", "power_mw: Not Supported"))

    reason = why_unfit_to_store([session(before=before, after=None)])

    assert reason == "the driver is unknown: NVML does not tell (driver: Unknown Error)"


def test_it_must_be_known_whether_the_device_was_idle() -> None:
    notes = ("utilization_percent: Not Supported",)
    before = replace(IDLE, utilization_percent=None, other_processes=None, notes=notes)

    assert why_unfit_to_store([session(before=before)]) == (
        "whether the device was idle is unknown: "
        "NVML does not tell (utilization_percent: Not Supported)"
    )


@pytest.mark.parametrize(
    "before", [replace(IDLE, utilization_percent=None), replace(IDLE, other_processes=None)]
)
def test_one_of_utilization_and_processes_is_enough_to_know(before: DeviceState) -> None:
    assert why_unfit_to_store([session(before=before)]) is None


# ---- clocks ----------------------------------------------------------------------------------


def test_figures_at_a_clock_far_below_the_highest_are_not_stored() -> None:
    slow = session(during=at_clocks(800, 801, 799, 800, 800))

    assert why_unfit_to_store([slow]) == "SM clock 800 MHz of 1980: far below the highest"


@pytest.mark.parametrize(("clock", "stored"), [(1485, True), (1484, False)])
def test_three_quarters_of_the_highest_clock_are_near_it(clock: int, *, stored: bool) -> None:
    moving = session(during=at_clocks(clock, clock, clock, clock - 1, clock + 1))

    assert (why_unfit_to_store([moving]) is None) == stored


def test_a_locked_clock_may_be_as_low_as_it_likes() -> None:
    assert why_unfit_to_store([session(during=at_clocks(*[800] * 15))]) is None


def test_a_clock_that_the_devices_own_power_limit_holds_is_the_usual_one() -> None:
    capped = [
        replace(one, clocks_event_reasons=("sw_power_cap",)) for one in at_clocks(800, 801, 799)
    ]

    assert why_unfit_to_store([session(during=capped)]) is None


@pytest.mark.parametrize("reasons", [(), ("sw_power_cap",)])
def test_a_memory_clock_far_below_the_highest_is_refused_whatever_holds_it(
    reasons: tuple[str, ...],
) -> None:
    slow = replace(LOADED, memory_mhz=405, clocks_event_reasons=reasons)

    assert why_unfit_to_store([session(during=[slow] * 15)]) == (
        "memory clock 405 MHz of 3201: far below the highest"
    )
