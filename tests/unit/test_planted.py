"""What the tests on a device look for in a run's output is what the gate says there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planted import SLOWER
from pytest_rmsperf.judge.thresholds import PAIRED, STORED
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, judge_paired
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.report.messages import verdict_message

BEFORE_NS, AFTER_NS = (8000,) * 3, (8800,) * 3


def stored(now: Measurement, before: Measurement) -> Verdict:
    return judge("case", [Round(now)] * 2, before, STORED)


def paired(now: Measurement, before: Measurement) -> Verdict:
    rounds = [Round(now, ((0.1, 0.0),) * 3)] * 2
    return judge_paired("case", rounds, before, PAIRED, missing="")


@pytest.mark.parametrize("judged", [stored, paired])
def test_a_slower_device_time_is_found_by_the_words_that_tell_it(
    measured: Callable[..., Measurement], judged: Callable[..., Verdict]
) -> None:
    verdict = judged(measured(AFTER_NS), measured(BEFORE_NS))

    assert len(SLOWER.findall(f"before\n{verdict_message(verdict)}\nafter")) == 1
