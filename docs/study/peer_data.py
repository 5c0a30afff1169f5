"""What other tools said of the same kernels, and what a threshold on their figures would find."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any

SOUND = "sound"
# One figure of one tool: by variant, one value in us per process.
Figures = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Peers:
    """What peers.py wrote: the head of the file, the figures by name, and who could not run."""

    head: dict[str, Any]
    figures: dict[str, Figures]
    errors: dict[str, str]


def peers(path: Path) -> Peers:
    """Read a file of peers.py."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    content = json.loads(raw)
    figures: dict[str, dict[str, list[float]]] = {}
    errors: dict[str, str] = {}
    for process in content["processes"]:
        if process["error"]:
            errors[process["tool"]] = process["error"].splitlines()[-1]
        for name, values in process["figures_us"].items():
            for variant, value in values.items():
                figures.setdefault(name, {}).setdefault(variant, []).append(value)
    return Peers(content["head"], dict(figures), errors)


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of one tool: the threshold without a false alarm, and what that finds."""

    median_us: float
    processes: int
    threshold: float
    found: dict[str, float]  # by variant, the share of pairs of processes


def between_processes(figures: Figures) -> Compared:
    """Compare each process with each other one, as a stored figure is with a new one.

    The threshold is the smallest that no two processes of the unchanged kernel exceed.
    """
    sound = figures[SOUND]
    pairs = list(permutations(range(len(sound)), 2))
    threshold = max(abs(sound[i] / sound[j] - 1) for i, j in pairs)
    return Compared(
        median(sound),
        len(sound),
        threshold,
        {
            variant: sum(values[i] / sound[j] - 1 > threshold for i, j in pairs) / len(pairs)
            for variant, values in figures.items()
            if variant != SOUND
        },
    )


def within_processes(sound: Sequence[float], changes: Mapping[str, Sequence[float]]) -> Compared:
    """Compare builds inside each process; `changes` has one share per process and variant.

    The threshold is the largest change of the twin, which is the same kernel compiled again.
    """
    threshold = max(abs(one) for one in changes["twin"])
    found = {
        variant: sum(one > threshold for one in values) / len(values)
        for variant, values in changes.items()
    }
    return Compared(median(sound), len(sound), threshold, found)
