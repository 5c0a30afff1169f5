"""What two sets of sessions say about a change, by tests of scipy.

Sessions are the units: samples inside one process agree with each other far better than processes
do, so counting samples would prove anything. A change must pass two tests, because each is blind
where the other sees. The rank test assumes no distribution, but calls any three sessions apart that
happen to be so. The interval knows how far sessions scatter, but believes in a bell curve; sessions
in a bad state are left out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, expm1, inf, isfinite, log, log1p, nan
from statistics import median
from typing import Protocol as Interface

from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.scatter import agreeing, half_width, outliers
from pytest_rmsperf.samples import Samples

# Chance of so clear a separation without any change: one round, and both rounds together. The
# second lets six sessions stand against six when one of the twelve is in a bad state (30 / 924).
FIRST_CHANCE = 0.05
CONFIRMED_CHANCE = 0.033
# Confidence that a change is one at all: it lies beyond this interval in 1 of 1000 on each side.
SURE = 0.998
# Confidence of what could hide behind an unchanged figure.
CONFIDENCE = 0.95
# Sessions that scatter so much that a change of this many limits could hide tell nothing.
HIDDEN_LIMITS = 3
# From this part of its limit on, an unchanged figure is said to be near it.
NEAR = 0.9
# A wider interval, as a logarithm, is as good as infinite.
MOST_WIDTH = 100
# Most sessions worth asking for in one round.
MOST_SESSIONS = 12
WITHIN = "within the threshold"


class Shift(Interface):
    """A change of one figure, seen in a first round of sessions and in a confirming one."""

    @property
    def rounds(self) -> tuple[int, int]:
        """Sessions in the first round and in the confirming one, which may be 0."""
        ...

    def share(self, start: int = 0, end: int | None = None) -> float:
        """Return the change seen in sessions start to end as a share; positive is slower."""
        ...

    def chance(self, *, slower: bool) -> float:
        """Return the chance of sessions so far on one side if nothing had changed."""
        ...

    def least_chance(self, sessions: int) -> float:
        """Return the smallest `chance` that so many sessions can have."""
        ...

    def hidden(self, limit: float, confidence: float = CONFIDENCE) -> float:
        """Return the share by which the truth may well lie beside `share`: what could hide.

        Sessions in another state, further off than `limit`, are left out. Inf where one session
        stands alone.
        """
        ...

    def outlying(self, limit: float) -> tuple[int, ...]:
        """Return which sessions are in another state: further off than `limit`, and than others."""
        ...

    def confirmation(self) -> Shift:
        """Return the confirming round as if it were the only one."""
        ...


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Session medians in ns, all above 0: stored, measured now, and measured to confirm."""

    before: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...] = ()

    @property
    def rounds(self) -> tuple[int, int]:
        return len(self.first), len(self.second)

    @property
    def after(self) -> tuple[int, ...]:
        return (*self.first, *self.second)

    def share(self, start: int = 0, end: int | None = None) -> float:
        before = median(self.before)
        # Not as a quotient less 1, which puts 101 ns beyond 1 % of 100 ns.
        return (median(self.after[start:end]) - before) / before

    def chance(self, *, slower: bool) -> float:
        from scipy.stats import mannwhitneyu

        side = "greater" if slower else "less"
        return float(mannwhitneyu(self.after, self.before, alternative=side, method="exact").pvalue)

    def least_chance(self, sessions: int) -> float:
        return 1 / comb(len(self.before) + sessions, sessions)

    def hidden(self, limit: float, confidence: float = CONFIDENCE) -> float:
        """By the interval of the ratio of geometric means, both of one variance."""
        groups = [[log(one) for one in side] for side in (self.before, self.after)]
        if min(len(one) for one in groups) < 2:
            return inf
        least = log1p(limit)
        width = half_width([agreeing(one, least) for one in groups], confidence)
        return expm1(min(width, MOST_WIDTH))

    def outlying(self, limit: float) -> tuple[int, ...]:
        return outliers([log(one) for one in self.after], log1p(limit))

    def confirmation(self) -> Unpaired:
        return Unpaired(self.before, self.second)


