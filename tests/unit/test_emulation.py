"""What a result says of the emulation it comes from, and the schedules that are no schedules."""

from __future__ import annotations

import pytest

from pytest_rmsperf.emulation import AddressCheck, Emulation, Schedules
from pytest_rmsperf.errors import SettingError


@pytest.mark.parametrize(("first_seed", "count"), [(0, 1), (7, 4), (2**64 - 1, 1)])
def test_seeds_follow_the_first_one(first_seed: int, count: int) -> None:
    assert list(Schedules(first_seed, count).seeds) == [first_seed + i for i in range(count)]


@pytest.mark.parametrize(("first_seed", "count"), [(-1, 1), (0, 0), (2**64 - 1, 2)])
def test_schedules_without_a_seed_for_each_launch_are_refused(first_seed: int, count: int) -> None:
    with pytest.raises(SettingError, match=f"got seed {first_seed} and {count} schedules"):
        Schedules(first_seed, count)


@pytest.mark.parametrize(
    ("schedules", "text"),
    [
        (Schedules(7, 1), "1 schedule, seed 7"),
        (Schedules(0, 4), "4 schedules, seeds 0 to 3"),
        (Schedules(3, 2), "2 schedules, seeds 3 to 4"),
    ],
)
def test_schedules_say_their_seeds(schedules: Schedules, text: str) -> None:
    assert str(schedules) == text


def test_an_emulation_says_its_problem_and_schedules() -> None:
    assert str(Emulation("64x12292", Schedules(0, 4))) == (
        "emulated at 64x12292, 4 schedules, seeds 0 to 3"
    )


def test_checked_addresses_are_said_with_their_problems() -> None:
    addresses = AddressCheck(("16400x131072", "2x2"), launches=3)

    assert str(Emulation("3", Schedules(0, 1), addresses)) == (
        "emulated at 3, 1 schedule, seed 0; addresses at 16400x131072, 2x2"
    )
