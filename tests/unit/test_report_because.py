"""Why a latency changed: what differs, or that nothing does that could be seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from costs import (
    H200,
    OTHER_CODE,
    fit_of_device,
    kernel_of,
    launch_of,
    resources_of,
)
from judged import COSTS, SLOW, THREE, Measured, judge_one, lines_of, paired, with_status
from pytest_rmsperf.costs import Resources
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.report.because import OLD_FILE, because

LOOK = "look at the machine"
ALL_SAME = f"the machine code, the plan, the driver and the protocol are the same: {LOOK}"
UNKNOWN_CODE = resources_of(kernel_of(code=None))
OTHER_PLAN = resources_of(fit=fit_of_device(H200, blocks=256))


def slower(measured: Measured, before: Resources | None, after: Resources | None) -> Verdict:
    return judge_one(measured(SLOW, resources=after), measured(THREE, resources=before))


def with_driver(measurement: Measurement, driver: str | None) -> Measurement:
    return replace(measurement, run=replace(measurement.run, driver=driver))


def test_a_lost_block_per_sm_is_told_behind_its_cause(measured: Measured) -> None:
    before = resources_of(kernel_of(registers=40), fit=fit_of_device(H200, blocks_per_sm=4))
    heavier = kernel_of(registers=64, code=OTHER_CODE)
    after = resources_of(heavier, fit=fit_of_device(H200, blocks_per_sm=2))

    assert because(slower(measured, before, after)) == [
        "registers 40 -> 64 per thread: 4 -> 2 blocks per SM",
        "machine code: differs, all its counts are equal",
    ]


def test_each_reason_stands_on_a_line_of_its_own(measured: Measured) -> None:
    before = resources_of(kernel_of(code=None, smem=0, local=8))

    lines = lines_of(slower(measured, before, UNKNOWN_CODE))

    assert lines[3:5] == [
        "  because    local bytes 8 -> 0 per thread",
        "             static shared bytes 0 -> 1024 per block",
    ]


def test_where_nothing_differs_the_machine_is_to_be_looked_at(measured: Measured) -> None:
    assert because(slower(measured, COSTS, COSTS)) == [ALL_SAME]


@pytest.mark.parametrize(
    "status", [Status.SLOWER, Status.FASTER, Status.INCONCLUSIVE, Status.INVALID]
)
def test_the_machine_is_suspected_of_any_figure_that_moved_or_is_in_doubt(
    measured: Measured, status: Status
) -> None:
    one = measured(resources=COSTS)
    verdict = replace(with_status(measured, status), current=one, baseline=one)

    assert because(verdict) == [ALL_SAME]


@pytest.mark.parametrize("status", [Status.MISSING, Status.INCOMPARABLE])
def test_the_machine_is_no_suspect_where_no_figure_was_judged(
    measured: Measured, status: Status
) -> None:
    one = measured(resources=COSTS)
    verdict = replace(with_status(measured, status), current=one, baseline=one)

    assert because(verdict) == [ALL_SAME.removesuffix(f": {LOOK}")]


def test_another_plan_of_the_same_machine_code_is_told_with_what_is_the_same(
    measured: Measured,
) -> None:
    assert because(slower(measured, COSTS, OTHER_PLAN)) == [
        "blocks 512 -> 256",
        "the machine code, the driver and the protocol are the same",
    ]


def test_another_driver_is_told_with_what_is_the_same(measured: Measured) -> None:
    old = with_driver(measured(THREE, resources=COSTS), "550.54")

    assert because(judge_one(measured(SLOW, resources=COSTS), old)) == [
        "driver 550.54 -> 580.159",
        "the machine code, the plan and the protocol are the same",
    ]


def test_another_driver_explains_where_costs_are_unknown(measured: Measured) -> None:
    old = with_driver(measured(THREE), "550.54")

    assert because(judge_one(measured(SLOW), old)) == ["driver 550.54 -> 580.159"]


def test_a_driver_that_nobody_knows_is_not_said_to_be_the_same(measured: Measured) -> None:
    old, new = (with_driver(measured(one, resources=COSTS), None) for one in (THREE, SLOW))

    assert because(judge_one(new, old)) == [
        f"the machine code, the plan and the protocol are the same: {LOOK}"
    ]


def test_another_protocol_is_not_said_to_be_the_same(measured: Measured) -> None:
    old, new = (measured(one, resources=COSTS) for one in (THREE, SLOW))
    old = replace(old, run=replace(old.run, protocol=Protocol(cooldown_ms=7)))

    assert because(judge_one(new, old)) == [
        "the machine code, the plan and the driver are the same"
    ]


def test_machine_code_that_nobody_looked_into_is_said_to_be_unknown(measured: Measured) -> None:
    [told] = because(slower(measured, UNKNOWN_CODE, COSTS))

    assert told == (
        "the counts of its kernels, the plan, the driver and the protocol are the same; "
        "the machine code is not known"
    )


def test_a_driver_that_holds_less_of_the_same_code_and_plan_is_told(measured: Measured) -> None:
    after = resources_of(fit=fit_of_device(H200, blocks_per_sm=5))

    assert because(slower(measured, COSTS, after)) == [
        "6 -> 5 blocks per SM",
        "the machine code, the plan, the driver and the protocol are the same",
    ]


def test_a_baseline_of_an_older_version_says_why_it_explains_nothing(measured: Measured) -> None:
    assert because(slower(measured, None, COSTS)) == [OLD_FILE]


def test_published_figures_are_no_file_of_an_older_version(measured: Measured) -> None:
    old = measured(THREE)
    old = replace(old, run=replace(old.run, source="published"))

    assert because(judge_one(measured(SLOW, resources=COSTS), old)) == []


@pytest.mark.parametrize("before", [None, COSTS])
def test_a_run_that_does_not_know_its_costs_explains_nothing(
    measured: Measured, before: Resources | None
) -> None:
    assert because(slower(measured, before, None)) == []


def test_an_unchanged_figure_needs_no_explanation(measured: Measured) -> None:
    old, new = measured(resources=OTHER_PLAN), measured(resources=COSTS)

    assert because(judge_one(new, old)) == []


def test_a_figure_without_a_baseline_has_no_explanation(measured: Measured) -> None:
    assert because(judge_one(measured(resources=COSTS), None)) == []


@pytest.mark.parametrize(("number", "more"), [(6, []), (7, ["and 1 more"])])
def test_few_differences_are_told_and_more_are_counted(
    measured: Measured, number: int, more: list[str]
) -> None:
    facts = tuple((f"fact_{place}", 1) for place in range(number))
    before = resources_of(kernel_of(code=None), fit=fit_of_device(H200, facts=()))
    after = resources_of(kernel_of(code=None), fit=fit_of_device(H200, facts=facts))

    assert because(slower(measured, before, after))[5:] == ["fact_5 none -> 1", *more]


# ---- two builds ------------------------------------------------------------------------------


def test_two_builds_that_are_the_same_do_not_speak_of_driver_and_protocol(
    measured: Measured,
) -> None:
    one = measured((8093,) * 3, resources=COSTS)

    assert because(paired(one, one)) == [f"the machine code and the plan are the same: {LOOK}"]


def test_two_builds_are_explained_by_what_differs(measured: Measured) -> None:
    old = measured((8000,) * 3, resources=COSTS)
    heavier = resources_of(fit=fit_of_device(H200, launch_of(smem=0)))
    new = replace(measured((8093,) * 3, resources=heavier), flags=("-G",))

    assert because(paired(new, old)) == [
        "dynamic shared bytes 16384 -> 0 per block",
        "compiler flags none -> -G",
        "the machine code is the same",
    ]


def test_two_builds_of_unknown_costs_blame_no_file(measured: Measured) -> None:
    new = measured((8093,) * 3, resources=COSTS)

    assert because(paired(new, measured((8000,) * 3))) == []


def test_kernels_are_named_where_there_are_several(measured: Measured) -> None:
    sums, tiles = kernel_of("sums", code=None), kernel_of("tiles", code=None)
    before = resources_of(sums, tiles)
    after = resources_of(sums, replace(tiles, registers_per_thread=48))

    assert because(slower(measured, before, after)) == ["registers 40 -> 48 per thread of tiles"]
