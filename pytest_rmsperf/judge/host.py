"""Whether the host submits work as it should, from the probes of a session. Pure."""

from __future__ import annotations

from pytest_rmsperf.cases import Submission
from pytest_rmsperf.checks import SessionResult
from pytest_rmsperf.measurement import middle
from pytest_rmsperf.probes import null_probe

# Replaying a graph of one kernel is less work than launching it: its host completion was 0.72 to
# 0.80 of the launch's in 20 sessions on an H200. In a bad state of the host, which lasted for whole
# sessions, it was more than twice that of the launch (20 to 30 us beside 8 to 9), and device times
# stood still.
SLOW_REPLAY_SHARE = 0.5


def slow_replay(session: SessionResult) -> str | None:
    """Say by how much the graph of the null kernel is slower than its direct launch, or None.

    It needs no other figures to compare with, but both ways of submission among the cases.
    """
    graph, direct = (
        _null_completion(session, one) for one in (Submission.GRAPH, Submission.DIRECT)
    )
    if graph is None or direct is None or graph <= (1 + SLOW_REPLAY_SHARE) * direct:
        return None
    return (
        f"the host is in a bad state: the null kernel takes {graph / 1000:.2f} us by graph replay, "
        f"and {direct / 1000:.2f} us by a direct launch, which is more work"
    )


def _null_completion(session: SessionResult, submission: Submission) -> int | None:
    samples = session.samples.get(null_probe(submission).id)
    return middle(samples.completion_ns) if samples is not None else None
