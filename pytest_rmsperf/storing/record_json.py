"""Records as plain JSON values and back, each field by its annotation: what all formats share.

What a format does differently from "an object with the record's fields" is its `Layout`. Reading
trusts nothing: a value that the writer would not have written is a BaselineError that names the
file, the key and the value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from hashlib import sha256
from types import MappingProxyType, NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pytest_rmsperf.errors import SettingError
from pytest_rmsperf.storing.baseline_json import Place, as_object, compact, require_keys

Record = TypeVar("Record")
FieldKey = tuple[type[object], str]  # a record and the name of one of its fields

_WORDS = {int: "a whole number", str: "a string", bool: "true or false", list: "a list"}


@dataclass(frozen=True, slots=True)
class Section:
    """Where a file holds the records of one type, each once, that elsewhere a key stands for.

    A key is a hash of the content. It begins with the field `label`, if one is named: keys are
    sorted, so the old and the new line of one thing stand together in a review.
    """

    name: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How one format writes its records.

    `rows` are lists, in the order of their fields. `least` is the smallest number that a field may
    hold, None for any: what is not in it counts something that is there at least once. `in_ns` are
    fields of records that say no unit: their key does. `stand_ins` are what records hold where a
    published text says nothing and the file says null. `rules` return what is wrong with a record.
    """

    shared: Mapping[type[object], Section] = field(default_factory=dict)
    rows: Collection[type[object]] = ()
    least: Mapping[FieldKey, int | None] = field(default_factory=dict)
    in_ns: Collection[FieldKey] = ()
    stand_ins: Mapping[FieldKey, object] = field(default_factory=dict)
    rules: Mapping[type[object], Callable[[Any], str | None]] = field(default_factory=dict)

    def keys(self, kind: Any, left_out: Collection[str] = ()) -> dict[str, str]:
        """Return JSON key -> field name, without the fields that stand elsewhere in the file."""
        names = (one.name for one in fields(kind) if one.name not in left_out)
        return {f"{name}_ns" if (kind, name) in self.in_ns else name: name for name in names}


class Writer:
    """Turns records into plain values, and gathers the shared ones in `sections`."""

    def __init__(self, layout: Layout, place: Place) -> None:
        self.sections: dict[str, dict[str, object]] = {
            one.name: {} for one in layout.shared.values()
        }
        self._layout = layout
        self._place = place

    def fields(
        self, record: Any, place: Place, *, left_out: Collection[str] = ()
    ) -> dict[str, object]:
        """Return a record as an object without the fields that are `left_out`.

        Raises BaselineError for a value that is no plain int, str, bool, None, word of a text enum,
        record, or tuple of them.
        """
        kind, plain = type(record), {}
        for key, name in self._layout.keys(kind, left_out).items():
            value = getattr(record, name)
            unknown = place.published and self._layout.stand_ins.get((kind, name)) == value
            plain[key] = None if unknown else self.plain(value, place.at(key))
        return plain

    def plain(self, value: object, place: Place) -> object:
        """Return a value for JSON; of a shared record the key that stands for it."""
        if is_dataclass(value) and not isinstance(value, type):
            return self._plain_record(value, place)
        if isinstance(value, tuple):
            return [self.plain(one, place.at(index)) for index, one in enumerate(value)]
        if isinstance(value, Enum) and isinstance(value, str):
            return value.value
        if type(value) not in (int, str, bool, NoneType):  # NumPy's and IntEnum's look alike
            raise place.refuse("must be a plain int, str, bool or None", value)
        return value

    def _plain_record(self, record: object, place: Place) -> object:
        section = self._layout.shared.get(type(record))
        if section is not None:
            return self._share(record, section, published=place.published)
        items = self.fields(record, place)
        return list(items.values()) if type(record) in self._layout.rows else items

    def _share(self, record: object, section: Section, *, published: bool) -> str:
        place = replace(self._place, published=published).at(section.name)
        content = self.fields(record, place)
        digest = sha256(compact(content).encode("ascii")).hexdigest()[:12]
        key = f"{getattr(record, section.label)}-{digest}" if section.label else digest
        self.sections[section.name][key] = content
        return key


