"""What the report knows of one case, and the four answers a test can ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_rmsperf.accuracy import Numerics
from pytest_rmsperf.checks import CheckedCase, Failure, Stage
from pytest_rmsperf.errors import GateFailure, NotRun
from pytest_rmsperf.judge.cost import CostVerdict
from pytest_rmsperf.judge.verdict import Verdict
from pytest_rmsperf.residency import Residency

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding(Generic[T]):
    """One answer about a case: a value, or why there is none. `message` fails the test."""

    value: T | None
    failure: str | None = None
    not_run: str | None = None

    def require(self) -> T:
        """Return the value when the gate is content with it.

        Raises GateFailure with the whole message when it is not, and NotRun when there is nothing
        to judge here.
        """
        if self.failure is not None:
            raise GateFailure(self.failure)
        if self.value is None:
            raise NotRun(self.not_run or "not run")
        return self.value


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case from compilation to verdict."""

    checked: CheckedCase
    failure: Failure | None  # the first stage that failed, timing included
    verdict: Verdict | None
    latency_message: str | None  # the whole message when the verdict fails the build
    not_timed: str | None  # why no latency was taken, such as: no CUDA device
    not_launched: str | None  # why nothing was launched either; None where it was emulated
    other: CheckedCase | None = None  # the same case of the commit it is compared with
    cost: CostVerdict | None = None
    cost_message: str | None = None  # the whole message when that verdict fails the build

    @property
    def case_id(self) -> str:
        return self.checked.case_id

    def residency(self) -> Finding[Residency]:
        """Whether every launch fits; a case that does not compile or plan fails here too."""
        if self.failure is not None and self.failure.stage in _BEFORE_LAUNCH:
            return Finding(None, failure=self.failure.message)
        return Finding(self.checked.residency, not_run=self.not_launched)

    def static(self) -> Finding[CostVerdict]:
        """Whether the case costs what was accepted, on all devices of interest.

        A launch that fails later is not this one's failure.
        """
        if self.cost is not None:
            return Finding(self.cost, failure=self.cost_message)
        if self.failure is not None:
            return Finding(None, failure=self.failure.message)
        return Finding(None, not_run="none of the devices of interest is one that it is meant for")

    def numerics(self) -> Finding[Numerics]:
        """Whether every output is right; any earlier failure is this one's too."""
        if self.failure is not None and self.failure.stage is not Stage.TIME:
            return Finding(None, failure=self.failure.message)
        return self._found(self.checked.numerics, "rmsperf_numerics", self.not_launched)

    def latency(self) -> Finding[Verdict]:
        """Whether the latency holds; a case that failed anywhere before has none."""
        if self.failure is not None:
            return Finding(None, failure=self.failure.message)
        if self.latency_message is not None:
            return Finding(self.verdict, failure=self.latency_message)
        return self._found(self.verdict, "rmsperf_latency", self.not_timed)

    def _found(self, value: T | None, fixture: str, not_run: str | None) -> Finding[T]:
        """Return a value; where there could be one and is none, nobody knew that it was wanted."""
        if value is None and not_run is None:
            return Finding(
                None,
                failure=f"not measured: no test of {self.case_id} has {fixture} among its "
                "arguments, so nobody asked for it\n"
                f"name the fixture {fixture} in the test's signature",
            )
        return Finding(value, not_run=not_run)


_BEFORE_LAUNCH = frozenset({Stage.COMPILE, Stage.PLAN, Stage.RESIDENCY})
