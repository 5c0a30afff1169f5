"""The account of a run: every latency asked for was compared or waived, or the run is red."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rmsperf.judge.policy import COMPARED, Outcome, Policy, Status
from pytest_rmsperf.judge.verdict import Verdict

MOST_NAMED = 3
UNANSWERED = (
    "failed: nothing was compared, and {} asks for a GPU; run it on one, with baselines that were "
    "stored there: pytest --rmsperf-save"
)
OTHER_COMMIT = "compare with a commit that has these cases: pytest --rmsperf-against=REF"


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of the collected tests.

    `passed` are the cases every test of which ran and passed, `static_passed` those whose tests of
    static costs all did. `not_passed` counts tests that failed. Of tests that the selection left
    out, `deselected` counts those of latencies, `static_deselected` names the cases whose static
    cost one asks for, and `beyond_static` counts those that a static run cannot answer.
    """

    passed: frozenset[str] = frozenset()
    static_passed: frozenset[str] = frozenset()
    not_passed: int = 0
    deselected: int = 0
    static_deselected: frozenset[str] = frozenset()
    beyond_static: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """What became of each latency asked for.

    `asked` are case ids of collected tests. `verdicts` are those of this run, `failed` the cases
    that came to none, `waived` the reasons that markers give, `passed` the cases every test of
    which ran and passed. `deselected` counts latency tests that the selection left out.
    """

    asked: frozenset[str] = frozenset()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()
    waived: Mapping[str, str] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    policy: Policy = field(default_factory=Policy)
    deselected: int = 0
    last_failed: bool = False  # --lf drops tests at collection, where nobody counts them
    why_not: str | None = None  # why no latency was taken at all

    @property
    def compared(self) -> frozenset[str]:
        """The cases whose figures were held against others, and not waived."""
        found = {k for k, one in self.verdicts.items() if one.status in COMPARED}
        return (self.asked & found) - self.waived.keys()

    @property
    def excused(self) -> frozenset[str]:
        """The cases that a marker waives, or whose verdict the policy lets pass uncompared."""
        lets_pass = {
            k
            for k, one in self.verdicts.items()
            if one.status not in COMPARED and self.policy.outcome(one.status) is not Outcome.FAIL
        }
        return self.asked & (lets_pass | self.waived.keys())

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The cases that no passing test stands for: neither compared nor waived, sorted.

        Meant for a run whose tests all passed, where such a case was left out in silence.
        """
        answered = (self.compared & self.passed) | self.excused
        return tuple(sorted(self.asked - answered))

    def complaint(self) -> str | None:
        """Return the line that turns a run red though its tests passed, or None.

        Without a device nothing can be compared: that is for another rule to judge.
        """
        if self.why_not is not None:
            return None
        left_out = self.unanswered
        if left_out:
            return (
                f"failed: {len(left_out)} of {len(self.asked)} latencies were neither compared nor "
                f"waived: {first_named(left_out)}; run their tests, or waive them: "
                '@pytest.mark.rmsperf(waive="why")'
            )
        if self.asked and not self.compared and not self.waived.keys() >= self.asked:
            paired = any(one.is_paired for one in self.verdicts.values())
            remedy = OTHER_COMMIT if paired else "store baselines: pytest --rmsperf-save"
            return (
                f"failed: 0 of {len(self.asked)} latencies compared: the policy lets every verdict "
                f"pass, and so nothing was gated; {remedy}"
            )
        return None

    @property
    def line(self) -> str:
        """The line that ends every run: compared of asked, waived, left out, and why not all."""
        compared = len(self.compared)
        counts = Counter(one.status for k, one in self.verdicts.items() if k in self.asked)
        words = [f"{counts[one]} {one.value}" for one in Status if counts[one]]
        failed = len(self.failed & self.asked)
        words += [f"{failed} failed before"] if failed else []
        words += [f"{len(self.excused)} waived"] if self.excused else []
        reason = f": {self.why_not}" if compared < len(self.asked) and self.why_not else ""
        verdicts = f" ({', '.join(words)})" if words else ""
        left = f"; {self.deselected} more deselected" if self.deselected else ""
        left += "; --lf leaves out what passed before" if self.last_failed else ""
        return f"{compared} of {len(self.asked)} latencies compared{reason}{verdicts}{left}"


def first_named(case_ids: Sequence[str]) -> str:
    """Name the first of these cases, with dots for those that are left."""
    return ", ".join(case_ids[:MOST_NAMED]) + (" ..." if case_ids[MOST_NAMED:] else "")
