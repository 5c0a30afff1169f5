"""From selected cases to measurements: check each case, then time all of them in sessions.

An instrument does the work on the machine; the campaign decides what is asked of it and in which
order, so that tests can script the instrument and exercise everything else without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import CheckedCase, Failure, Machine, SessionResult, Stage
from pytest_rmsperf.measurement import (
    Measurement,
    Protocol,
    Resources,
    Run,
    SessionFigures,
    figures,
    probe_figures,
)
from pytest_rmsperf.probes import probe_of
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.samples import impossible

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays
    from pytest_rmsperf.environment import DeviceRecord, Provenance

Say = Callable[[str], None]


class Instrument(Interface):
    """What a campaign needs of a machine; `pytest_rmsperf_instrument` may return another one."""

    def machine(self) -> Machine:
        """Return the device and the toolchain, without touching any case."""
        ...

    def check(self, case: Case, say: Say, *, numerics: bool) -> CheckedCase:
        """Take one case as far as it comes before timing."""
        ...

    def measure(self, cases: Sequence[Case], protocol: Protocol, say: Say) -> SessionResult:
        """Run one session over all cases in a fresh process."""
        ...

    def launch(self, case: Case, problem: Problem, inputs: Arrays) -> Arrays:
        """Launch once on the given inputs and return the outputs."""
        ...

    def close(self) -> None:
        """Release the machine."""
        ...


@dataclass(frozen=True, slots=True)
class Campaign:
    """Everything found out about the selected cases, by case id."""

    machine: Machine
    checked: dict[str, CheckedCase]
    sessions: tuple[SessionResult, ...] = ()
    measurements: dict[str, Measurement] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)


Keep = Callable[[Campaign], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases some test asks about, and what the tests ask of each."""

    cases: tuple[Case, ...]
    with_numerics: frozenset[str]
    with_latency: frozenset[str]


def run_campaign(
    selection: Selection,
    instrument: Instrument,
    *,
    protocol: Protocol,
    provenance: Provenance,
    say: Say,
    keep: Keep,
) -> Campaign:
    """Describe the machine, check every case, time the sound ones, and assemble measurements.

    `keep` gets the unfinished campaign whenever it has grown, so that a crash loses little.
    """
    machine = instrument.machine()
    checked: dict[str, CheckedCase] = {}
    failures: dict[str, Failure] = {}
    keep(Campaign(machine, {}))
    for one in check_all(selection, instrument, say, timed=machine.device is not None):
        checked[one.case_id] = one
        if one.failure is not None:
            failures[one.case_id] = one.failure
        keep(Campaign(machine, dict(checked), failures=dict(failures)))
    if machine.device is None:
        return Campaign(machine, checked, failures=failures)
    timed = [
        case
        for case in selection.cases
        if case.id in selection.with_latency and case.id not in failures
    ]
    sessions: tuple[SessionResult, ...] = ()
    for session in time_all(timed, instrument, protocol=protocol, say=say):
        sessions += (session,)
        failures |= session.failures | impossible_in(session)
        keep(Campaign(machine, checked, sessions, failures=dict(failures)))
    run = run_of(machine, machine.device, protocol, provenance)
    sound = [case for case in timed if case.id not in failures]
    measurements = {case.id: assemble(case, checked[case.id], sessions, run) for case in sound}
    return Campaign(machine, checked, sessions, measurements, failures)


def check_all(
    selection: Selection, instrument: Instrument, say: Say, *, timed: bool
) -> Iterator[CheckedCase]:
    """Check case by case, saying how far it has come; what will be timed must be right first."""
    with_numerics = selection.with_numerics | (selection.with_latency if timed else frozenset())
    for number, case in enumerate(selection.cases, 1):
        place = f"check {number} of {len(selection.cases)}"
        say(f"{place}: {case.id}")
        yield instrument.check(
            case, _prefixed(say, f"{place}, "), numerics=case.id in with_numerics
        )


def time_all(
    cases: Sequence[Case], instrument: Instrument, *, protocol: Protocol, say: Say
) -> Iterator[SessionResult]:
    """Yield one result per session; a case that one session lost is left out of the next."""
    remaining = list(cases)
    for number in range(1, protocol.sessions + 1):
        if not remaining:
            return
        say(f"session {number} of {protocol.sessions}: {len(remaining)} cases")
        prefix = f"session {number} of {protocol.sessions}, "
        session = instrument.measure(
            [*probes_of(remaining), *remaining], protocol, _prefixed(say, prefix)
        )
        remaining = [case for case in remaining if case.id not in session.failures]
        yield session


def impossible_in(session: SessionResult) -> dict[str, Failure]:
    """Return a failure for each case whose samples no working clock can have given."""
    found = {case_id: impossible(samples) for case_id, samples in session.samples.items()}
    return {
        case_id: Failure(
            Stage.TIME,
            f"invalid: {text} of {case_id}\n"
            "the clock of this machine is broken; measure again with: pytest --rmsperf --lf",
        )
        for case_id, text in found.items()
        if text is not None
    }


def _prefixed(say: Say, prefix: str) -> Say:
    return lambda text: say(prefix + text)


def probes_of(cases: Sequence[Case]) -> list[Case]:
    """Return the probes of all cases, each once."""
    both = [probe_of(case, variant) for case in cases for variant in ("null", "copy")]
    return list({probe.id: probe for probe in both}.values())


def run_of(
    machine: Machine, device: DeviceRecord, protocol: Protocol, provenance: Provenance
) -> Run:
    """Return what all cases of this campaign share."""
    return Run(
        device=device.identity,
        driver=device.state.driver,
        cuda=device.cuda,
        compiler=machine.compiler,
        protocol=protocol,
        provenance=provenance,
    )


def assemble(
    case: Case, checked: CheckedCase, sessions: Sequence[SessionResult], run: Run
) -> Measurement:
    """Reduce the sessions of one case to its measurement."""
    return Measurement(
        case_id=case.id,
        run=run,
        inputs=case.operator.input_sets[0].name,
        flags=case.variant.flags,
        sessions=tuple(session_figures(case, one) for one in sessions if case.id in one.samples),
        resources=resources_of(checked),
    )


def session_figures(case: Case, session: SessionResult) -> SessionFigures:
    """Return one session's figures of a case with those of its probes."""
    null, copy = (
        probe_figures(samples) if samples is not None and impossible(samples) is None else None
        for samples in (
            session.samples.get(probe_of(case, variant).id) for variant in ("null", "copy")
        )
    )
    return figures(session.samples[case.id], null=null, copy=copy)


def resources_of(checked: CheckedCase) -> Resources | None:
    """Return what the tightest launch of a case costs; None when it was not compiled."""
    if checked.residency is None:
        return None
    tightest = checked.residency.tightest
    return Resources(
        registers_per_thread=tightest.kernel.registers_per_thread,
        static_smem_bytes=tightest.kernel.static_smem_bytes,
        dynamic_smem_bytes=tightest.launch.dynamic_smem_bytes,
        local_bytes=tightest.kernel.local_bytes,
        blocks_per_sm=tightest.blocks_per_sm,
        headroom_blocks=checked.residency.headroom_blocks,
    )