@dataclass(frozen=True, slots=True)
class Paired:
    """Each session's change as a share, of two builds that took turns in one process."""

    first: tuple[float, ...]
    second: tuple[float, ...] = ()

    @property
    def rounds(self) -> tuple[int, int]:
        return len(self.first), len(self.second)

    @property
    def shares(self) -> tuple[float, ...]:
        return (*self.first, *self.second)

    def share(self, start: int = 0, end: int | None = None) -> float:
        return median(self.shares[start:end])

    def chance(self, *, slower: bool) -> float:
        """By the order of the pairs alone.

        Of pairs equally far off, one on the other side counts as the furthest: scipy rounds the
        ranks that they share, 1.11 in favour of a change (2/64 for what should be 3/64).
        """
        from scipy.stats import wilcoxon

        found = sorted(
            (one for one in self.shares if one), key=lambda one: (abs(one), (one > 0) is not slower)
        )
        if not found:
            return 1.0
        ranks = [rank if one > 0 else -rank for rank, one in enumerate(found, 1)]
        side = "greater" if slower else "less"
        return float(wilcoxon(ranks, alternative=side, method="exact").pvalue)

    def least_chance(self, sessions: int) -> float:
        return 0.5**sessions

    def hidden(self, limit: float, confidence: float = CONFIDENCE) -> float:
        """By the interval of the mean change."""
        if len(self.shares) < 2:
            return inf
        return half_width([agreeing(self.shares, limit)], confidence)

    def outlying(self, limit: float) -> tuple[int, ...]:
        return outliers(self.shares, limit)

    def confirmation(self) -> Paired:
        return Paired(self.second)


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a shift amounts to, held against a limit (both as shares).

    `first` is the change in the first round alone. `share` is the one in both, or in the second
    alone where that cleared what the first had said. `outlying` are the places of the sessions,
    among those that `share` is of, that were in another state.
    """

    status: Status  # unchanged, faster, slower or inconclusive
    share: float
    limit: float
    why: str
    wants_confirmation: bool = False
    first: float = 0.0
    outlying: tuple[int, ...] = ()
    is_cleared: bool = False


def weigh(shift: Shift, limit: float) -> Weighed:
    """Hold a shift against a limit: it starts as inconclusive, and only evidence moves it.

    Beyond the limit in the first round, it is worth a second round of fresh sessions. With one,
    that round by itself must be beyond the limit on the same side, and both together apart from
    what was before by more than chance and by more than they scatter. ValueError when a figure is
    not finite.
    """
    share = shift.share()
    if not isfinite(share):
        raise ValueError(f"a change must be finite, got {share}")
    first, second = shift.rounds
    seen = [shift.share(0, first), *([shift.share(first)] if second else [])]
    found = Weighed(
        Status.INCONCLUSIVE,
        share,
        limit,
        "",
        wants_confirmation=not second and abs(share) > limit,
        first=seen[0],
        outlying=shift.outlying(limit),
    )
    if abs(share) <= limit:
        return _within(found, shift.hidden(limit))
    if any(abs(one) <= limit or (one > 0) is not (share > 0) for one in seen):
        return _at_odds(found, seen[1], shift.confirmation())
    doubt = _doubt(shift, limit)
    if doubt is not None:
        return replace(found, why=f"beyond the threshold, but {doubt}")
    return replace(found, status=Status.SLOWER if share > 0 else Status.FASTER)


def _doubt(shift: Shift, limit: float) -> str | None:
    """Say why a change may be none, or None: by the order of the sessions, or by their scatter."""
    share, sessions = shift.share(), sum(shift.rounds)
    allowed = CONFIRMED_CHANCE if shift.rounds[1] else FIRST_CHANCE
    if shift.least_chance(sessions) > allowed:
        return "so few sessions prove nothing"
    if shift.chance(slower=share > 0) > allowed:
        return "the sessions overlap"
    width = shift.hidden(limit, SURE)
    return None if width < abs(share) else f"the sessions scatter by {_percent(width)} either way"


def _within(found: Weighed, hidden: float) -> Weighed:
    if hidden == inf:
        return replace(found, why=f"{WITHIN}, but one session does not tell")
    if hidden > HIDDEN_LIMITS * found.limit:
        why = f"{WITHIN}, but the sessions scatter: {_percent(hidden)} could hide"
        return replace(found, why=why)
    near = ", near its limit" if found.share > NEAR * found.limit else ""
    return replace(found, status=Status.UNCHANGED, why=f"{WITHIN}{near}")


def _at_odds(found: Weighed, second: float, fresh: Shift) -> Weighed:
    """Weigh rounds of which one says so and the other does not.

    The code was the same in both. So a second round that leaves no room for a change beyond the
    limit clears what the first one said, and its sessions alone are the figure.
    """
    said = f"{100 * found.first:+.1f} % in the first, {100 * second:+.1f} % in the second"
    if abs(second) + fresh.hidden(found.limit) > found.limit:
        return replace(found, why=f"two rounds of sessions disagree: {said}")
    return replace(
        found,
        status=Status.UNCHANGED,
        share=second,
        why=f"cleared by a second round of sessions: {said}",
        outlying=fresh.outlying(found.limit),
        is_cleared=True,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 1 else "over 100 %"


def confirming_sessions(shift: Shift) -> int | None:
    """Return how many sessions a second round needs; None where the most of them prove nothing."""
    first, _ = shift.rounds
    at_least = min(first, MOST_SESSIONS)
    return next(
        (
            more
            for more in range(at_least, MOST_SESSIONS + 1)
            if shift.least_chance(first + more) <= CONFIRMED_CHANCE
        ),
        None,
    )


def paired_share(current: Sequence[int], other: Sequence[int]) -> float:
    """Return the median over blocks of current / other - 1; the blocks took turns.

    NaN when a figure of the other is 0 or less, which no clock can give.
    """
    if min(other) <= 0:
        return nan
    return median((mine - theirs) / theirs for mine, theirs in zip(current, other, strict=True))


def paired_shares(current: Samples, other: Samples) -> tuple[float, float]:
    """Return one session's change of device time and of host completion, block by block."""
    mine, theirs = (
        [round(median(block)) for block in one.completion_blocks()] for one in (current, other)
    )
    return paired_share(current.device_ns, other.device_ns), paired_share(mine, theirs)
