"""The protocol of a measurement, one session's figures, and the measurement of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.samples import Quartiles, Samples, quartiles

# Raised by one whenever a change of the measuring code moves figures on unchanged kernels.
PROTOCOL_VERSION = 1


@dataclass(frozen=True, slots=True)
class Protocol:
    """How cases are timed. Two measurements made by different protocols are never compared.

    Each session is a fresh process. In it the cases take turns: `blocks` times, in rotating order,
    each case is timed as one graph of about `graph_us` of unrolled launches (device time) and as
    `completions_per_block` single submissions (host completion).
    """

    version: int = PROTOCOL_VERSION
    sessions: int = 3
    blocks: int = 15
    completions_per_block: int = 20
    graph_us: int = 1000
    cache: str = "warm"

    def __post_init__(self) -> None:
        for name in ("sessions", "blocks", "completions_per_block", "graph_us"):
            value = getattr(self, name)
            if value < 1:
                raise SettingError(f"{name} must be at least 1, got {value}")

    def differs_from(self, other: Protocol) -> str | None:
        """Say which setting differs in a way that moves figures, or None.

        The number of sessions only changes how sure a figure is, so it may differ.
        """
        for name in ("version", "blocks", "completions_per_block", "graph_us", "cache"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return f"{name} {theirs} -> {mine}"
        return None


@dataclass(frozen=True, slots=True)
class ProbeFigures:
    """A probe in the same session by the same submission: medians in ns."""

    device_ns: int
    completion_ns: int


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """One case in one session, with the null kernel and the copy kernel beside it."""

    device: Quartiles | None  # None in published figures, which know no device time
    completion: Quartiles
    launches_per_graph: int
    null: ProbeFigures | None
    copy: ProbeFigures | None


@dataclass(frozen=True, slots=True)
class Resources:
    """The most expensive kernel of a case, kept beside its latency so a change can be explained."""

    registers_per_thread: int
    static_smem_bytes: int
    dynamic_smem_bytes: int
    local_bytes: int
    blocks_per_sm: int
    headroom_blocks: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """What all cases measured together share."""

    device: DeviceIdentity
    driver: str | None
    cuda: str
    compiler: tuple[tuple[str, str], ...]
    protocol: Protocol
    provenance: Provenance
    source: str = "measured"  # or "published": figures taken from a text


@dataclass(frozen=True, slots=True)
class Measurement:
    """All sessions of one case. An accepted measurement is a baseline."""

    case_id: str
    run: Run
    inputs: str
    flags: tuple[str, ...]
    sessions: tuple[SessionFigures, ...]
    resources: Resources | None
    note: str | None = None

    @property
    def device_ns(self) -> int | None:
        """Median over sessions of the session medians of device time per launch."""
        return middle([s.device.median_ns for s in self.sessions if s.device is not None])

    @property
    def completion_ns(self) -> int | None:
        """Median over sessions of the session medians of host completion."""
        return middle([s.completion.median_ns for s in self.sessions])


def middle(values: Sequence[int]) -> int | None:
    """Return the median, rounded to a whole number; None of nothing."""
    return round(median(values)) if values else None


def figures(
    samples: Samples, *, null: ProbeFigures | None, copy: ProbeFigures | None
) -> SessionFigures:
    """Reduce one session's samples of a case to what a baseline keeps."""
    return SessionFigures(
        device=quartiles(samples.device_ns) if samples.device_ns else None,
        completion=quartiles(samples.completion_ns),
        launches_per_graph=samples.launches_per_graph,
        null=null,
        copy=copy,
    )


def probe_figures(samples: Samples) -> ProbeFigures:
    """Reduce one session's samples of a probe to its two medians."""
    return ProbeFigures(
        device_ns=quartiles(samples.device_ns).median_ns,
        completion_ns=quartiles(samples.completion_ns).median_ns,
    )
