"""Limits on both sides of their floor, and the presets: how far each is from the default."""

from __future__ import annotations

import pytest

from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.judge.thresholds import PRESETS, Limit, Thresholds
from pytest_rmsperf.options import PRESET_NAMES

DEFAULT, STRICT, PERMISSIVE = (PRESETS[name] for name in ("default", "strict", "permissive"))


@pytest.mark.parametrize(
    ("before_ns", "limit"), [(10_000, 0.01), (5000, 0.01), (4999, 50 / 4999), (1, 50)]
)
def test_limit_is_the_share_or_the_floor_whichever_is_larger(before_ns: int, limit: float) -> None:
    assert Limit(0.01, 50).of(before_ns) == pytest.approx(limit)


@pytest.mark.parametrize(
    ("floor", "device", "completion"),
    [
        ((0.0, 0.0), 0.01, 0.25),
        ((0.02, 0.0), 0.02, 0.25),
        ((0.0, 0.3), 0.01, 0.3),
        ((0.02, 0.3), 0.02, 0.3),
    ],
)
def test_noise_raises_a_share_and_never_lowers_it(
    floor: tuple[float, float], device: float, completion: float
) -> None:
    raised = Thresholds(Limit(0.01, 50), Limit(0.25, 1000)).at_least(*floor)

    assert raised == Thresholds(Limit(device, 50), Limit(completion, 1000))


def test_presets_are_the_ones_of_the_option() -> None:
    assert tuple(PRESETS) == PRESET_NAMES


@pytest.mark.parametrize("mode", ["stored", "paired"])
@pytest.mark.parametrize("figure", ["device", "completion"])
@pytest.mark.parametrize("part", ["share", "floor_ns"])
def test_strict_is_below_the_default_and_permissive_above(
    mode: str, figure: str, part: str
) -> None:
    strict, usual, permissive = (
        getattr(getattr(getattr(one, mode), figure), part) for one in (STRICT, DEFAULT, PERMISSIVE)
    )

    assert 0 < strict < usual < permissive


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("figure", ["device", "completion"])
def test_pairs_are_judged_by_lower_limits_than_stored_figures(preset: object, figure: str) -> None:
    stored, paired = (getattr(getattr(preset, mode), figure) for mode in ("stored", "paired"))

    assert (paired.share < stored.share, paired.floor_ns < stored.floor_ns) == (True, True)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_host_completion_has_wider_limits_than_device_time(preset: object) -> None:
    modes = [getattr(preset, mode) for mode in ("stored", "paired")]

    assert all(one.device.share < one.completion.share for one in modes)


def test_strict_passes_only_what_is_known_to_be_as_it_was() -> None:
    passed = {one for one in Status if not STRICT.policy.fails(one)}

    assert passed == {Status.UNCHANGED}


def test_permissive_fails_only_what_is_known_to_be_slower_or_to_cost_more() -> None:
    failing = {one for one in Status if PERMISSIVE.policy.fails(one)}

    assert failing == {Status.SLOWER, Status.COSTLIER, Status.VIOLATED}


def test_permissive_hides_nothing_that_it_lets_pass() -> None:
    passed = {one for one in Status if PERMISSIVE.policy.outcome(one) is Outcome.PASS}

    assert passed == {Status.UNCHANGED}


def test_default_preset_has_the_default_policy() -> None:
    assert DEFAULT.policy == Policy()


def test_goals_lie_above_the_default_limits() -> None:
    stored, paired = DEFAULT.stored.device.of(8000), DEFAULT.paired.device.of(8000)

    assert (stored < 0.015, paired < 0.005) == (True, True)
