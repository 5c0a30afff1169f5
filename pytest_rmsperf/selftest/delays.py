"""Delays of several sizes and a twin without any, judged in both modes from the same sessions.

One campaign times all of them in turns. Stored mode: the sound kernel's first rounds are the
baseline, and what is judged are the last rounds of each other case. Paired mode: the same last
rounds, against the sound kernel in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from pytest_rmsperf.assembly import Assembler
from pytest_rmsperf.campaign import Campaign, Selection, Surveyor
from pytest_rmsperf.cases import Case, Submission
from pytest_rmsperf.environment import Provenance
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.thresholds import Thresholds
from pytest_rmsperf.judge.verdict import Round, Verdict, judge, judge_paired, together
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.selftest.faults import DELAYS, OPERATOR, SOUND, TWIN, delayed
from pytest_rmsperf.selftest.rows import Mark, Row

# Rounds of the sound kernel that become its baseline; the gate's first round and its confirming
# one follow.
BASELINE_ROUNDS = 2
ROUNDS = BASELINE_ROUNDS + 2
SESSIONS = 3  # in each: six against six, or six pairs, is what a verdict needs

# A delay at the threshold is found every other time; one of twice the threshold must be found.
SURE = 2
# Where NVML does not tell the clock: higher than any device's, so that no delay counts as longer
# than it is.
FASTEST_SM_MHZ = 3000
# Nothing of a selftest is stored, or shown with where it is from.
NOWHERE = Provenance("", None, None, "", "", ())


class Mode(str, Enum):
    """What a case is held against."""

    STORED = "stored"
    PAIRED = "paired"


@dataclass(frozen=True, slots=True)
class Planted:
    """A variant that is held back by so many clocks, or by none."""

    words: str
    variant: str
    clocks: int

    @property
    def case(self) -> Case:
        return _case(self.variant)

    @property
    def expected(self) -> Status:
        return Status.SLOWER if self.clocks else Status.UNCHANGED

    def row(self, mode: Mode, found: str, mark: Mark) -> Row:
        """Return the row of this in one mode; what is only shown may be found or not."""
        expected = "any" if mark is Mark.SHOWN else self.expected.value
        return Row(self.words, mode.value, expected, found, mark)


PLANTED = (
    Planted("no delay, in a twin", TWIN, 0),
    *(Planted(f"a delay of {clocks} clocks", delayed(clocks), clocks) for clocks in DELAYS),
)
EACH = tuple((planted, mode) for planted in PLANTED for mode in Mode)


def delay_rows(surveyor: Surveyor, stored: Thresholds, paired: Thresholds) -> tuple[Row, ...]:
    """Time everything planted beside the sound kernel, and judge it in both modes."""
    absent = surveyor.instrument.machine().why_not_timed
    if absent is not None:
        return tuple(planted.row(mode, absent, Mark.NOT_RUN) for planted, mode in EACH)
    surveyor = replace(surveyor, protocol=replace(surveyor.protocol, sessions=SESSIONS))
    cases = (_case(SOUND), *(planted.case for planted in PLANTED))
    ids = frozenset(one.id for one in cases)
    campaign = surveyor.check(Selection(cases, with_numerics=ids, with_latency=ids))
    for number in range(1, ROUNDS + 1):
        surveyor.say(f"round {number} of {ROUNDS}")
        campaign = surveyor.time(campaign, cases)
    assembler = Assembler(campaign, surveyor.protocol, NOWHERE)
    failed = _why_not_timed(campaign, _case(SOUND))
    if failed is not None:
        return tuple(planted.row(mode, failed, Mark.MISSED) for planted, mode in EACH)
    return Bench(campaign, assembler, {Mode.STORED: stored, Mode.PAIRED: paired}).rows()


@dataclass(frozen=True, slots=True)
class Bench:
    """The rounds in which everything planted took turns with the sound kernel."""

    campaign: Campaign
    assembler: Assembler
    thresholds: dict[Mode, Thresholds]

    def rows(self) -> tuple[Row, ...]:
        """Return a row for each mode of everything planted; one more where no delay is demanded."""
        rows = tuple(self._row(planted, mode) for planted, mode in EACH)
        blind = (mode for mode in Mode if not self._is_demanded(PLANTED[-1], mode))
        return (*rows, *(self._blind_row(mode) for mode in blind))

    def _row(self, planted: Planted, mode: Mode) -> Row:
        failed = _why_not_timed(self.campaign, planted.case)
        if failed is not None:
            return planted.row(mode, failed, Mark.MISSED)
        verdict = self._verdict(planted.case, mode)
        mark = Mark.RIGHT if _is_told(planted, verdict) else Mark.MISSED
        if not self._is_demanded(planted, mode):
            mark = Mark.SHOWN
        return planted.row(mode, self._found(verdict), mark)

    def _verdict(self, case: Case, mode: Mode) -> Verdict:
        if mode is Mode.PAIRED:
            rounds = self.assembler.rounds(case, _case(SOUND))[BASELINE_ROUNDS:]
            return judge_paired(
                case.id, rounds, self._sound, self.thresholds[mode], missing="no sound kernel"
            )
        before = self.assembler.rounds(_case(SOUND))[:BASELINE_ROUNDS]
        first, *others = self.assembler.rounds(case)[BASELINE_ROUNDS:]
        unfit = next((one.unfit for one in before if one.unfit), first.unfit)
        baseline = replace(_measurement(before), case_id=case.id)
        rounds = (replace(first, unfit=unfit), *others)
        return judge(case.id, rounds, baseline, self.thresholds[mode])

    @property
    def _sound(self) -> Measurement:
        return _measurement(self.assembler.rounds(_case(SOUND))[BASELINE_ROUNDS:])

    @property
    def _sound_ns(self) -> int:
        return self._sound.device_ns or 1

    def _is_demanded(self, planted: Planted, mode: Mode) -> bool:
        return not planted.clocks or self._share(planted) >= SURE * self._limit(mode)

    def _share(self, planted: Planted) -> float:
        """Return a delay as a share of the sound kernel's device time, at the clock that was seen.

        By its clocks, and not by what was measured: of a gate that measures no delay at all,
        nothing would be demanded.
        """
        told = (one.most_sm_mhz for one in self._sound.run.conditions)
        sm_mhz = max((one for one in told if one is not None), default=FASTEST_SM_MHZ)
        return 1000 * planted.clocks / sm_mhz / self._sound_ns

    def _limit(self, mode: Mode) -> float:
        return self.thresholds[mode].device.of(self._sound_ns)

    def _found(self, verdict: Verdict) -> str:
        status, change = verdict.status, verdict.change
        if change is None:
            return f"{status.value}: {verdict.reason}"
        size = f"{100 * change:+.2f} %, {change * self._sound_ns / 1000:+.3f} us"
        return f"{status.value} ({size}): {verdict.reason}"

    def _blind_row(self, mode: Mode) -> Row:
        """Return the row of a delay that would have to be longer than all there are."""
        needed, largest = SURE * self._limit(mode), self._share(PLANTED[-1])
        found = f"the longest is {100 * largest:.1f} %: set a smaller threshold"
        words = f"a delay of {100 * needed:.1f} %"
        return Row(words, mode.value, Status.SLOWER.value, found, Mark.MISSED)


def _is_told(planted: Planted, verdict: Verdict) -> bool:
    """Say whether the verdict is the expected one, and rests on device time where it is slower."""
    device = verdict.device
    is_device = device is not None and device.status is planted.expected
    return verdict.status is planted.expected and is_device


def _measurement(rounds: tuple[Round, ...]) -> Measurement:
    found = together(rounds)
    assert found is not None
    return found


def _why_not_timed(campaign: Campaign, case: Case) -> str | None:
    failure = campaign.failures.get(case.id)
    return None if failure is None else f"not timed: {failure.message.splitlines()[0]}"


def _case(variant: str) -> Case:
    (problem,) = OPERATOR.problems
    return Case(OPERATOR, OPERATOR.variant(variant), Submission.GRAPH, problem)
