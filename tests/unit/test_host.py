"""A host that replays a graph more slowly than it launches a kernel."""

from __future__ import annotations

import pytest

from pytest_rmsperf.checks import SessionResult, TimedSession
from pytest_rmsperf.judge.health import why_unfit, why_unfit_to_store
from pytest_rmsperf.judge.host import slow_replay
from pytest_rmsperf.samples import Samples
from readings import AFTER, IDLE, LOADED


def null_completions(**ns: int) -> SessionResult:
    """A session on a healthy device with these host completions of the null kernel."""
    found = [
        Samples(f"probe/null-{submission}/1", 512, (507,) * 15, (one,) * 300)
        for submission, one in ns.items()
    ]
    timed = TimedSession({one.case_id: one for one in found}, during=(LOADED,) * 15)
    return SessionResult(timed, before=IDLE, after=AFTER)


def test_replay_that_is_slower_than_the_launch_by_more_than_half_shows_a_bad_host() -> None:
    assert slow_replay(null_completions(graph=12_001, direct=8_000)) == (
        "the host is in a bad state: the null kernel takes 12.00 us by graph replay, and 8.00 us "
        "by a direct launch, which is more work"
    )


def test_replay_that_is_slower_by_half_is_no_proof() -> None:
    assert slow_replay(null_completions(graph=12_000, direct=8_000)) is None


@pytest.mark.parametrize("submission", ["graph", "direct"])
def test_one_way_of_submission_alone_shows_nothing(submission: str) -> None:
    assert slow_replay(null_completions(**{submission: 30_000})) is None


def test_nothing_is_stored_from_a_host_in_a_bad_state_though_it_may_be_judged() -> None:
    bad = null_completions(graph=25_000, direct=8_500)
    sound = null_completions(graph=6_400, direct=8_500)

    refusal = why_unfit_to_store([sound, bad])

    assert refusal is not None
    assert refusal.startswith("the host is in a bad state: ")
    assert (why_unfit(bad), why_unfit_to_store([sound])) == (None, None)
