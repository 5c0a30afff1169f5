"""The text of a baseline file: records to reviewable JSON and back, strictly.

One case is one line and names the run it shares with others by a hash of the run's content, so a
review shows one changed line per changed figure. Reading trusts nothing: whatever the writer would
not have written is a BaselineError that names the file, the key and the value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from shlex import quote
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.errors import BaselineError, SettingError
from pytest_rmsperf.measurement import Measurement, ProbeFigures, Protocol, Run, SessionFigures
from pytest_rmsperf.samples import Quartiles

SCHEMA_VERSION = 1

Record = TypeVar("Record")

# Written as [q1, median, q3] and [device, completion], in the order of their fields.
_ROWS: tuple[type[object], ...] = (Quartiles, ProbeFigures)
_IN_NS = {(SessionFigures, "device"), (SessionFigures, "completion")}
# Every other whole number in the file counts something that a measurement has at least once.
_MAY_BE_ZERO = {"static_smem_bytes", "dynamic_smem_bytes", "local_bytes", "headroom_blocks"}
_WORDS = {int: "a whole number", str: "a string", bool: "true or false", list: "a list"}
_SOURCES = ("measured", "published")
_CONFLICT_MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
# A published text leaves these open. The file says null; the records have no null there, so they
# hold a value that no measurement has. Protocol version 0 differs from every protocol of ours.
_STAND_INS: Mapping[tuple[type[object], str], object] = {
    (DeviceIdentity, "sms"): 0,
    (DeviceIdentity, "memory_mib"): 0,
    (Provenance, "date"): "unknown",
    (Provenance, "python"): "unknown",
    (Provenance, "rmsperf"): "unknown",
    (Provenance, "packages"): (),
    (Run, "compiler"): (),
    (Run, "protocol"): Protocol(version=0),
    (SessionFigures, "launches_per_graph"): 0,
    (Measurement, "inputs"): "unknown",
    (Measurement, "flags"): (),
}


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
        return replace(self, keys=(self.keys + step).lstrip("."))

    def fault(self, rule: str) -> BaselineError:
        """Return the error for a broken rule: verdict, file, key, rule, remedy."""
        where = f"{self.keys} " if self.keys else ""
        return BaselineError(f"{self.verdict} {self.file}: {where}{rule}\n{self.remedy}")

    def refuse(self, rule: str, value: object) -> BaselineError:
        """Return the error for a value that breaks `rule`."""
        got = json.dumps(value, default=repr)
        return self.fault(f"{rule}, got {got if len(got) <= 80 else got[:77] + '...'}")


def encode(measurements: Mapping[str, Measurement], place: Place) -> bytes:
    """Return the file for these cases: sorted, ASCII, one line per case and per run.

    Raises BaselineError for a value that is no plain int, str, bool, None or tuple of them.
    """
    runs: dict[str, object] = {}
    cases: dict[str, object] = {}
    for case_id, measurement in measurements.items():
        spot = replace(place, published=measurement.run.source == "published")
        run = _plain(measurement.run, spot.at("runs"))
        run_id = sha256(_compact(run).encode("ascii")).hexdigest()[:12]
        runs[run_id] = run
        case = _plain_fields(measurement, spot.at("cases").at(case_id), given=("case_id", "run"))
        cases[case_id] = {**case, "run": run_id}
    body = (
        f"{{\n{_section('cases', cases)},\n{_section('runs', runs)},\n"
        f'  "schema_version": {SCHEMA_VERSION}\n}}\n'
    )
    return body.encode("ascii")


def decode(raw: bytes, place: Place) -> dict[str, Measurement]:
    """Return the cases of a file by id; BaselineError for anything `encode` would not write."""
    top = _schema_checked(_parse(raw, place), place)
    _require_keys(top, {"cases", "runs", "schema_version"}, place)
    runs = {
        run_id: _decode_run(value, place.at("runs").at(run_id))
        for run_id, value in _object(top["runs"], place.at("runs")).items()
    }
    cases = _object(top["cases"], place.at("cases"))
    if not cases:
        raise place.at("cases").fault("is empty: a baseline file holds at least one case")
    return {
        case_id: _decode_case(case_id, value, runs, place.at("cases").at(case_id))
        for case_id, value in cases.items()
    }


def _section(name: str, items: Mapping[str, object]) -> str:
    rows = ",\n".join(f"    {_compact(key)}: {_compact(items[key])}" for key in sorted(items))
    return f'  "{name}": {{\n{rows}\n  }}'


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)


def _plain(value: object, place: Place) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        items = _plain_fields(value, place)
        return list(items.values()) if isinstance(value, _ROWS) else items
    if isinstance(value, tuple):
        return [_plain(one, place.at(index)) for index, one in enumerate(value)]
    if type(value) not in (int, str, bool, NoneType):  # NumPy numbers and enums look alike, only
        raise place.refuse("must be a plain int, str, bool or None", value)
    return value


def _plain_fields(record: Any, place: Place, given: tuple[str, ...] = ()) -> dict[str, object]:
    plain: dict[str, object] = {}
    for key, name in _keys(type(record), given).items():
        value = getattr(record, name)
        unknown = place.published and _STAND_INS.get((type(record), name)) == value
        plain[key] = None if unknown else _plain(value, place.at(key))
    return plain


def _keys(kind: Any, given: tuple[str, ...] = ()) -> dict[str, str]:
    """Return JSON key -> field name, without the fields that stand elsewhere in the file."""
    names = (field.name for field in fields(kind) if field.name not in given)
    return {f"{name}_ns" if (kind, name) in _IN_NS else name: name for name in names}


def _parse(raw: bytes, place: Place) -> object:
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


def _object(value: object, place: Place) -> dict[str, object]:
    if not isinstance(value, dict):
        raise place.refuse("must be an object", value)
    return value


def _require_keys(items: Mapping[str, object], keys: set[str], place: Place) -> None:
    for key in sorted(items.keys() - keys):
        raise place.at(key).refuse("is not a known key", items[key])
    for key in sorted(keys - items.keys()):
        raise place.at(key).fault("is missing")


def _schema_checked(value: object, place: Place) -> dict[str, object]:
    top = _object(value, place)
    if "schema_version" not in top:
        raise place.at("schema_version").fault("is missing")
    place = place.at("schema_version")
    version = _scalar(int, top["schema_version"], place)
    if version > SCHEMA_VERSION:
        remedy = "read it with a newer version: pip install --upgrade pytest-rmsperf"
        raise replace(place, remedy=remedy).refuse(f"must be at most {SCHEMA_VERSION}", version)
    if version < SCHEMA_VERSION:
        raise place.refuse(f"must be {SCHEMA_VERSION}", version)
    return top


def _decode_run(value: object, place: Place) -> Run:
    source = _object(value, place).get("source")
    run = _record(Run, value, replace(place, published=source == "published"))
    if run.source not in _SOURCES:
        raise place.at("source").refuse(f"must be {' or '.join(_SOURCES)}", run.source)
    return run


def _decode_case(case_id: str, value: object, runs: Mapping[str, Run], place: Place) -> Measurement:
    items = _object(value, place)
    _require_keys(items, {*_keys(Measurement, ("case_id",))}, place)
    run = runs.get(_scalar(str, items["run"], place.at("run")))
    if run is None:
        raise place.at("run").refuse("must be a key of runs", items["run"])
    rest = {key: one for key, one in items.items() if key != "run"}
    place = replace(place, published=run.source == "published")
    measurement = _record(Measurement, rest, place, case_id=case_id, run=run)
    if not measurement.sessions:
        raise place.at("sessions").fault("is empty: a measurement has at least one session")
    return measurement


def _record(kind: type[Record], value: object, place: Place, **given: object) -> Record:
    """Build a `kind` of the fields given and of those in `value`, each by its annotation."""
    keys = _keys(kind, tuple(given))
    items = _row(value, keys, place) if kind in _ROWS else _object(value, place)
    _require_keys(items, {*keys}, place)
    hints = get_type_hints(kind)
    values: dict[str, Any] = dict(given)
    for key, name in keys.items():
        spot = place if kind in _ROWS else place.at(key)
        if items[key] is None and place.published and (kind, name) in _STAND_INS:
            values[name] = _STAND_INS[kind, name]
        else:
            values[name] = _value(hints[name], items[key], spot)
            _require_count(name, values[name], spot)
    try:
        record = kind(**values)
    except SettingError as error:
        raise place.refuse(f"is refused: {error}", value) from error
    if isinstance(record, Quartiles) and not record.q1_ns <= record.median_ns <= record.q3_ns:
        raise place.refuse("must rise from first quartile over median to third", value)
    return record


def _row(value: object, keys: Mapping[str, str], place: Place) -> dict[str, object]:
    if not isinstance(value, list) or len(value) != len(keys):
        raise place.refuse(f"must be a list of {len(keys)} ({', '.join(keys)})", value)
    return dict(zip(keys, value, strict=True))


def _require_count(name: str, value: object, place: Place) -> None:
    least = 0 if name in _MAY_BE_ZERO else 1
    if type(value) is int and value < least:
        raise place.refuse(f"must be at least {least}", value)


def _value(kind: Any, value: object, place: Place) -> object:
    """Return `value` as annotated: a scalar, a record, a tuple, or one of these or None."""
    arguments = get_args(kind)
    if NoneType in arguments:
        inner = next(one for one in arguments if one is not NoneType)
        return None if value is None else _value(inner, value, place)
    if get_origin(kind) is not tuple:
        build = _record if is_dataclass(kind) else _scalar
        return build(kind, value, place)
    items = _scalar(list, value, place)
    if arguments[-1] is Ellipsis:
        arguments = arguments[:1] * len(items)
    if len(arguments) != len(items):
        raise place.refuse(f"must be a list of {len(arguments)}", value)
    pairs = enumerate(zip(arguments, items, strict=True))
    return tuple(_value(inner, item, place.at(index)) for index, (inner, item) in pairs)


def _scalar(kind: type[Record], value: object, place: Place) -> Record:
    if type(value) is not kind:  # isinstance would take true for the number 1
        raise place.refuse(f"must be {_WORDS[kind]}", value)
    return value
