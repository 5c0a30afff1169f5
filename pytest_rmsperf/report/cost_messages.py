"""Verdicts on static costs, told to a person: the verdict, the evidence, the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_rmsperf.judge.cost import CostFinding, CostVerdict, cost_outcome
from pytest_rmsperf.judge.policy import Outcome, Policy, Status
from pytest_rmsperf.report.because import capped
from pytest_rmsperf.report.messages import labelled, selector
from pytest_rmsperf.report.tipping import clusters_line, tipping_points
from pytest_rmsperf.storing.static_store import SAVE

MOST_NAMED = 2  # in the first line; below it, all are
MOST_LEFT = 2

Group = tuple[tuple[str, ...], list[str]]  # devices or archs, and all that holds for them


def cost_message(verdict: CostVerdict, policy: Policy, *, saves: bool = False) -> str | None:
    """Return the text that fails the test of a cost, None when it is to pass.

    `saves` says that this run is to accept what it found, and refused this.
    """
    if cost_outcome(verdict, policy) is not Outcome.FAIL:
        return None
    lines = [cost_headline(verdict), *_evidence(verdict)]
    return "\n".join([*lines, cost_remedy(verdict, saves=saves)])


def cost_headline(verdict: CostVerdict) -> str:
    """Return the first line: the verdict, where, and the first of what it rests on."""
    groups = _decisive(verdict)
    if not groups:
        same = "blocks per SM, headroom and plan are the same"
        return f"{verdict.status.value}: {same if verdict.archs else 'no device of interest'}"
    subjects, texts = groups[0]
    where = _counted(subjects, verdict) if len(subjects) > MOST_NAMED else ", ".join(subjects)
    return f"{verdict.status.value}: {where}: {texts[0]}"


def cost_remedy(verdict: CostVerdict, *, saves: bool = False) -> str:
    """Return what to do about a verdict, as a command."""
    found = _REMEDIES.get(verdict.status, "nothing to do")
    if verdict.is_paired:
        found = _PAIRED_REMEDIES.get(verdict.status, found)
    elif verdict.status is Status.COSTLIER and saves:
        found = "nothing of this run is saved; name the case to accept it: {accept} -k {name}"
    return found.format(accept=SAVE, name=f'"{selector(verdict.case_id)}"')


_REMEDIES = {
    Status.VIOLATED: "make it fit, or leave the device out of --rmsperf-devices",
    Status.COSTLIER: "accept it with: {accept} -k {name}",
    Status.CHANGED: "accept it with: {accept} -k {name}",
    Status.CHEAPER: "accept it with: {accept} -k {name}",
    Status.MISSING: "create it with: {accept} -k {name}",
    Status.INCOMPARABLE: "store what this compiler makes of all cases with: {accept}",
}
_PAIRED_REMEDIES = {
    Status.COSTLIER: "mend the kernel, or accept it with: {accept} -k {name}",
    Status.MISSING: "compare with a commit that has it: pytest --rmsperf-against=REF",
    Status.INCOMPARABLE: (
        "compare with a commit that is compiled alike: pytest --rmsperf-against=REF"
    ),
}


def _evidence(verdict: CostVerdict) -> Iterator[str]:
    """Yield everything that a person needs to judge the verdict, most telling first."""
    (subjects, (_, *more)), *groups = _decisive(verdict) or [((), [""])]
    yield from (line for line in _violation(verdict) if line.startswith(" "))
    if len(subjects) > MOST_NAMED and not _are_archs(subjects, verdict):  # which stand below
        yield from labelled("on", [", ".join(subjects)])
    yield from labelled("also", capped([*more, *(_line(one, verdict) for one in groups)]))
    yield from labelled("besides", capped([_line(one, verdict) for one in _rest(verdict)]))
    yield from labelled("left", capped(list(_left(verdict)), MOST_LEFT))
    yield from labelled("archs", [_archs(verdict)] if verdict.archs else [])
    yield from (line for line in _violation(verdict) if not line.startswith(" "))


def _violation(verdict: CostVerdict) -> list[str]:
    """Return what the first violation says below its first line: its evidence and its remedy."""
    return verdict.violations[0][1].splitlines()[1:] if verdict.violations else []


def _decisive(verdict: CostVerdict) -> list[Group]:
    """Return what the verdict rests on."""
    status = verdict.status
    archs = (one for one in verdict.archs if one.status is status)
    return _grouped(finding for one in archs for finding in one.findings)


def _rest(verdict: CostVerdict) -> list[Group]:
    """Return what else differs: findings of archs with a lesser verdict, then all notes."""
    lesser = [one for one in verdict.archs if one.status is not verdict.status]
    return _grouped(
        [
            *(finding for one in lesser for finding in one.findings),
            *(note for one in verdict.archs for note in one.notes),
        ]
    )


def _grouped(findings: Iterable[CostFinding]) -> list[Group]:
    """Tell each text once, and together all texts that hold for the same devices or archs."""
    subjects: dict[str, tuple[str, ...]] = {}
    for one in findings:
        subjects[one.text] = (*subjects.get(one.text, ()), *one.subjects)
    groups: dict[tuple[str, ...], list[str]] = {}
    for text, names in subjects.items():
        groups.setdefault(names, []).append(text)
    return list(groups.items())


def _line(group: Group, verdict: CostVerdict) -> str:
    subjects, texts = group
    counted = _counted(subjects, verdict)
    where = counted if counted.startswith("all") else ", ".join(subjects)
    return f"{where}: {'; '.join(capped(texts))}"


def _counted(subjects: Sequence[str], verdict: CostVerdict) -> str:
    """Return "3 devices", or "all 10 devices" where there are no more of them."""
    costs = [one.current for one in verdict.archs if one.current is not None]
    known = {fit.device for cost in costs for fit in cost.fits}
    noun = "devices"
    if _are_archs(subjects, verdict):
        known, noun = {one.arch for one in verdict.archs}, "archs"
    is_all = len(known) > MOST_NAMED and known <= set(subjects)
    return f"{'all ' if is_all else ''}{len(subjects)} {noun}"


def _are_archs(subjects: Sequence[str], verdict: CostVerdict) -> bool:
    return {one.arch for one in verdict.archs} >= set(subjects)


def _left(verdict: CostVerdict) -> Iterator[str]:
    """Yield what the devices that lost something have left, and what is not known of them."""
    lost = {name for subjects, _ in _decisive(verdict) for name in subjects}
    costs = [one.current for one in verdict.archs if one.current is not None]
    fits = [(cost, fit) for cost in costs for fit in cost.fits if fit.device in lost]
    if verdict.status is not Status.COSTLIER:
        return
    points: dict[str, list[str]] = {}
    for cost, fit in fits:
        points.setdefault(tipping_points(cost, fit), []).append(fit.device)
    yield from (f"{', '.join(devices)}: {text}" for text, devices in points.items())
    yield from (line for _, fit in fits if (line := clusters_line(fit)) is not None)


def _archs(verdict: CostVerdict) -> str:
    """Say what was found for each arch, and by which compiler."""
    by_status: dict[Status, list[str]] = {}
    for one in verdict.archs:
        by_status.setdefault(one.status, []).append(one.arch)
    statuses = "; ".join(f"{', '.join(archs)} {s.value}" for s, archs in by_status.items())
    compilers = (one.current.compiler for one in verdict.archs if one.current is not None)
    compiler = ", ".join(f"{key} {version}" for key, version in next(compilers, ()))
    return f"{statuses}; compiled by {compiler}" if compiler else statuses