@dataclass(frozen=True, slots=True)
class Reader:
    """Builds records of plain values; `known` are the shared ones, by type and key."""

    layout: Layout
    known: Mapping[type[object], Mapping[str, object]] = field(default_factory=dict)

    def section(self, kind: type[Record], value: object, place: Place) -> dict[str, Record]:
        """Return all records of a section, by key; `place` is that of the section."""
        items = as_object(value, place)
        return {key: self.record(kind, one, place.at(key)) for key, one in items.items()}

    def named(self, kind: type[Record], value: object, place: Place) -> Record:
        """Return the shared record that a key stands for."""
        record = self.known[kind].get(scalar(str, value, place))
        if not isinstance(record, kind):
            raise place.refuse(f"must be a key of {self.layout.shared[kind].name}", value)
        return record

    def record(self, kind: type[Record], value: object, place: Place, **given: object) -> Record:
        """Build a `kind` of the fields given and of those in `value`, each by its annotation."""
        layout, is_row = self.layout, kind in self.layout.rows
        keys = layout.keys(kind, given)
        items = _row(value, keys, place) if is_row else as_object(value, place)
        require_keys(items, {*keys}, place)
        hashable: Any = kind  # which mypy does not know of the type of any record
        hints = _hints(hashable)
        values: dict[str, Any] = dict(given)
        for key, name in keys.items():
            spot = place if is_row else place.at(key)
            if items[key] is None and place.published and (kind, name) in layout.stand_ins:
                values[name] = layout.stand_ins[kind, name]
            else:
                values[name] = self._value(hints[name], items[key], spot)
                _require_least(values[name], layout.least.get((kind, name), 1), spot)
        try:
            record = kind(**values)
        except SettingError as error:
            raise place.refuse(f"is refused: {error}", value) from error
        broken = layout.rules[kind](record) if kind in layout.rules else None
        if broken is not None:
            raise place.refuse(broken, value)
        return record

    def _value(self, kind: Any, value: object, place: Place) -> object:
        """Return `value` as annotated: a scalar, a record, a tuple, or one of these or None."""
        arguments = get_args(kind)
        if NoneType in arguments:
            inner = next(one for one in arguments if one is not NoneType)
            return None if value is None else self._value(inner, value, place)
        if get_origin(kind) is not tuple:
            return self._one(kind, value, place)
        items = scalar(list, value, place)
        if arguments[-1] is Ellipsis:
            arguments = arguments[:1] * len(items)
        if len(arguments) != len(items):
            raise place.refuse(f"must be a list of {len(arguments)}", value)
        pairs = enumerate(zip(arguments, items, strict=True))
        return tuple(self._value(inner, item, place.at(index)) for index, (inner, item) in pairs)

    def _one(self, kind: type[Any], value: object, place: Place) -> object:
        if kind in self.layout.shared:
            return self.named(kind, value, place)
        if is_dataclass(kind):
            return self.record(kind, value, place)
        if not issubclass(kind, Enum):
            return scalar(kind, value, place)
        words = {one.value: one for one in kind}
        if type(value) is not str or value not in words:
            raise place.refuse(f"must be one of {', '.join(words)}", value)
        return words[value]


def reader_of(
    layout: Layout,
    top: Mapping[str, object],
    place: Place,
    known: Mapping[type[object], Mapping[str, object]] = MappingProxyType({}),
) -> Reader:
    """Return a reader that knows the shared records of a file, besides those already known."""
    reader = Reader(layout)
    found = {
        kind: reader.section(kind, top[section.name], place.at(section.name))
        for kind, section in layout.shared.items()
        if kind not in known
    }
    return Reader(layout, {**known, **found})


def scalar(kind: type[Record], value: object, place: Place) -> Record:
    """Return `value` if it is of this very type; BaselineError otherwise."""
    if type(value) is not kind:  # isinstance would take true for the number 1
        raise place.refuse(f"must be {_WORDS[kind]}", value)
    return value


def version_of(top: Mapping[str, object], oldest: int, newest: int, place: Place) -> int:
    """Return the schema_version of a file; BaselineError when it is none of these."""
    spot = place.at("schema_version")
    if "schema_version" not in top:
        raise spot.fault("is missing")
    version = scalar(int, top["schema_version"], spot)
    if version > newest:
        remedy = "read it with a newer version: pip install --upgrade pytest-rmsperf"
        raise replace(spot, remedy=remedy).refuse(f"must be at most {newest}", version)
    if version < oldest:
        raise spot.refuse(f"must be at least {oldest}", version)
    return version


@cache
def _hints(kind: type[object]) -> dict[str, Any]:
    # A file holds thousands of records of a dozen types.
    return get_type_hints(kind)


def _row(value: object, keys: Mapping[str, str], place: Place) -> dict[str, object]:
    if not isinstance(value, list) or len(value) != len(keys):
        raise place.refuse(f"must be a list of {len(keys)} ({', '.join(keys)})", value)
    return dict(zip(keys, value, strict=True))


def _require_least(value: object, least: int | None, place: Place) -> None:
    if least is None:
        return
    for number in _numbers(value):
        if number < least:
            raise place.refuse(f"must be at least {least}", number)


def _numbers(value: object) -> Iterator[int]:
    """Yield the whole numbers in a value that is no record."""
    if type(value) is int:
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _numbers(one)
