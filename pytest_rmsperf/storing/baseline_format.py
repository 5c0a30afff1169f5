"""The text of a baseline file: records to reviewable JSON and back, strictly.

One case is one line and names the run, the kernels and the launches that it shares with others by
keys of their lines, so a review shows one changed line per changed figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_rmsperf.environment import DeviceIdentity, Provenance
from pytest_rmsperf.measurement import (
    Conditions,
    Measurement,
    Noise,
    ProbeFigures,
    Run,
    SessionFigures,
)
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Quartiles, Timing
from pytest_rmsperf.storing.baseline_json import (
    Place,
    as_object,
    document,
    parse,
    require_keys,
)
from pytest_rmsperf.storing.baseline_migration import KEYS, SCHEMA_VERSION, migrated
from pytest_rmsperf.storing.cost_json import LEAST, SHARED, require_accepted
from pytest_rmsperf.storing.record_json import (
    Layout,
    Reader,
    Section,
    Writer,
    reader_of,
    version_of,
)

_SOURCES = ("measured", "published")


def _not_rising(one: Quartiles) -> str | None:
    if one.q1_ns <= one.median_ns <= one.q3_ns:
        return None
    return "must rise from first quartile over median to third"


LAYOUT = Layout(
    shared={Run: Section("runs"), **SHARED},
    rows=(Quartiles, ProbeFigures),  # [q1, median, q3] and [device, completion]
    least={
        **LEAST,
        (Protocol, "cooldown_ms"): 0,
        (Protocol, "precision_ppm"): 0,
        # An instrument of somebody else need not tell the turns of its sessions.
        (Conditions, "blocks"): 0,
        (Conditions, "most_power_mw"): 0,
        (Conditions, "most_temperature_c"): 0,
        (Noise, "device_floor_ppm"): 0,
        (Noise, "device_detectable_ppm"): 0,
        (Noise, "completion_floor_ppm"): 0,
        (Noise, "completion_detectable_ppm"): 0,
    },
    in_ns={(SessionFigures, "device"), (SessionFigures, "completion")},
    # A published text leaves these open; the records have no null there, so they hold a value that
    # no measurement has. Protocol version 0 differs from every protocol of ours.
    stand_ins={
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
    },
    rules={Quartiles: _not_rising},
)


def encode(measurements: Mapping[str, Measurement], place: Place) -> bytes:
    """Return the file for these cases.

    Raises BaselineError for a value that is no plain int, str, bool, None, word of a text enum,
    record, or tuple of them.
    """
    writer = Writer(LAYOUT, place)
    cases = {}
    for case_id, one in measurements.items():
        spot = replace(place, published=one.run.source == "published").at("cases").at(case_id)
        cases[case_id] = writer.fields(one, spot, left_out=("case_id",))
    return document({**writer.sections, "cases": cases, "schema_version": SCHEMA_VERSION})


def decode(raw: bytes, place: Place) -> dict[str, Measurement]:
    """Return the cases of a file by id, also of one that an older version wrote.

    Raises BaselineError for anything that `encode`, or that of the older version, would not write.
    """
    top = _of_this_schema(parse(raw, place), place)
    runs = {
        run_id: _decode_run(value, place.at("runs").at(run_id))
        for run_id, value in as_object(top["runs"], place.at("runs")).items()
    }
    reader = reader_of(LAYOUT, top, place, {Run: runs})
    cases = as_object(top["cases"], place.at("cases"))
    if not cases:
        raise place.at("cases").fault("is empty: a baseline file holds at least one case")
    return {
        case_id: _decode_case(case_id, value, reader, place.at("cases").at(case_id))
        for case_id, value in cases.items()
    }


def _of_this_schema(value: object, place: Place) -> dict[str, object]:
    top = as_object(value, place)
    version = version_of(top, min(KEYS), SCHEMA_VERSION, place)
    require_keys(top, KEYS[version], place)
    return migrated(top, version, place)


def _decode_run(value: object, place: Place) -> Run:
    source = as_object(value, place).get("source")
    run = Reader(LAYOUT).record(Run, value, replace(place, published=source == "published"))
    if run.source not in _SOURCES:
        raise place.at("source").refuse(f"must be {' or '.join(_SOURCES)}", run.source)
    return run


def _decode_case(case_id: str, value: object, reader: Reader, place: Place) -> Measurement:
    items = as_object(value, place)
    require_keys(items, {*LAYOUT.keys(Measurement, ("case_id",))}, place)
    run = reader.named(Run, items["run"], place.at("run"))
    place = replace(place, published=run.source == "published")
    measurement = reader.record(Measurement, items, place, case_id=case_id)
    if not measurement.sessions:
        raise place.at("sessions").fault("is empty: a measurement has at least one session")
    resources = measurement.resources
    if resources is not None:
        require_accepted(resources.kernels, (resources.fit,), place.at("resources"))
    return measurement
