"""All possible verdicts, and the one table from a verdict to what becomes of the test."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Status(str, Enum):
    """All possible answers; doubt is one of them."""

    UNCHANGED = "unchanged"
    FASTER = "faster"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"
    MISSING = "missing"  # nothing to compare with
    INCOMPARABLE = "incomparable"  # measured on another device, or in another way
    INVALID = "invalid"  # no samples, impossible ones, or a machine in a bad state
    STALE = "stale"  # stored, and no test asks for it
    # Of what a compiled kernel costs, beside unchanged, missing and incomparable:
    VIOLATED = "violated"  # a device of interest cannot run it; no policy lets that pass
    COSTLIER = "costlier"  # fewer blocks per SM, less headroom, or spills
    CHANGED = "changed"  # another plan or launch bounds, and no worse by itself
    CHEAPER = "cheaper"


class Outcome(str, Enum):
    """What becomes of a test whose case has some verdict."""

    FAIL = "fail"
    WARN = "warn"  # the test passes, and the end of the run says so
    PASS = "pass"


COMPARED = frozenset(
    {
        Status.UNCHANGED,
        Status.FASTER,
        Status.SLOWER,
        Status.INCONCLUSIVE,
        Status.COSTLIER,
        Status.CHANGED,
        Status.CHEAPER,
    }
)

# A gate that fails on doubt is switched off, so doubt passes and is counted; one that compares
# nothing must not pass.
DEFAULT_OUTCOMES = {
    Status.UNCHANGED: Outcome.PASS,
    Status.FASTER: Outcome.WARN,
    Status.SLOWER: Outcome.FAIL,
    Status.INCONCLUSIVE: Outcome.WARN,
    Status.MISSING: Outcome.FAIL,
    Status.INCOMPARABLE: Outcome.FAIL,
    Status.INVALID: Outcome.FAIL,
    Status.STALE: Outcome.FAIL,
    Status.VIOLATED: Outcome.FAIL,
    Status.COSTLIER: Outcome.FAIL,
    Status.CHANGED: Outcome.FAIL,
    Status.CHEAPER: Outcome.WARN,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The outcome of each verdict: the default table with some entries replaced."""

    replaced: tuple[tuple[Status, Outcome], ...] = field(default=())

    def outcome(self, status: Status) -> Outcome:
        """Return what becomes of a test with this verdict."""
        return {**DEFAULT_OUTCOMES, **dict(self.replaced)}[status]

    def fails(self, status: Status) -> bool:
        """Say whether this verdict fails a test."""
        return self.outcome(status) is Outcome.FAIL

    def replacing(self, entries: tuple[tuple[Status, Outcome], ...]) -> Policy:
        """Return the policy with further entries replaced; later ones win."""
        return Policy((*self.replaced, *entries))

    def describe(self) -> str:
        """The entries that differ from the default, such as `missing=warn`; empty for none."""
        changed = {
            status: outcome
            for status, outcome in dict(self.replaced).items()
            if outcome is not DEFAULT_OUTCOMES[status]
        }
        return ", ".join(f"{status.value}={outcome.value}" for status, outcome in changed.items())


def parse_policy(text: str) -> tuple[tuple[Status, Outcome], ...]:
    """Read `missing=warn,faster=fail`; ValueError names the entry that cannot be read.

    `violated` is no verdict of a policy: what a device of interest cannot run is mended, or the
    device is none of interest.
    """
    statuses = {one.value: one for one in Status if one is not Status.VIOLATED}
    outcomes = {one.value: one for one in Outcome}
    entries = []
    for entry in text.replace(" ", "").split(","):
        status, _, outcome = entry.partition("=")
        if status not in statuses or outcome not in outcomes:
            raise ValueError(
                f"{entry!r} is not VERDICT=OUTCOME; verdicts are {', '.join(statuses)}; "
                f"outcomes are {', '.join(outcomes)}"
            )
        entries.append((statuses[status], outcomes[outcome]))
    return tuple(entries)
