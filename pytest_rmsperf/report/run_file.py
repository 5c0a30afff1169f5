"""The run as JSON, with every sample: written while the run goes on, so a crash loses little."""

from __future__ import annotations

import json
import math
import time
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.judging import Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_rmsperf.campaign import Campaign
    from pytest_rmsperf.judge.verdict import Verdict
    from pytest_rmsperf.settings import Settings

RUN_SCHEMA_VERSION = 2
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
    content = {
        "schema_version": RUN_SCHEMA_VERSION,
        "finished": finished,
        "provenance": plain(provenance),
        "settings": plain(settings),
        "machine": plain(campaign.machine),
        "checked": plain(campaign.checked),
        "rounds": plain(campaign.rounds),
        "set_aside": plain(campaign.set_aside),
        "failures": plain(campaign.failures),
        "verdicts": {case_id: _verdict(one) for case_id, one in findings.verdicts.items()},
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
