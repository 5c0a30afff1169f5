"""The run as JSON, with every sample: written while the run goes on, so a crash loses little."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_rmsperf.campaign import Campaign
    from pytest_rmsperf.report.records import CaseReport

RUN_SCHEMA_VERSION = 1
FOLDER = ".rmsperf"


def run_folder(root: Path) -> Path:
    """Return the folder for what runs leave behind; it keeps itself out of git."""
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return folder


def write_run(path: Path, campaign: Campaign, reports: Iterable[CaseReport]) -> None:
    """Replace `path` by the state of the run; OSError when it cannot be written."""
    content = {
        "schema_version": RUN_SCHEMA_VERSION,
        "machine": plain(campaign.machine),
        "checked": plain(campaign.checked),
        "sessions": plain(campaign.sessions),
        "failures": plain(campaign.failures),
        "verdicts": {
            one.case_id: {"status": one.verdict.status.value, "reason": one.verdict.reason}
            for one in reports
            if one.verdict is not None
        },
    }
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    partial.replace(path)


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
