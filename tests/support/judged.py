"""Verdicts on one case for the tests of messages, judged or made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from costs import resources_of
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import Limit, Thresholds
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, judge_paired
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.report.messages import verdict_message

Measured = Callable[..., Measurement]
Judged = Callable[..., Verdict]

CASE_ID = "softmax/online-graph/16x1024"
THRESHOLDS = Thresholds(Limit(0.03, 50), Limit(0.25, 1000))
PAIRED = Thresholds(Limit(0.0025, 15), Limit(0.05, 500))
THREE = (8230, 8230, 8230)
SLOW = (9050, 9050, 9050)

COSTS = resources_of()
CASE_IDS = [case.id for case in OPERATOR.cases()]
ACCEPT = 'pytest --rmsperf-save -k "softmax/online-graph/16x1024"'


def lines_of(verdict: Verdict) -> list[str]:
    return verdict_message(verdict).splitlines()


def judge_one(
    current: Measurement | None, baseline: Measurement | None, *more: Measurement
) -> Verdict:
    """Judge one round, or two, against a baseline."""
    rounds = [Round(one) for one in (current, *more) if one is not None]
    return judge(CASE_ID, rounds, baseline, THRESHOLDS)


def with_status(measured: Measured, status: Status, *, is_paired: bool = False) -> Verdict:
    """A verdict without figures that were weighed."""
    one = measured()
    return Verdict(CASE_ID, status, "a reason", one, one, THRESHOLDS, is_paired=is_paired)


def paired(
    current: Measurement, other: Measurement, share: float = 0.0111, *, rounds: int = 2
) -> Verdict:
    """Judge a change of device time by this share in every session of so many rounds."""
    pairs = ((share, 0.0),) * len(current.sessions)
    twin = replace(other, case_id=f"{CASE_ID}@5e6f7a8")
    return judge_paired(CASE_ID, [Round(current, pairs)] * rounds, twin, PAIRED, missing="")
