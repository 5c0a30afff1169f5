"""What would become a baseline: its losses, and what of the old baseline lives on in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from candidates import GRAPH, NOW, OLD_RUN, RUN, THEN, candidate, judged, measurement, stored
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.measurement import Anchor, Conditions, Measurement, Noise
from pytest_rmsperf.protocol import Protocol, StopReason
from pytest_rmsperf.storing.admission import admitted, is_unrepeated_gain, loss_of

NOISE = Noise(12, 4100, 9000, 81_000, 260_000)
OLD_ANCHOR = Anchor(7900, 12_900, "2026-10-01T12:00:00Z", "0000000")


# ---- losses ----------------------------------------------------------------------------------


def test_slower_case_is_a_loss_of_device_time() -> None:
    assert str(loss_of(candidate(stored(), 8800))) == f"{GRAPH} 8.00 -> 8.80 us (+10.0 %)"


def test_slower_host_completion_is_a_loss_of_that_figure() -> None:
    loss = loss_of(candidate(stored(), completion_ns=26_000))

    assert str(loss) == f"{GRAPH} host completion 13.00 -> 26.00 us (+100.0 %)"


@pytest.mark.parametrize("device_ns", [7200, 8000, 8239])
def test_case_that_is_faster_or_within_its_threshold_is_no_loss(device_ns: int) -> None:
    assert loss_of(candidate(stored(), device_ns)) is None


def test_case_without_a_baseline_is_no_loss() -> None:
    assert loss_of(candidate(None, 8800)) is None


def test_case_that_cannot_be_compared_is_no_loss() -> None:
    other = replace(stored(), run=replace(OLD_RUN, protocol=Protocol(version=1)))

    assert loss_of(candidate(other, 8800)) is None


@pytest.mark.parametrize(("device_ns", "is_loss"), [(8136, False), (8138, True)])
def test_small_steps_add_up_to_a_loss_beyond_the_threshold_above_the_anchor(
    *, device_ns: int, is_loss: bool
) -> None:
    in_between = replace(stored(8100), anchor=OLD_ANCHOR)  # 3 % above 7900 is 8137

    one = candidate(in_between, device_ns)

    assert (one.verdict.status, loss_of(one) is not None) == (Status.UNCHANGED, is_loss)


def test_loss_in_small_steps_says_since_when() -> None:
    in_between = replace(stored(8100), anchor=OLD_ANCHOR)

    loss = loss_of(candidate(in_between, 8200))

    assert str(loss) == f"{GRAPH} 7.90 -> 8.20 us (+3.8 %) in small steps since 2026-10-01"


def test_small_steps_of_host_completion_add_up_too() -> None:
    in_between = replace(stored(completion_ns=15_500), anchor=OLD_ANCHOR)

    loss = loss_of(candidate(in_between, completion_ns=16_200))  # 25 % above 12.9 is 16.13

    assert str(loss).startswith(f"{GRAPH} host completion 12.90 -> 16.20 us")


def test_noise_floor_of_a_case_widens_what_is_allowed_above_its_anchor() -> None:
    noisy = replace(NOISE, device_floor_ppm=50_000)
    in_between = replace(stored(8100), anchor=OLD_ANCHOR, noise=noisy)

    assert loss_of(candidate(in_between, 8200)) is None


def test_inconclusive_case_is_a_loss_where_its_figure_lies_beyond_the_threshold() -> None:
    scattered = measurement((7000, 7100, 8000, 8050, 9000, 9100), run=OLD_RUN)

    one = candidate(scattered, 8400)

    assert (one.verdict.status, loss_of(one) is not None) == (Status.INCONCLUSIVE, True)


# ---- gains -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rounds", "is_unrepeated"), [(1, True), (2, False)])
def test_gain_counts_only_when_a_second_round_repeats_it(
    *, rounds: int, is_unrepeated: bool
) -> None:
    one = candidate(stored(), 7200, rounds=rounds)

    assert (one.verdict.status, is_unrepeated_gain(one)) == (Status.FASTER, is_unrepeated)


def test_unchanged_case_of_one_round_is_no_unrepeated_gain() -> None:
    assert not is_unrepeated_gain(candidate(stored(), 8000, rounds=1))


def test_second_round_alone_is_stored_where_it_cleared_the_first() -> None:
    one = judged(stored(), clocked((7200,) * 3, 1900), clocked((8010,) * 3, 1980))

    new = admitted(one)

    assert one.verdict.status is Status.UNCHANGED
    assert (new.device_medians, [session.median_sm_mhz for session in new.run.conditions]) == (
        (8010, 8010, 8010),
        [1980, 1980, 1980],
    )


def test_both_rounds_are_stored_where_they_agree() -> None:
    one = judged(stored(), clocked((7990,) * 3, 1980), clocked((8010,) * 3, 1980))

    assert len(admitted(one).sessions) == 6


def clocked(device_ns: tuple[int, ...], sm_mhz: int) -> Measurement:
    """A measurement at this clock."""
    one = Conditions(15, StopReason.BLOCKS, median_sm_mhz=sm_mhz)
    return measurement(device_ns, run=replace(RUN, conditions=(one,) * len(device_ns)))


# ---- what lives on ---------------------------------------------------------------------------


def test_first_baseline_is_its_own_anchor() -> None:
    new = admitted(candidate(None))

    assert new.anchor == Anchor(8000, 13_000, NOW.date, NOW.commit)


@pytest.mark.parametrize(
    ("device_ns", "anchor"),
    [
        (7900, OLD_ANCHOR),
        (8100, OLD_ANCHOR),
        (7899, Anchor(7899, 13_000, NOW.date, NOW.commit)),
    ],
)
def test_anchor_is_the_best_figure_ever_accepted(device_ns: int, anchor: Anchor) -> None:
    old = replace(stored(), anchor=OLD_ANCHOR)

    assert admitted(candidate(old, device_ns)).anchor == anchor


def test_anchor_starts_anew_after_a_loss() -> None:
    old = replace(stored(), anchor=OLD_ANCHOR)

    assert admitted(candidate(old, 8800)).anchor == Anchor(8800, 13_000, NOW.date, NOW.commit)


def test_anchor_starts_anew_after_a_loss_in_small_steps() -> None:
    old = replace(stored(8100), anchor=OLD_ANCHOR)

    assert admitted(candidate(old, 8200)).anchor == Anchor(8200, 13_000, NOW.date, NOW.commit)


def test_baseline_without_an_anchor_is_one_itself() -> None:
    assert admitted(candidate(stored(), 8100)).anchor == Anchor(
        8000, 13_000, THEN.date, THEN.commit
    )


def test_note_and_noise_survive_new_figures() -> None:
    old = replace(stored(), note="accepted with the wider tile", noise=NOISE)

    new = admitted(candidate(old, 8100))

    assert (new.note, new.noise) == ("accepted with the wider tile", NOISE)


def test_new_note_replaces_the_old_one() -> None:
    one = candidate(replace(stored(), note="old"))

    new = admitted(replace(one, measured=replace(one.measured, note="new")))

    assert new.note == "new"


def test_another_protocol_keeps_the_note_and_forgets_noise_and_anchor() -> None:
    run = replace(OLD_RUN, protocol=Protocol(version=1))
    old = replace(stored(), run=run, note="kept", noise=NOISE, anchor=OLD_ANCHOR)

    new = admitted(candidate(old))

    assert (new.note, new.noise, new.anchor) == (
        "kept",
        None,
        Anchor(8000, 13_000, NOW.date, NOW.commit),
    )


def test_note_on_published_figures_does_not_pass_to_measured_ones() -> None:
    run = replace(OLD_RUN, source="published")
    old = replace(stored(), run=run, note="from a text")

    assert admitted(candidate(old)).note is None


def test_figures_are_those_that_were_measured() -> None:
    one = candidate(replace(stored(), note="old", noise=NOISE), 8100)

    new = admitted(one)

    assert (new.sessions, new.run) == (one.measurement.sessions, RUN)
