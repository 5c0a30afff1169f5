"""The judge of static costs: what a case costs now and what is stored in, a verdict out.

Pure, and without thresholds but one: a cost is exact, so that any difference is a real one. What a
difference does to the verdict is said where it is found, in `cost_differences`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_rmsperf.costs import StaticCheck, StaticCost
from pytest_rmsperf.judge.cost_comparison import cost_differences
from pytest_rmsperf.judge.difference import Difference
from pytest_rmsperf.judge.policy import COMPARED, Outcome, Policy, Status

# The worst first: what one arch says, the case says.
PRECEDENCE = (
    Status.VIOLATED,
    Status.COSTLIER,
    Status.CHANGED,
    Status.INCOMPARABLE,
    Status.MISSING,
    Status.CHEAPER,
    Status.UNCHANGED,
)

# Against another commit a cost is told and not gated: the stored ones are where it is accepted.
PAIRED_OUTCOMES = (
    (Status.COSTLIER, Outcome.WARN),
    (Status.CHANGED, Outcome.WARN),
    (Status.MISSING, Outcome.WARN),
)


@dataclass(frozen=True, slots=True)
class CostLimits:
    """How much of the blocks that a device holds may be lost from the headroom, as a share."""

    headroom_loss: float = 0.10


@dataclass(frozen=True, slots=True)
class CostFinding:
    """One thing that the judge found, and the devices that it holds for.

    It holds for the arch where it is of the machine code. As text it is "NVIDIA L4: 6 -> 5 blocks
    per SM of tile_sums".
    """

    subjects: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{', '.join(self.subjects)}: {self.text}"


@dataclass(frozen=True, slots=True)
class ArchVerdict:
    """What the judge says of one case on the devices of interest of one arch.

    `findings` are what the status rests on, `notes` what else differs.
    """

    arch: str
    status: Status
    findings: tuple[CostFinding, ...]
    notes: tuple[CostFinding, ...]
    current: StaticCost | None
    baseline: StaticCost | None


@dataclass(frozen=True, slots=True)
class CostVerdict:
    """What the judge says of the cost of one case on all devices of interest.

    `violations` hold the device, or the arch that the source does not compile for, and the whole
    message. `is_paired` says that the baselines are another commit's.
    """

    case_id: str
    archs: tuple[ArchVerdict, ...]
    violations: tuple[tuple[str, str], ...]
    is_paired: bool = False

    @property
    def status(self) -> Status:
        """The worst of all archs; missing where there is none, for then nothing was looked at."""
        return worst(one.status for one in self.archs) if self.archs else Status.MISSING

    @property
    def is_compared(self) -> bool:
        """Whether every arch was held against a baseline."""
        return bool(self.archs) and all(one.status in COMPARED for one in self.archs)


def judge_cost(
    case_id: str,
    checks: Sequence[StaticCheck],
    baselines: Mapping[str, StaticCost],
    limits: CostLimits,
    *,
    is_paired: bool = False,
) -> CostVerdict:
    """Judge what a case costs on each arch against `baselines`, which are by arch."""
    archs = tuple(
        _judge_arch(one, baselines.get(one.arch), limits, is_paired=is_paired) for one in checks
    )
    violations = tuple(found for one in checks for found in one.refusals)
    return CostVerdict(case_id, archs, violations, is_paired)


def worst(statuses: Iterable[Status]) -> Status:
    """Return the first of these by precedence; unchanged of none."""
    return min(statuses, key=PRECEDENCE.index, default=Status.UNCHANGED)


def cost_outcome(verdict: CostVerdict, policy: Policy) -> Outcome:
    """Return what becomes of the test; no policy lets a violation pass."""
    if verdict.status is Status.VIOLATED:
        return Outcome.FAIL
    if verdict.is_paired:
        policy = Policy((*PAIRED_OUTCOMES, *policy.replaced))
    return policy.outcome(verdict.status)


def first_line(device: str, message: str) -> str:
    """Return the verdict of a violation, without the device where it is told beside it."""
    return message.partition("\n")[0].replace(f"does not fit {device}: ", "does not fit: ", 1)


def _judge_arch(
    check: StaticCheck, baseline: StaticCost | None, limits: CostLimits, *, is_paired: bool
) -> ArchVerdict:
    violations = check.refusals
    found = (
        []
        if check.cost is None
        else cost_differences(check.cost, baseline, limits.headroom_loss, is_paired=is_paired)
    )
    status = Status.VIOLATED if violations else worst(one.status for _, one in found)
    decisive = [one for one in found if one[1].status is status is not Status.UNCHANGED]
    explained = {
        (place, one.kernel, cause)
        for subject, one in decisive
        for cause in one.causes
        for place in (subject, check.arch)
    }
    notes = [
        (subject, one)
        for subject, one in found
        if one.status is not status or status is Status.UNCHANGED
        if (subject, one.kernel, one.what) not in explained
    ]
    return ArchVerdict(
        arch=check.arch,
        status=status,
        findings=(
            *(CostFinding((name,), first_line(name, message)) for name, message in violations),
            *_findings(decisive),
        ),
        notes=_findings(notes),
        current=check.cost,
        baseline=baseline,
    )


def _findings(found: Iterable[tuple[str, Difference]]) -> tuple[CostFinding, ...]:
    """Return each difference once, with all devices or archs that it holds for."""
    subjects: dict[str, list[str]] = {}
    for subject, difference in found:
        subjects.setdefault(str(difference), []).append(subject)
    return tuple(CostFinding(tuple(names), text) for text, names in subjects.items())
