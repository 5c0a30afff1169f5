"""The text of a baseline file: records to reviewable JSON and back, strictly.

One case is one line and names the run it shares with others by a hash of the run's content, so a
review shows one changed line per changed figure. Reading trusts nothing: whatever the writer would
not have written is a BaselineError that names the file, the key and the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.measurement import Measurement, ProbeFigures, Run, SessionFigures
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Quartiles, Timing
from pytest_rmsperf.storing.baseline_json import Place, as_object, compact, parse, require_keys
from pytest_rmsperf.storing.baseline_migration import MIGRATIONS, SCHEMA_VERSION, migrated

Record = TypeVar("Record")

# Written as [q1, median, q3] and [device, completion], in the order of their fields.
_ROWS: tuple[type[object], ...] = (Quartiles, ProbeFigures)
_IN_NS = {(SessionFigures, "device"), (SessionFigures, "completion")}
# Every other whole number in the file counts something that a measurement has at least once.
_MAY_BE_ZERO = {
    "static_smem_bytes",
    "dynamic_smem_bytes",
    "local_bytes",
    "headroom_blocks",
    "cooldown_ms",
    "precision_ppm",
    "most_power_mw",
    "most_temperature_c",
    "blocks",  # of a session: an instrument of somebody else need not tell its turns
    "device_floor_ppm",
    "device_detectable_ppm",
    "completion_floor_ppm",
    "completion_detectable_ppm",
}
_WORDS = {int: "a whole number", str: "a string", bool: "true or false", list: "a list"}
_SOURCES = ("measured", "published")
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
    (SessionFigures, "timing"): Timing.GRAPH,
    (Measurement, "inputs"): "unknown",
    (Measurement, "flags"): (),
}


def encode(measurements: Mapping[str, Measurement], place: Place) -> bytes:
    """Return the file for these cases: sorted, ASCII, one line per case and per run.

    Raises BaselineError for a value that is no plain int, str, bool, None, word of a text enum, or
    tuple of them.
    """
    runs: dict[str, object] = {}
    cases: dict[str, object] = {}
    for case_id, measurement in measurements.items():
        spot = replace(place, published=measurement.run.source == "published")
        run = _plain(measurement.run, spot.at("runs"))
        run_id = sha256(compact(run).encode("ascii")).hexdigest()[:12]
        runs[run_id] = run
        case = _plain_fields(measurement, spot.at("cases").at(case_id), given=("case_id", "run"))
        cases[case_id] = {**case, "run": run_id}
    body = (
        f"{{\n{_section('cases', cases)},\n{_section('runs', runs)},\n"
        f'  "schema_version": {SCHEMA_VERSION}\n}}\n'
    )
    return body.encode("ascii")


def decode(raw: bytes, place: Place) -> dict[str, Measurement]:
    """Return the cases of a file by id, also of one that an older version wrote.

    Raises BaselineError for anything that `encode`, or that of the older version, would not write.
    """
    top = _of_this_schema(parse(raw, place), place)
    runs = {
        run_id: _decode_run(value, place.at("runs").at(run_id))
        for run_id, value in as_object(top["runs"], place.at("runs")).items()
    }
    cases = as_object(top["cases"], place.at("cases"))
    if not cases:
        raise place.at("cases").fault("is empty: a baseline file holds at least one case")
    return {
        case_id: _decode_case(case_id, value, runs, place.at("cases").at(case_id))
        for case_id, value in cases.items()
    }


def _section(name: str, items: Mapping[str, object]) -> str:
    rows = ",\n".join(f"    {compact(key)}: {compact(items[key])}" for key in sorted(items))
    return f'  "{name}": {{\n{rows}\n  }}'


def _plain(value: object, place: Place) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        items = _plain_fields(value, place)
        return list(items.values()) if isinstance(value, _ROWS) else items
    if isinstance(value, tuple):
        return [_plain(one, place.at(index)) for index, one in enumerate(value)]
    if isinstance(value, Enum) and isinstance(value, str):
        return value.value
    if type(value) not in (int, str, bool, NoneType):  # NumPy's and IntEnum's numbers look alike
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


def _of_this_schema(value: object, place: Place) -> dict[str, object]:
    top = as_object(value, place)
    spot = place.at("schema_version")
    if "schema_version" not in top:
        raise spot.fault("is missing")
    version = _scalar(int, top["schema_version"], spot)
    if version > SCHEMA_VERSION:
        remedy = "read it with a newer version: pip install --upgrade pytest-rmsperf"
        raise replace(spot, remedy=remedy).refuse(f"must be at most {SCHEMA_VERSION}", version)
    if version < min(MIGRATIONS):
        raise spot.refuse(f"must be at least {min(MIGRATIONS)}", version)
    require_keys(top, {"cases", "runs", "schema_version"}, place)
    return migrated(top, version, place)


def _decode_run(value: object, place: Place) -> Run:
    source = as_object(value, place).get("source")
    run = _record(Run, value, replace(place, published=source == "published"))
    if run.source not in _SOURCES:
        raise place.at("source").refuse(f"must be {' or '.join(_SOURCES)}", run.source)
    return run


def _decode_case(case_id: str, value: object, runs: Mapping[str, Run], place: Place) -> Measurement:
    items = as_object(value, place)
    require_keys(items, {*_keys(Measurement, ("case_id",))}, place)
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
    items = _row(value, keys, place) if kind in _ROWS else as_object(value, place)
    require_keys(items, {*keys}, place)
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
        return _one(kind, value, place)
    items = _scalar(list, value, place)
    if arguments[-1] is Ellipsis:
        arguments = arguments[:1] * len(items)
    if len(arguments) != len(items):
        raise place.refuse(f"must be a list of {len(arguments)}", value)
    pairs = enumerate(zip(arguments, items, strict=True))
    return tuple(_value(inner, item, place.at(index)) for index, (inner, item) in pairs)


def _one(kind: type[Any], value: object, place: Place) -> object:
    if not issubclass(kind, Enum):
        build = _record if is_dataclass(kind) else _scalar
        return build(kind, value, place)
    words = {one.value: one for one in kind}
    if type(value) is not str or value not in words:
        raise place.refuse(f"must be one of {', '.join(words)}", value)
    return words[value]


def _scalar(kind: type[Record], value: object, place: Place) -> Record:
    if type(value) is not kind:  # isinstance would take true for the number 1
        raise place.refuse(f"must be {_WORDS[kind]}", value)
    return value
