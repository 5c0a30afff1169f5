"""The text of a static baseline file: what each case of an operator costs on one arch.

It says neither when nor at which commit: a cost is an exact function of sources, flags and
compiler, so that a kernel and its static baseline are committed together, and saving what has not
changed leaves every byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.storing.baseline_json import (
    Place,
    as_object,
    compact,
    document,
    parse,
    require_keys,
)
from pytest_rmsperf.storing.cost_json import LEAST, SHARED, require_accepted
from pytest_rmsperf.storing.record_json import (
    Layout,
    Reader,
    Section,
    Writer,
    reader_of,
    scalar,
    version_of,
)

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Compiler:
    """What else than source and flags shaped the machine code of many cases."""

    identity: tuple[tuple[str, str], ...]


LAYOUT = Layout(shared={_Compiler: Section("compilers"), **SHARED}, least=LEAST)
_KEYS = {"arch", "cases", "compilers", "kernels", "launches", "schema_version"}


def encode(costs: Mapping[str, StaticCost], arch: str, place: Place) -> bytes:
    """Return the file of an arch for these cases.

    Raises BaselineError for the cost of another arch, and for a value that JSON cannot hold.
    """
    writer = Writer(LAYOUT, place)
    cases = {}
    for case_id, one in costs.items():
        spot = place.at("cases").at(case_id)
        if one.arch != arch:
            raise spot.refuse(f"must be compiled for {arch}", one.arch)
        items = writer.fields(one, spot, left_out=("case_id", "arch", "compiler"))
        cases[case_id] = {**items, "compiler": writer.plain(_Compiler(one.compiler), spot)}
    top = {"arch": arch, "cases": cases, "schema_version": SCHEMA_VERSION}
    return document({**writer.sections, **top})


def decode(raw: bytes, place: Place) -> dict[str, StaticCost]:
    """Return the cases of a file by id; BaselineError for anything `encode` would not write."""
    top = as_object(parse(raw, place), place)
    version_of(top, SCHEMA_VERSION, SCHEMA_VERSION, place)
    require_keys(top, _KEYS, place)
    arch = scalar(str, top["arch"], place.at("arch"))
    reader = reader_of(LAYOUT, top, place)
    cases = as_object(top["cases"], place.at("cases"))
    if not cases:
        raise place.at("cases").fault("is empty: a baseline file holds at least one case")
    known: dict[str, StaticCost] = {}  # a case costs the same by either submission
    found: dict[str, StaticCost] = {}
    for case_id, value in cases.items():
        text = compact(value)
        if text not in known:
            spot = place.at("cases").at(case_id)
            known[text] = _decode_case(case_id, value, arch, reader, spot)
        found[case_id] = replace(known[text], case_id=case_id)
    return found


def _decode_case(
    case_id: str, value: object, arch: str, reader: Reader, place: Place
) -> StaticCost:
    items = as_object(value, place)
    require_keys(items, {"compiler", "fits", "flags", "kernels"}, place)
    compiler = reader.named(_Compiler, items["compiler"], place.at("compiler"))
    rest = {key: one for key, one in items.items() if key != "compiler"}
    cost = reader.record(
        StaticCost, rest, place, case_id=case_id, arch=arch, compiler=compiler.identity
    )
    devices = [one.device for one in cost.fits]
    if not devices or len(devices) > len(set(devices)):
        raise place.at("fits").refuse("must hold one or more devices, each once", devices)
    require_accepted(cost.kernels, cost.fits, place)
    return cost
