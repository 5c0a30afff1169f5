"""The regression suite of scale_rows, as a user of the plugin writes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rmsperf import Case, load_operator
from pytest_rmsperf.accuracy import Numerics
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.report.records import Finding
from pytest_rmsperf.residency import Residency

OPERATOR = load_operator(Path(__file__).parent / "scale_rows")

pytestmark = pytest.mark.rmsperf

each_case = pytest.mark.parametrize("case", OPERATOR.cases())


@each_case
def test_residency(case: Case, rmsperf_residency: Finding[Residency]) -> None:
    rmsperf_residency.require()


@each_case
def test_numerics(case: Case, rmsperf_numerics: Finding[Numerics]) -> None:
    rmsperf_numerics.require()


@each_case
def test_latency(case: Case, rmsperf_latency: Finding[Verdict]) -> None:
    rmsperf_latency.require()
