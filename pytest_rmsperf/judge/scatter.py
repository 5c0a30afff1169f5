"""How far the figures of sessions scatter, and which of them lie outside that."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from statistics import fmean, median

# A session off by so many deviations, and by more than its limit, is in another state. Of 168
# sessions of 56 cases on an H200, which scattered by 0.15 %, one was: off by 1.3 %.
FAR = 5
# The standard deviation of a normal distribution, in median absolute deviations.
NORMAL = 1.4826


def outliers(values: Sequence[float], least: float) -> tuple[int, ...]:
    """Return the places of values far from where most of them are; fewer than half can be.

    Far is more than `least`, and more than FAR median absolute deviations, scaled as for a normal
    distribution (the rule of Hampel, in Davies and Gather, The identification of multiple outliers,
    1993). Two values that differ do not say which of them is off.
    """
    if len(values) < 3:
        return ()
    centre = median(values)
    off = [abs(one - centre) for one in values]
    far = max(least, FAR * NORMAL * median(off))
    return tuple(place for place, one in enumerate(off) if one > far)


def agreeing(values: Sequence[float], least: float) -> list[float]:
    """Return the values without the outliers among them."""
    left_out = outliers(values, least)
    return [one for place, one in enumerate(values) if place not in left_out]


def half_width(groups: Sequence[Sequence[float]], confidence: float) -> float:
    """Return half of Student's interval for one mean, or for the difference of two.

    Both are taken to scatter alike, because without a change all sessions come from one
    distribution; apart, three sessions on a side leave as few as 2 degrees of freedom, and
    intervals too wide for anything. Inf where no group has two values.
    """
    freedom = sum(len(group) - 1 for group in groups)
    if freedom < 1:
        return inf
    from scipy.special import stdtrit  # Student's quantiles; scipy.stats.t takes 100 times as long

    squares = sum((one - fmean(group)) ** 2 for group in groups for one in group)
    error = sqrt(squares / freedom * sum(1 / len(group) for group in groups))
    return float(stdtrit(freedom, (1 + confidence) / 2)) * error
