"""The account of static costs: each asked for was compared, and none got worse without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rmsperf.accounting import OTHER_COMMIT, first_named
from pytest_rmsperf.device.profiles import DeviceProfile
from pytest_rmsperf.judge.cost import CostVerdict, cost_outcome
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.report.cost_messages import cost_headline
from pytest_rmsperf.report.header import named_devices
from pytest_rmsperf.report.messages import counted
from pytest_rmsperf.storing.static_store import SAVE

# What a suite is told of though no test asks; what is missing or incomparable is no loss by itself.
LOSSES = frozenset({Status.VIOLATED, Status.COSTLIER, Status.CHANGED})
ADD_FIXTURE = "name the fixture in a test's signature: def test_cost(case, rmsperf_static)"


@dataclass(frozen=True, slots=True)
class CostAccount:
    """What became of each static cost.

    `asked` are case ids of tests that were to run, `verdicts` those of all cases that were looked
    at, asked for or not. `checked` are the cases that the run came to, `failed` those that got no
    verdict, `passed` those whose tests of costs ran and passed, `deselected` those a test of whose
    cost the selection left out.
    `is_alone` says that the run is for static costs and nothing else, `is_of_cases` that some test
    of it has a case, and `tests_left_out` how many it cannot answer.
    """

    asked: frozenset[str] = frozenset()
    verdicts: Mapping[str, CostVerdict] = field(default_factory=dict)
    checked: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    deselected: frozenset[str] = frozenset()
    policy: Policy = field(default_factory=Policy)
    devices: Sequence[DeviceProfile] = ()
    is_alone: bool = False
    is_of_cases: bool = False
    tests_left_out: int = 0
    last_failed: bool = False  # --lf drops tests at collection, where nobody counts them

    @property
    def inapplicable(self) -> frozenset[str]:
        """The cases that no device of interest is meant for: there is nothing to compare."""
        return (self.asked & self.checked) - self.verdicts.keys() - self.failed

    @property
    def compared(self) -> frozenset[str]:
        """The cases that were held against a baseline on all devices of interest."""
        return self.asked & {k for k, one in self.verdicts.items() if one.is_compared}

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The cases that no passing test stands for, sorted; for a run whose tests all passed."""
        lets_pass = {
            k
            for k, one in self.verdicts.items()
            if not one.is_compared and cost_outcome(one, self.policy) is not Outcome.FAIL
        }
        answered = (self.compared & self.passed) | lets_pass | self.inapplicable
        return tuple(sorted(self.asked - answered))

    @property
    def unasked(self) -> tuple[CostVerdict, ...]:
        """The losses that would fail a test, and that no collected test asks about."""
        return tuple(
            one
            for k, one in self.verdicts.items()
            if k not in self.asked | self.deselected
            and one.status in LOSSES
            and cost_outcome(one, self.policy) is Outcome.FAIL
        )

    def complaints(self, *, saves: bool = False) -> Iterator[str]:
        """Yield the lines that turn a run red though its tests passed.

        A run that `saves` need not compare what it accepts.
        """
        if not saves:
            yield from self._not_compared()
        if self.is_alone and not self.asked and (self.is_of_cases or self.tests_left_out):
            yield f"failed: 0 static costs compared: no selected test asks for one; {ADD_FIXTURE}"
        losses = self.unasked
        if losses:
            first, more = losses[0], len(losses) - 1
            others = f", and {counted(more, 'more case')}" if more else ""
            yield (
                f"failed: {first.case_id} is {cost_headline(first)}{others}; no test asks for "
                f"that; {ADD_FIXTURE}"
            )

    def _not_compared(self) -> Iterator[str]:
        left_out = self.unanswered
        if left_out:
            yield (
                f"failed: {len(left_out)} of {len(self.asked)} static costs were not compared: "
                f"{first_named(left_out)}; run their tests, or leave them out by -k"
            )
        elif self.asked and not self.compared:
            paired = any(one.is_paired for one in self.verdicts.values())
            remedy = OTHER_COMMIT if paired else f"store baselines: {SAVE}"
            yield (
                f"failed: 0 of {len(self.asked)} static costs compared, and so nothing was gated; "
                f"{remedy}"
            )

    @property
    def line(self) -> str | None:
        """The line for the end of a run: compared of asked, where, and why not all; or None.

        None where nobody asked and the run is for other things.
        """
        if not self.asked and not self.is_alone:
            return None
        counts = Counter(one.status for k, one in self.verdicts.items() if k in self.asked)
        words = [f"{counts[one]} {one.value}" for one in Status if counts[one]]
        failed = len(self.failed & self.asked - self.verdicts.keys())
        words += [f"{failed} failed before"] if failed else []
        words += [f"{len(self.inapplicable)} not meant for them"] if self.inapplicable else []
        verdicts = f" ({', '.join(words)})" if words else ""
        more = len(self.deselected - self.asked)
        left = f"; {more} more deselected" if more else ""
        left += "; --lf leaves out what passed before" if self.last_failed else ""
        return (
            f"{len(self.compared)} of {len(self.asked)} static costs compared{verdicts} "
            f"on {named_devices(self.devices)}{left}"
        )
