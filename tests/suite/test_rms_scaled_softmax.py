"""The regression suite of the bundled operator: every variant, submission and problem size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_rmsperf import Case
from pytest_rmsperf.accuracy import Numerics
from pytest_rmsperf.kernels.rms_scaled_softmax import OPERATOR
from pytest_rmsperf.report.records import Finding
from pytest_rmsperf.resources import Residency
from pytest_rmsperf.verdict import Verdict

pytestmark = pytest.mark.rmsperf

each_case = pytest.mark.parametrize("case", OPERATOR.cases())


@each_case
def test_launches_that_wait_on_blocks_are_resident(
    case: Case, rmsperf_residency: Finding[Residency]
) -> None:
    rmsperf_residency.require()


@each_case
def test_outputs_match_the_torch_module(case: Case, rmsperf_numerics: Finding[Numerics]) -> None:
    rmsperf_numerics.require()


@each_case
def test_latency_holds_against_the_baseline(case: Case, rmsperf_latency: Finding[Verdict]) -> None:
    rmsperf_latency.require()


def test_no_stored_case_is_stale(rmsperf_no_stale: Callable[[tuple[Case, ...]], None]) -> None:
    rmsperf_no_stale(OPERATOR.cases())
