"""The protocol: how cases are timed. Two measurements by different protocols are never compared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pytest_rmsperf.errors import SettingError

# Raised by one whenever a change of the measuring code moves figures on unchanged kernels.
PROTOCOL_VERSION = 2

# Fewer blocks say nothing about their own scatter, whatever the precision asked for.
LEAST_BLOCKS = 5


class Cache(str, Enum):
    """What a timed launch finds in the L2 cache."""

    WARM = "warm"  # what the launch before it, on the same inputs, left there
    COLD = "cold"  # nothing of its own: the buffers rotate through more than twice the L2


class StopReason(str, Enum):
    """Why a session took no more blocks."""

    BLOCKS = "blocks"  # as many as the protocol asks for
    PRECISION = "precision"  # every median is known well enough
    BUDGET = "budget"  # the time for one session is used up


@dataclass(frozen=True, slots=True)
class Protocol:
    """How cases are timed.

    Each session is a fresh process. In it the cases take turns: at most `blocks` times, in rotating
    order and every other time backwards, each case is timed as one graph of about `graph_us` of
    unrolled launches (device time) and as `completions_per_block` single submissions (host
    completion). A session ends earlier, but not before LEAST_BLOCKS, when the median of every case
    is known to `precision_ppm`, and in any case after `budget_ms` of timing.
    """

    version: int = PROTOCOL_VERSION
    sessions: int = 3
    blocks: int = 15
    completions_per_block: int = 20
    graph_us: int = 1000
    cache: Cache = Cache.WARM
    cooldown_ms: int = 0  # idle time before each turn
    precision_ppm: int = 500
    budget_ms: int = 60_000

    def __post_init__(self) -> None:
        for name in ("sessions", "blocks", "completions_per_block", "graph_us", "budget_ms"):
            value = getattr(self, name)
            if value < 1:
                raise SettingError(f"{name} must be at least 1, got {value}")
        for name in ("cooldown_ms", "precision_ppm"):
            value = getattr(self, name)
            if value < 0:
                raise SettingError(f"{name} must be at least 0, got {value}")

    def differs_from(self, other: Protocol) -> str | None:
        """Say which setting differs in a way that moves figures, or None.

        How many sessions there were and when they stopped only changes how sure a figure is.
        """
        for name in (
            "version",
            "blocks",
            "completions_per_block",
            "graph_us",
            "cache",
            "cooldown_ms",
        ):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return f"{name} {_word(theirs)} -> {_word(mine)}"
        return None


def _word(value: object) -> object:
    return value.value if isinstance(value, Enum) else value
