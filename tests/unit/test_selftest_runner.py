"""The selftest itself: green where every verdict is right, red and naming each that is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from pytest_rmsperf.checks import Failure, Stage
from pytest_rmsperf.judge.thresholds import PAIRED, STORED, Limit, Thresholds
from pytest_rmsperf.settings import Settings
from scripted_machine import TOLD, Scripted, planted_ns, selftest_on

# The sound kernel at two paces, and a delayed one whose median stays where it was, though it is
# slower in more than half of the turns.
TWO_PACES = (8000, 7000, 8000, 7000, 8000)
SLOWER_BY_TURNS = (9000, 8000, 7000, 8000, 7000)

LOST = Failure(Stage.TIME, "lost: it does not end\nmend it", fatal=True)

Run = Callable[..., tuple[list[str], bool]]


@pytest.fixture
def run(default_settings: Settings) -> Run:
    """Run the selftest on a scripted instrument: `run(Scripted(), against="HEAD")`."""
    protocol = replace(default_settings.protocol, blocks=len(TWO_PACES))
    return partial(selftest_on, replace(default_settings, thresholds=STORED, protocol=protocol))


def but(**failures: Failure | None) -> dict[str, Failure]:
    """What is told of the mistakes, with some of it replaced, or not told."""
    told = {**TOLD, **failures}
    return {name: failure for name, failure in told.items() if failure is not None}


def at_two_paces(**blocks: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Blocks of all variants that are slow and fast together, with some of them replaced."""
    paces = {
        name: tuple(one * device_ns // 8000 for one in TWO_PACES)
        for name, device_ns in planted_ns().items()
    }
    return {**paces, **blocks}


# ---- a CUDA device ---------------------------------------------------------------------------


def test_it_is_green_where_every_verdict_is_right(run: Run) -> None:
    lines, succeeded = run(Scripted())

    assert (lines[-1], succeeded) == ("selftest: 18 of 18 planted cases told right", True)


@pytest.mark.parametrize(
    ("instrument", "missed"),
    [
        (Scripted(told=but(sound=TOLD["wrong_element"])), "MISSED 16 of 20: nothing (check)"),
        (Scripted(told=but(wrong_element=None)), "MISSED 1 of 18: a wrong element (check)"),
        (Scripted(told=but(one_block_too_many=None)), "MISSED 1 of 18: one block too many (check)"),
        (Scripted(told=but(endless=None)), "MISSED 1 of 18: a barrier one block short (check)"),
        (Scripted(told=but(illegal_address=None)), "MISSED 1 of 18: an illegal address (check)"),
        (
            Scripted(sound_fails_after="illegal_address"),
            "MISSED 1 of 18: nothing, after each of these (check)",
        ),
        (
            Scripted(blocks=at_two_paces(twin=SLOWER_BY_TURNS)),
            "MISSED 1 of 18: no delay, in a twin (paired)",
        ),
        (Scripted(drifts=(7, 1.03)), "MISSED 1 of 17: no delay, in a twin (stored)"),
        (
            Scripted(device_ns={**planted_ns(), "delayed_88": 8000}),
            "MISSED 1 of 18: a delay of 88 clocks (paired)",
        ),
        (
            Scripted(device_ns={**planted_ns(), "delayed_176": 8000}),
            "MISSED 1 of 18: a delay of 176 clocks (paired)",
        ),
        (
            Scripted(device_ns={**planted_ns(), "delayed_352": 8000}),
            "MISSED 2 of 18: a delay of 352 clocks (stored), a delay of 352 clocks (paired)",
        ),
        (
            Scripted(blocks=at_two_paces(delayed_880=SLOWER_BY_TURNS)),
            "MISSED 1 of 18: a delay of 880 clocks (stored)",
        ),
        (
            Scripted(blocks=at_two_paces(delayed_1760=SLOWER_BY_TURNS)),
            "MISSED 1 of 18: a delay of 1760 clocks (stored)",
        ),
        (
            Scripted(blocks=at_two_paces(delayed_8800=SLOWER_BY_TURNS)),
            "MISSED 1 of 18: a delay of 8800 clocks (stored)",
        ),
    ],
    ids=lambda one: one.partition(": ")[2] if isinstance(one, str) else "",
)
def test_one_wrong_verdict_makes_it_red_and_is_named(
    run: Run, instrument: Scripted, missed: str
) -> None:
    lines, succeeded = run(instrument)

    assert lines[-2].startswith(f"selftest: {missed}")
    assert not succeeded


@pytest.mark.parametrize(
    "wrong",
    [
        Failure(Stage.COMPILE, TOLD["wrong_element"].message),
        Failure(Stage.NUMERICS, "wrong: largest error at index (3, 60045)"),
    ],
    ids=["of another stage", "at another index"],
)
def test_a_failure_that_is_another_one_tells_no_mistake(run: Run, wrong: Failure) -> None:
    lines, _ = run(Scripted(told=but(wrong_element=wrong)))

    assert lines[-2] == "selftest: MISSED 1 of 18: a wrong element (check)"


def test_a_delay_that_only_the_host_is_slower_for_is_missed(run: Run) -> None:
    delayed = {**planted_ns(), "delayed_1760": 8000}

    lines, _ = run(Scripted(device_ns=delayed, completion_ns={"delayed_1760": 40_000}))

    words = "a delay of 1760 clocks"
    assert lines[-2] == f"selftest: MISSED 2 of 18: {words} (stored), {words} (paired)"


def test_a_twin_that_the_host_is_slower_for_is_missed(run: Run) -> None:
    lines, _ = run(Scripted(completion_ns={"twin": 40_000}))

    words = "no delay, in a twin"
    assert lines[-2] == f"selftest: MISSED 2 of 18: {words} (stored), {words} (paired)"


def test_a_sound_kernel_whose_outputs_nobody_compared_is_not_right(run: Run) -> None:
    lines, _ = run(Scripted(leaves_out_numerics=True))

    assert lines[-2] == (
        "selftest: MISSED 2 of 18: nothing (check), nothing, after each of these (check)"
    )


def test_a_case_that_is_lost_while_it_is_timed_is_missed_in_both_modes(run: Run) -> None:
    lines, succeeded = run(Scripted(lost_while_timed={"delayed_88": LOST}))

    words = "a delay of 88 clocks"
    assert lines[-2] == f"selftest: MISSED 2 of 19: {words} (stored), {words} (paired)"
    assert not succeeded


def test_without_the_sound_kernels_time_everything_timed_is_missed(run: Run) -> None:
    lines, succeeded = run(Scripted(lost_while_timed={"sound": LOST}))

    assert lines[-2].startswith("selftest: MISSED 14 of 20: ")
    assert not succeeded


@pytest.mark.parametrize("session", [1, 12], ids=["the first of the baseline", "the last"])
def test_a_machine_that_is_busy_before_a_session_and_its_repetition_is_no_proof(
    run: Run, session: int
) -> None:
    lines, succeeded = run(Scripted(busy=range(session, session + 2)))

    assert any("invalid: the device was 90 % busy" in one for one in lines)
    assert not succeeded


def test_the_measured_size_of_a_delay_is_shown_in_percent_and_microseconds(run: Run) -> None:
    lines, _ = run(Scripted())

    (line,) = (one for one in lines if one.startswith("a delay of 352 clocks") and "paired" in one)
    assert "slower (+2.00 %, +0.160 us)" in line


def test_a_verdict_takes_two_rounds_against_a_baseline_of_two_others(run: Run) -> None:
    instrument = Scripted()

    run(instrument)

    assert len(instrument.measured) == 12


def test_all_cases_take_turns_in_every_session(run: Run) -> None:
    instrument = Scripted()

    run(instrument)

    assert {tuple(one) for one in instrument.measured} == {("null", "copy", *planted_ns())}


# ---- what is demanded ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sm_mhz", "demanded"), [(2200, True), (2201, False)], ids=["twice", "less than twice"]
)
def test_a_delay_is_demanded_from_twice_the_threshold_on(
    run: Run, sm_mhz: int, *, demanded: bool
) -> None:
    lines, _ = run(Scripted(sm_mhz=sm_mhz))

    (line,) = (one for one in lines if one.startswith("a delay of 88 clocks") and "paired" in one)
    assert line.endswith("yes") is demanded
    assert line.endswith(" -") is not demanded


