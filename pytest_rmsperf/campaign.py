"""From selected cases to samples: check each case, then time all of them in rounds of sessions.

An instrument does the work on the machine; the campaign decides what is asked of it and in which
order, so that tests can script the instrument and exercise everything else without a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from pytest_rmsperf.cases import Case
from pytest_rmsperf.checks import CheckedCase, Failure, Machine, SessionResult, Stage
from pytest_rmsperf.judge.health import drifting, why_unfit
from pytest_rmsperf.probes import probe_of
from pytest_rmsperf.problem import Problem
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import impossible

if TYPE_CHECKING:
    from pytest_rmsperf.cases import Arrays

Say = Callable[[str], None]
NO_OTHERS: Mapping[str, Case] = {}


class Instrument(Interface):
    """What a campaign needs of a machine; `pytest_rmsperf_instrument` may return another one."""

    def machine(self) -> Machine:
        """Return the device and the toolchain, without touching any case."""
        ...

    def prepare(self, cases: Sequence[Case], say: Say) -> None:
        """Make ahead what the checks of these cases need; what goes wrong is left to them."""
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
    """Everything found out about the selected cases, by case id.

    `rounds` are the sessions of the first round and of a confirming one. `set_aside` are sessions
    on an unfit machine that were measured again.
    """

    machine: Machine
    checked: dict[str, CheckedCase]
    rounds: tuple[tuple[SessionResult, ...], ...] = ()
    failures: dict[str, Failure] = field(default_factory=dict)
    set_aside: tuple[SessionResult, ...] = ()

    @property
    def sessions(self) -> tuple[SessionResult, ...]:
        """The sessions of all rounds, in order."""
        return tuple(session for one in self.rounds for session in one)


Keep = Callable[[Campaign], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """The cases some test asks about, and what the tests ask of each.

    `with_latency` are judged by themselves; `timed` are these and the ones of orderings. `others`
    has, by case id, the same case of another commit, where there is one to take turns with.
    """

    cases: tuple[Case, ...]
    with_numerics: frozenset[str]
    with_latency: frozenset[str]
    with_order: frozenset[str] = frozenset()
    others: Mapping[str, Case] = field(default_factory=dict)

    @property
    def timed(self) -> frozenset[str]:
        return self.with_latency | self.with_order

    @property
    def all_cases(self) -> tuple[Case, ...]:
        """The cases asked about, and behind them those of another commit."""
        return (*self.cases, *self.others.values())


@dataclass(frozen=True, slots=True)
class Surveyor:
    """Takes cases through a campaign on one instrument.

    `keep` gets the unfinished campaign whenever it has grown, so that a crash loses little.
    """

    instrument: Instrument
    protocol: Protocol
    say: Say
    keep: Keep
    power_limit_mw: int | None = None

    def check(self, selection: Selection) -> Campaign:
        """Describe the machine and check every case, and the same case of another commit."""
        machine = self.instrument.machine()
        campaign = Campaign(machine, {})
        self.keep(campaign)
        self.instrument.prepare(selection.all_cases, self.say)
        for one in self._check_all(selection, timed=machine.device is not None):
            campaign = replace(campaign, checked={**campaign.checked, one.case_id: one})
            if one.failure is not None:
                campaign = _with_failures(campaign, {one.case_id: one.failure})
            self.keep(campaign)
        return campaign

    def time(
        self,
        campaign: Campaign,
        cases: Sequence[Case],
        others: Mapping[str, Case] = NO_OTHERS,
        *,
        sessions: int | None = None,
    ) -> Campaign:
        """Add a round of sessions over the sound ones of `cases`; nothing without a device."""
        if campaign.machine.device is None:
            return campaign
        count = self.protocol.sessions if sessions is None else sessions
        campaign = replace(campaign, rounds=(*campaign.rounds, ()))
        for number in range(1, count + 1):
            remaining = [one for one in cases if one.id not in campaign.failures]
            if not remaining:
                break
            place = f"session {number} of {count}"
            self.say(f"{place}: {len(remaining)} cases")
            campaign = self._session(
                campaign, self._with_others(campaign, remaining, others), place
            )
            self.keep(campaign)
        return campaign

    def _with_others(
        self, campaign: Campaign, cases: Sequence[Case], others: Mapping[str, Case]
    ) -> list[Case]:
        """Put behind each case the one it takes turns with, so that both see the same device."""
        found: list[Case] = []
        for case in cases:
            other = others.get(case.id)
            found.append(case)
            if other is not None and other.id not in campaign.failures:
                found.append(other)
        return found

    def _session(self, campaign: Campaign, cases: Sequence[Case], place: str) -> Campaign:
        """Add one session; on an unfit machine it is measured again, once.

        A case that was lost there has failed: no state of the machine makes a kernel wrong.
        """
        say = _prefixed(self.say, f"{place}, ")
        session = self._measure(cases, say)
        campaign = _with_failures(campaign, session.failures)
        sound = [one for one in cases if one.id not in session.failures]
        why = session.why_unfit()
        if sound and why is not None:
            campaign = replace(campaign, set_aside=(*campaign.set_aside, session))
            self.say(f"{place} again: {why}")
            session = self._measure(sound, say)
        *before, current = campaign.rounds
        campaign = replace(campaign, rounds=(*before, (*current, session)))
        return _with_failures(campaign, session.failures | impossible_in(session))

    def _measure(self, cases: Sequence[Case], say: Say) -> SessionResult:
        session = self.instrument.measure([*probes_of(cases), *cases], self.protocol, say)
        unfit = why_unfit(session, power_limit_mw=self.power_limit_mw)
        return replace(session, unfit=unfit, drifting=drifting(session))

    def _check_all(self, selection: Selection, *, timed: bool) -> Iterator[CheckedCase]:
        """Check case by case, saying how far it has come; what is timed must be right first."""
        with_numerics = selection.with_numerics | (selection.timed if timed else frozenset())
        cases = selection.all_cases
        for number, case in enumerate(cases, 1):
            place = f"check {number} of {len(cases)}"
            self.say(f"{place}: {case.id}")
            yield self.instrument.check(
                case, _prefixed(self.say, f"{place}, "), numerics=case.id in with_numerics
            )


def _with_failures(campaign: Campaign, failures: Mapping[str, Failure]) -> Campaign:
    return replace(campaign, failures={**campaign.failures, **failures})


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
