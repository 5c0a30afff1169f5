"""Work that takes the place of the tests."""

from __future__ import annotations

import pytest

from pytest_rmsperf.equipment import instrument_settings
from pytest_rmsperf.errands import Errand
from pytest_rmsperf.settings import Settings


@pytest.mark.parametrize("well", [True, False])
def test_errand_keeps_what_its_work_says(*, well: bool) -> None:
    errand = Errand("try", lambda _: (["one line"], well))

    errand.run(lambda _: None)

    assert (errand.lines, errand.succeeded) == (["one line"], well)


def test_errand_that_did_not_run_has_not_succeeded() -> None:
    assert not Errand("try", lambda _: ([], True)).succeeded


def test_work_of_an_errand_says_how_far_it_has_come() -> None:
    said: list[str] = []

    def work(say: object) -> tuple[list[str], bool]:
        assert callable(say)
        say("half done")
        return [], True

    Errand("try", work).run(said.append)

    assert said == ["half done"]


@pytest.mark.parametrize(("argument", "count"), [("--rmsperf-selftest", 0), ("--rmsperf", 1)])
def test_faults_of_a_selftest_are_held_against_no_device_of_interest(
    pytester: pytest.Pytester, default_settings: Settings, argument: str, count: int
) -> None:
    found = instrument_settings(pytester.parseconfig(argument), default_settings)

    assert len(found.devices) == count
