"""One session's figures of a case, and the measurement of a case: all its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from pytest_rmsperf.costs import Resources
from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.protocol import Protocol, StopReason
from pytest_rmsperf.samples import Quartiles, Samples, Timing, quartiles

# Clocks event reasons under which a clock is what was asked for.
HARMLESS_REASONS = frozenset({"gpu_idle", "applications_clocks_setting", "sync_boost"})


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
    timing: Timing = Timing.GRAPH


@dataclass(frozen=True, slots=True)
class Conditions:
    """The device and the course of one session, from all readings before, during and after it.

    What NVML did not tell is None. `clocks_event_reasons` are all that were seen.
    """

    blocks: int
    stop_reason: StopReason
    least_sm_mhz: int | None = None
    median_sm_mhz: int | None = None
    most_sm_mhz: int | None = None
    max_sm_mhz: int | None = None  # what the device can run at
    memory_mhz: int | None = None
    most_power_mw: int | None = None
    most_temperature_c: int | None = None
    clocks_event_reasons: tuple[str, ...] | None = None

    @property
    def locked_sm_mhz(self) -> int | None:
        """The clock that the SM seems to be held at below its highest; None when it floats.

        A clock that a power or heat limit holds down is not locked.
        """
        readings = {self.least_sm_mhz, self.median_sm_mhz, self.most_sm_mhz}
        clock, *others = readings
        held = set(self.clocks_event_reasons or ()) - HARMLESS_REASONS
        if others or held or clock is None or self.max_sm_mhz is None:
            return None
        return clock if clock < self.max_sm_mhz else None


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
    power_limit_mw: int | None = None
    conditions: tuple[Conditions, ...] = ()  # one per session


@dataclass(frozen=True, slots=True)
class Anchor:
    """The best figure ever accepted for a case, since it was last made slower on purpose."""

    device_ns: int
    completion_ns: int
    date: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class Noise:
    """What sessions of an unchanged case were seen to differ by, in millionths of its figure.

    The floor is the change that two measurements of the gate's size stay within; a change of the
    detectable size is found in 99 of 100 runs.
    """

    sessions: int
    device_floor_ppm: int
    device_detectable_ppm: int
    completion_floor_ppm: int
    completion_detectable_ppm: int


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
    anchor: Anchor | None = None
    noise: Noise | None = None

    @property
    def device_ns(self) -> int | None:
        """Median over sessions of the session medians of device time per launch."""
        return middle(self.device_medians)

    @property
    def completion_ns(self) -> int | None:
        """Median over sessions of the session medians of host completion."""
        return middle(self.completion_medians)

    @property
    def device_medians(self) -> tuple[int, ...]:
        """The session medians of device time, in order of sessions."""
        return tuple(s.device.median_ns for s in self.sessions if s.device is not None)

    @property
    def completion_medians(self) -> tuple[int, ...]:
        """The session medians of host completion, in order of sessions."""
        return tuple(s.completion.median_ns for s in self.sessions)

    @property
    def is_host_bound(self) -> bool:
        """Whether more than half of host completion is not device time."""
        device, completion = self.device_ns, self.completion_ns
        return device is not None and completion is not None and 2 * device < completion


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
        timing=samples.timing,
    )


def probe_figures(samples: Samples) -> ProbeFigures:
    """Reduce one session's samples of a probe to its two medians."""
    return ProbeFigures(
        device_ns=quartiles(samples.device_ns).median_ns,
        completion_ns=quartiles(samples.completion_ns).median_ns,
    )
