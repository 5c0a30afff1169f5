"""The fixtures a test author uses: each answers one question about the test's case.

Kept apart from the hooks, which they share the gate with through `config.stash`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rmsperf.accuracy import Numerics
    from pytest_rmsperf.cases import Arrays, Case
    from pytest_rmsperf.environment import DeviceRecord
    from pytest_rmsperf.gate import Gate
    from pytest_rmsperf.judge.cost import CostVerdict
    from pytest_rmsperf.judge.ordering import Ordered, Ordering
    from pytest_rmsperf.judge.verdict import Verdict
    from pytest_rmsperf.report.records import CaseReport, Finding
    from pytest_rmsperf.residency import Residency

    Launch = Callable[..., Finding[Arrays]]

GATE: pytest.StashKey[Gate] = pytest.StashKey()


@pytest.fixture
def rmsperf_report(request: pytest.FixtureRequest) -> CaseReport:
    """Everything known about the test's case; the test must be parametrized over cases."""
    case = case_of(request.node)
    if case is None:
        raise pytest.UsageError(
            f"{request.node.nodeid} asks for a fixture of the gate but has no case; parametrize "
            'it: @pytest.mark.parametrize("case", OPERATOR.cases())'
        )
    return gate_of(request).report(case)


@pytest.fixture
def rmsperf_residency(rmsperf_report: CaseReport) -> Finding[Residency]:
    """The residency of the case's launches; `.require()` fails the test when one does not fit."""
    return rmsperf_report.residency()


@pytest.fixture
def rmsperf_static(rmsperf_report: CaseReport) -> Finding[CostVerdict]:
    """The verdict on what the compiled case costs, on all devices of interest; needs no device.

    `.require()` fails the test when one of them cannot run it, or when it costs otherwise than was
    accepted.
    """
    return rmsperf_report.static()


@pytest.fixture
def rmsperf_numerics(rmsperf_report: CaseReport) -> Finding[Numerics]:
    """The case's outputs against the reference; `.require()` fails the test when one is wrong.

    Without a CUDA device they are the emulated device's, and the answer says so.
    """
    return rmsperf_report.numerics()


@pytest.fixture
def rmsperf_latency(rmsperf_report: CaseReport) -> Finding[Verdict]:
    """The verdict on the case's latency; `.require()` fails the test when it does not hold."""
    return rmsperf_report.latency()


@pytest.fixture
def rmsperf_ordering(request: pytest.FixtureRequest) -> Finding[Ordered]:
    """Whether the test's ordering holds; `.require()` fails the test when it is violated.

    The test must be parametrized over orderings: the cases they name are timed for it.
    """
    ordering = ordering_of(request.node)
    if ordering is None:
        raise pytest.UsageError(
            f"{request.node.nodeid} asks for rmsperf_ordering but has no ordering; parametrize it: "
            '@pytest.mark.parametrize("ordering", [Ordering(fast, slow, ratio=1.05)])'
        )
    return gate_of(request).ordered(ordering)


@pytest.fixture
def rmsperf_benchmark(request: pytest.FixtureRequest, rmsperf_report: CaseReport) -> None:
    """Show the case's host completion samples in pytest-benchmark, which must be installed.

    Ask for it beside `rmsperf_latency`; a case that was not timed shows nothing.
    """
    from pytest_rmsperf.report.benchmark import ReplayClock, replay

    samples_ns = gate_of(request).completions_ns(rmsperf_report.case_id)
    if samples_ns:
        clock = ReplayClock()
        request.node.add_marker(pytest.mark.benchmark(timer=clock))
        benchmark = request.getfixturevalue("benchmark")
        replay(benchmark, clock, samples_ns, rmsperf_case=rmsperf_report.case_id)


@pytest.fixture
def rmsperf_device(request: pytest.FixtureRequest) -> Finding[DeviceRecord]:
    """The CUDA device of this run; `.require()` skips, or fails where a GPU was asked for."""
    return gate_of(request).device()


@pytest.fixture
def rmsperf_launch(request: pytest.FixtureRequest) -> Launch:
    """Launch a case once on arrays of your own: `rmsperf_launch(case, {"x": x}).require()["y"]`.

    A keyword `problem` launches the variant on another problem than the case's. Without a CUDA
    device the launch is emulated, on that very problem.
    """
    return gate_of(request).launch


@pytest.fixture
def rmsperf_no_stale(request: pytest.FixtureRequest) -> Callable[[tuple[Case, ...]], None]:
    """Fail when a baseline of any device or arch holds a case that is not among those given.

    With --rmsperf-save such cases are removed instead.
    """
    return partial(gate_of(request).require_no_stale, test=request.node.name)


def case_of(item: pytest.Item) -> Case | None:
    """Return the case a test is parametrized over, or None."""
    return next((case for case in map(as_case, _parameters(item)) if case is not None), None)


def ordering_of(item: pytest.Item) -> Ordering | None:
    """Return the ordering a test is parametrized over, or None."""
    return next((one for one in map(as_ordering, _parameters(item)) if one is not None), None)


def as_case(value: object) -> Case | None:
    """Return the value if it is a case; where nobody imported cases, there is none."""
    cases = sys.modules.get("pytest_rmsperf.cases")
    return value if cases is not None and isinstance(value, cases.Case) else None


def as_ordering(value: object) -> Ordering | None:
    """Return the value if it is an ordering; where nobody imported orderings, there is none."""
    ordering = sys.modules.get("pytest_rmsperf.judge.ordering")
    return value if ordering is not None and isinstance(value, ordering.Ordering) else None


def _parameters(item: pytest.Item) -> Iterable[object]:
    callspec = getattr(item, "callspec", None)
    return callspec.params.values() if callspec else ()


def gate_of(request: pytest.FixtureRequest) -> Gate:
    """Return the gate of this run; a test that reaches for it without one is a usage error."""
    gate = request.config.stash.get(GATE, None)
    if gate is None:
        raise pytest.UsageError(
            f"{request.node.nodeid} uses a fixture of the gate but is not marked rmsperf; "
            "mark it and run: pytest --rmsperf"
        )
    return gate
