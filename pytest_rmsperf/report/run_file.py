"""The run as JSON, with every sample: written while the run goes on, so a crash loses little."""

from __future__ import annotations

import json
import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_rmsperf.checks import CheckedCase
from pytest_rmsperf.costs import DeviceFit, PlannedLaunch, StaticCheck
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judging import Findings
from pytest_rmsperf.resources import CompiledKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_rmsperf.campaign import Campaign
    from pytest_rmsperf.judge.cost import CostVerdict
    from pytest_rmsperf.judge.verdict import Verdict
    from pytest_rmsperf.settings import Settings

Shared = TypeVar("Shared", CompiledKernel, PlannedLaunch)

RUN_SCHEMA_VERSION = 3
FOLDER = ".rmsperf"


def run_folder(root: Path) -> Path:
    """Return the folder for what runs leave behind; it keeps itself out of git."""
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return folder


def write_run(
    path: Path, settings: Settings, campaign: Campaign, findings: Findings | None
) -> None:
    """Replace `path` by the state of the run; OSError when it cannot be written.

    `findings` are None while the run goes on; so they stay when it breaks off.
    """
    finished, findings = findings is not None, findings or Findings()
    current = (one.current for one in findings.verdicts.values())
    provenance = next((one.run.provenance for one in current if one is not None), None)
    shared = _Shared()
    content = {
        "schema_version": RUN_SCHEMA_VERSION,
        "finished": finished,
        "provenance": plain(provenance),
        "settings": plain(settings),
        "machine": plain(campaign.machine),
        "checked": {case_id: shared.case(one) for case_id, one in campaign.checked.items()},
        "static_kernels": {key: plain(one) for one, key in shared.kernels.items()},
        "static_launches": {key: plain(one) for one, key in shared.launches.items()},
        "rounds": plain(campaign.rounds),
        "set_aside": plain(campaign.set_aside),
        "failures": plain(campaign.failures),
        "verdicts": {case_id: _verdict(one) for case_id, one in findings.verdicts.items()},
        "costs": {case_id: _cost(one) for case_id, one in findings.costs.items()},
        "orderings": {
            name: {"status": one.status.value, "stated": one.ordering.ratio, "ratios": one.ratios}
            for name, one in findings.ordered.items()
        },
    }
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    partial.replace(path)


def _verdict(verdict: Verdict) -> dict[str, object]:
    current = verdict.current
    return {
        "status": verdict.status.value,
        "reason": verdict.reason,
        "figure": verdict.figure,
        "device": plain(verdict.device),
        "completion": plain(verdict.completion),
        "confirming_sessions": verdict.confirming,
        "is_paired": verdict.is_paired,
        "is_host_bound": current.is_host_bound if current is not None else None,
        "thresholds": plain(verdict.thresholds),
        "baseline": plain(verdict.baseline),
    }


def _cost(verdict: CostVerdict) -> dict[str, object]:
    """Return a verdict without the costs themselves: those found stand with the checked case."""
    return {
        "status": verdict.status.value,
        "is_compared": verdict.is_compared,
        "is_paired": verdict.is_paired,
        "archs": {
            one.arch: {
                "status": one.status.value,
                "findings": [str(finding) for finding in one.findings],
                "notes": [str(note) for note in one.notes],
            }
            for one in verdict.archs
        },
        "violations": dict(verdict.violations),
    }


@dataclass(frozen=True, slots=True)
class _Shared:
    """The kernels and launches of static checks, each written once and elsewhere named by a key.

    Submissions of a problem share them, and so do devices that hold as many blocks: 56 cases on ten
    devices take 0.27 MB so, and 0.94 MB otherwise.
    """

    kernels: dict[CompiledKernel, str] = field(default_factory=dict)
    launches: dict[PlannedLaunch, str] = field(default_factory=dict)

    def case(self, checked: CheckedCase) -> dict[str, object]:
        """Return a checked case as JSON values."""
        rest = replace(checked, static=())
        values = {one.name: plain(getattr(rest, one.name)) for one in fields(rest)}
        return {**values, "static": [self._check(one) for one in checked.static]}

    def _check(self, check: StaticCheck) -> dict[str, object]:
        cost = check.cost
        found: dict[str, object] = {
            "arch": check.arch,
            "failure": check.failure,
            "violations": dict(check.violations),
        }
        if cost is None:
            return {**found, "cost": None}
        kernels = [_key(self.kernels, one, one.name) for one in cost.kernels]
        fits = [self._fit(one) for one in cost.fits]
        rest = {"compiler": plain(cost.compiler), "flags": plain(cost.flags)}
        return {**found, "cost": {**rest, "kernels": kernels, "fits": fits}}

    def _fit(self, fit: DeviceFit) -> dict[str, object]:
        launches = [_key(self.launches, one, one.kernel) for one in fit.launches]
        rest = replace(fit, launches=())
        values = {one.name: plain(getattr(rest, one.name)) for one in fields(rest)}
        return {**values, "launches": launches}


def _key(known: dict[Shared, str], record: Shared, name: str) -> str:
    return known.setdefault(record, f"{name} {len(known) + 1}")


class RunFile:
    """Writes a run while it goes on: to `.rmsperf/run.json`, and to a file of the user's choice.

    Every session is written at once. Checks are many and short: they are written for at most a
    tenth of the time, and all of them when the run is interrupted.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._paths = [] if settings.json is None else [settings.json]
        self._clock = clock
        self._latest: Campaign | None = None
        self._next_s = -math.inf

    def open_folder(self, root: Path) -> None:
        """Say where the run's own folder is; SettingError when it cannot be made."""
        with _unwritable():
            self._paths.append(run_folder(root) / "run.json")

    def keep(self, campaign: Campaign) -> None:
        """Take what is known so far."""
        self._latest = campaign
        before_s = self._clock()
        if campaign.sessions or before_s >= self._next_s:
            self.write(campaign, None)
            after_s = self._clock()
            self._next_s = after_s + 10 * (after_s - before_s)

    def write_latest(self) -> None:
        """Write what was last kept."""
        if self._latest is not None:
            self.write(self._latest, None)

    def write(self, campaign: Campaign, findings: Findings | None) -> None:
        """Write now, with findings when all is measured; SettingError for what is not writable."""
        with _unwritable():
            for path in self._paths:
                write_run(path, self._settings, campaign, findings)


@contextmanager
def _unwritable() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SettingError(
            f"cannot write the run: {error.filename}: {error.strerror}\n"
            "make its folder writable, or name another file: --rmsperf-json=FILE"
        ) from error


def plain(value: object) -> object:
    """Turn records into JSON values; a float that JSON cannot hold becomes its name."""
    match value:
        case Enum():
            found: object = value.value
        case dict():
            found = {str(plain(key)): plain(one) for key, one in value.items()}
        case tuple() | list():
            found = [plain(one) for one in value]
        case bytes():
            found = f"{len(value)} bytes"
        case float():
            found = value if math.isfinite(value) else str(value)
        case None | bool() | int() | str():
            found = value
        case Integral():
            found = int(value)  # NumPy's
        case _ if is_dataclass(value) and not isinstance(value, type):
            found = {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        case _:
            found = str(value)
    return found
