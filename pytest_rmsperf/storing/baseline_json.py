"""Strict JSON for baseline files: where a fault lies, how it is worded, and text to plain values.

Whatever JSON leaves open is closed here: a key stands once, numbers are finite, and the markers of
a merge conflict are named as what they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote

from pytest_rmsperf.errors import BaselineError

_CONFLICT_MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in which file a value stands, and how to word a fault found there."""

    file: Path
    verdict: str
    remedy: str
    keys: str = ""
    published: bool = False

    def at(self, key: str | int) -> Place:
        """Return the place one key or index further in."""
        plain = isinstance(key, str) and key.isidentifier()
        step = f".{key}" if plain else f"[{json.dumps(key)}]"
        keys = (self.keys + step).lstrip(".")
        # Not by `replace`, which takes five times as long: a file has tens of thousands of places.
        return Place(self.file, self.verdict, self.remedy, keys, self.published)

    def fault(self, rule: str) -> BaselineError:
        """Return the error for a broken rule: verdict, file, key, rule, remedy."""
        where = f"{self.keys} " if self.keys else ""
        return BaselineError(f"{self.verdict} {self.file}: {where}{rule}\n{self.remedy}")

    def refuse(self, rule: str, value: object) -> BaselineError:
        """Return the error for a value that breaks `rule`."""
        got = json.dumps(value, default=repr)
        return self.fault(f"{rule}, got {got if len(got) <= 80 else got[:77] + '...'}")


def parse(raw: bytes, place: Place) -> object:
    """Return the plain value of a file's bytes; BaselineError says at which line it is broken."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise place.fault(f"is not UTF-8 at byte {error.start}") from error
    _refuse_conflict_markers(text, place)
    try:
        return json.loads(
            text,
            object_pairs_hook=partial(_unique, place),
            parse_constant=partial(_refuse_constant, place),
        )
    except json.JSONDecodeError as error:
        spot = f"line {error.lineno}, column {error.colno}"
        raise place.fault(f"is not JSON at {spot}: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number or a nesting beyond Python's limits
        raise place.fault(f"is not JSON that can be read: {error}") from error


def compact(value: object) -> str:
    """Return a value on one line, the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)


def document(top: Mapping[str, object]) -> bytes:
    """Return a file: sorted, ASCII, one line for each entry of an object in it."""
    rows = ",\n".join(f"  {compact(key)}: {_entries(top[key])}" for key in sorted(top))
    return f"{{\n{rows}\n}}\n".encode("ascii")


def as_object(value: object, place: Place) -> dict[str, object]:
    """Return `value` if it is a JSON object; BaselineError otherwise."""
    if not isinstance(value, dict):
        raise place.refuse("must be an object", value)
    return value


def require_keys(items: Mapping[str, object], keys: set[str], place: Place) -> None:
    """Raise BaselineError unless `items` has exactly these keys."""
    for key in sorted(items.keys() - keys):
        raise place.at(key).refuse("is not a known key", items[key])
    for key in sorted(keys - items.keys()):
        raise place.at(key).fault("is missing")


def _entries(value: object) -> str:
    if not isinstance(value, dict) or not value:
        return compact(value)
    rows = ",\n".join(f"    {compact(key)}: {compact(value[key])}" for key in sorted(value))
    return f"{{\n{rows}\n  }}"


def _refuse_conflict_markers(text: str, place: Place) -> None:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith(_CONFLICT_MARKERS):
            remedy = f"keep one side: git checkout --ours -- {quote(str(place.file))} (or --theirs)"
            raise replace(place, remedy=remedy).fault(
                f"line {number} is a git conflict marker, got {line.strip()[:40]}"
            )


def _unique(place: Place, pairs: list[tuple[str, object]]) -> dict[str, object]:
    seen: dict[str, object] = {}
    for key, value in pairs:
        if key in seen:
            raise place.refuse(f"has the key {json.dumps(key)} twice", value)
        seen[key] = value
    return seen


def _refuse_constant(place: Place, constant: str) -> object:
    raise place.fault(f"holds {constant}, which is no JSON number")
