"""Recorded sessions put before the gate's own judge, as often as they can be drawn.

A run of the gate is drawn as it happens: six sessions of a save, three of a check, and three more
when the judge asks for them. Sessions are taken in the order of their recording, so what drifts
between early and late ones is in the draw.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.judge.evidence import paired_shares
from pytest_rmsperf.judge.thresholds import PAIRED, STORED
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, judge_paired
from pytest_rmsperf.measurement import (
    Measurement,
    ProbeFigures,
    Run,
    SessionFigures,
    figures,
    probe_figures,
)
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Samples

SAVED, FIRST, SECOND = 6, 3, 3
CHECKED = FIRST + SECOND

Session = dict[str, Samples]


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What record.py wrote: the head of the file, and samples by case id of each session.

    Equal to itself alone, so that what is computed of one can be cached.
    """

    head: dict[str, Any]
    cases: tuple[str, ...]
    nominal_clocks: dict[str, int]
    sessions: tuple[Session, ...]

    @property
    def sizes(self) -> str:
        """Where and when it was recorded, for captions."""
        device = self.head["device"]["name"]
        return (
            f"{device}, driver {self.head['driver']}, CUDA {self.head['cuda']}, "
            f"{self.head['date'][:10]}"
        )


def recording(path: Path) -> Recording:
    """Read a file of record.py, compressed or not."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    content = json.loads(raw)
    return Recording(
        head=content["head"],
        cases=tuple(content["cases"]),
        nominal_clocks=content["nominal_clocks"],
        sessions=tuple(
            {case_id: _samples(case_id, one) for case_id, one in session["samples"].items()}
            for session in content["sessions"]
            if not session["missing"]
        ),
    )


def _samples(case_id: str, kept: dict[str, Any]) -> Samples:
    return Samples(
        case_id,
        kept["launches_per_graph"],
        tuple(kept["device_ns"]),
        tuple(kept["completion_median_ns"]),
    )


def case_named(found: Recording, variant: str) -> str:
    """Return the id of the one case of a variant."""
    (case_id,) = (one for one in found.cases if f"/{variant}-" in one)
    return case_id


# ---- draws ----------------------------------------------------------------------------------


def draws(count: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yield runs of `size` neighbouring session numbers of a ring of `count`, from each on."""
    for start in range(count):
        yield tuple((start + step) % count for step in range(size))


def stored_draws(count: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the sessions of a save and those of a check that shares none with it."""
    for saved in draws(count, SAVED):
        after = saved[-1] + 1
        for number in range((count - SAVED) // CHECKED):
            first = after + number * CHECKED
            yield saved, tuple((first + step) % count for step in range(CHECKED))


def judge_stored(
    found: Recording, before: str, after: str, saved: Sequence[int], checked: Sequence[int]
) -> Verdict:
    """Judge one draw as a check against a stored baseline does."""
    baseline = measurement(found, before, saved)
    first, second = (
        Round(measurement(found, after, part)) for part in (checked[:FIRST], checked[FIRST:])
    )
    verdict = judge(after, [first], baseline, STORED)
    return judge(after, [first, second], baseline, STORED) if verdict.more_sessions else verdict


def judge_pairs(found: Recording, before: str, after: str, checked: Sequence[int]) -> Verdict:
    """Judge one draw as --rmsperf-against does: both cases in the same sessions, in turns."""
    parts = (checked[:FIRST], checked[FIRST:])
    first, second = (
        Round(
            measurement(found, after, part),
            tuple(_changes(found, before, after, number) for number in part),
        )
        for part in parts
    )
    other = measurement(found, before, checked)
    verdict = judge_paired(after, [first], other, PAIRED, missing="")
    if not verdict.more_sessions:
        return verdict
    return judge_paired(after, [first, second], other, PAIRED, missing="")


# ---- records of the gate's kind -------------------------------------------------------------

RUN = Run(
    device=DeviceIdentity("recorded", 1, "0.0", 1),
    driver=None,
    cuda="",
    compiler=(),
    protocol=Protocol(),
    provenance=Provenance("", None, None, "", "", ()),
)


def measurement(found: Recording, case_id: str, numbers: Sequence[int]) -> Measurement:
    """Reduce sessions of one case to a measurement, as the gate does."""
    return Measurement(
        case_id=case_id,
        run=RUN,
        inputs="recorded",
        flags=(),
        sessions=tuple(_figures(found, case_id, number) for number in numbers),
        resources=None,
    )


# Each session stands in many draws, and quartiles are most of the work.
@cache
def _figures(found: Recording, case_id: str, number: int) -> SessionFigures:
    session = found.sessions[number]
    null, copy = (_probe(session, case_id, name) for name in ("null", "copy"))
    return figures(session[case_id], null=null, copy=copy)


@cache
def _changes(found: Recording, before: str, after: str, number: int) -> tuple[float, float]:
    session = found.sessions[number]
    return paired_shares(session[after], session[before])


def _probe(session: Session, case_id: str, name: str) -> ProbeFigures | None:
    """Return the probe submitted like this case; the null kernel, or the copy of as many bytes."""
    submission, _, label = case_id.rpartition("-")[2].partition("/")
    size = 1 if name == "null" else _copied_bytes(label)
    samples = session.get(f"probe/{name}-{submission}/{size}")
    return None if samples is None else probe_figures(samples)


def _copied_bytes(label: str) -> int:
    """Return the bytes of x and y, both float32, of a problem such as 16x131072."""
    rows, columns = (int(one) for one in label.split("x"))
    return 2 * 4 * rows * columns