def test_a_delay_below_the_threshold_is_shown_and_makes_nothing_red(run: Run) -> None:
    lines, succeeded = run(Scripted())

    (line,) = (one for one in lines if one.startswith("a delay of 88 clocks") and "stored" in one)
    assert "any" in line
    assert "unchanged (+0.50 %, +0.040 us)" in line
    assert succeeded


def test_a_clock_that_is_not_told_is_taken_for_a_high_one_that_demands_less(run: Run) -> None:
    lines, succeeded = run(Scripted(sm_mhz=None))

    assert (lines[-1], succeeded) == ("selftest: 16 of 16 planted cases told right", True)


def test_a_threshold_that_no_delay_reaches_twice_is_red_and_says_so(run: Run) -> None:
    wide = Thresholds(Limit(0.3, 50), STORED.completion)

    lines, succeeded = run(Scripted(), thresholds=wide)

    assert lines[-2] == "selftest: MISSED 1 of 15: a delay of 60.0 % (stored)"
    assert "the longest is 50.0 %: set a smaller threshold" in lines[-3]
    assert not succeeded


def test_the_threshold_in_force_is_the_stored_modes(run: Run) -> None:
    wide = Thresholds(Limit(0.02, 50), STORED.completion)

    lines, _ = run(Scripted(), thresholds=wide)

    assert lines[-1] == "selftest: 17 of 17 planted cases told right"


def test_the_threshold_in_force_is_the_paired_modes_beside_another_commit(run: Run) -> None:
    wide = Thresholds(Limit(0.004, 15), PAIRED.completion)

    lines, _ = run(Scripted(), thresholds=wide, against="HEAD")

    assert lines[-1] == "selftest: 17 of 17 planted cases told right"


def test_the_other_modes_threshold_is_that_of_the_preset(run: Run) -> None:
    lines, _ = run(Scripted(), preset="permissive")

    assert lines[-1] == "selftest: 16 of 16 planted cases told right"
