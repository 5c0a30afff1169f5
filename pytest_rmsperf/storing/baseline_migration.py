"""Baseline files of older schemas, brought up to the present one while they are read.

A migration works on plain JSON objects and knows no record, so that it stays right when the records
move on. It adds what the older version did not know; all else is left for the reader to judge. The
file on disk stays as it is until the next save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_rmsperf.storing.baseline_json import Place, as_object

SCHEMA_VERSION = 2

Top = dict[str, object]


def migrated(top: Top, version: int, place: Place) -> Top:
    """Return a file of an older schema as one of the present schema.

    `top` has the keys of its version. BaselineError when a value that has to be looked into is no
    object, or has a key that its version did not know.
    """
    for step in range(version, SCHEMA_VERSION):
        top = MIGRATIONS[step](top, place)
    return {**top, "schema_version": SCHEMA_VERSION}


def _from_1(top: Top, place: Place) -> Top:
    """Version 1 kept neither conditions nor anchor nor noise, and had one way of timing."""
    runs = as_object(top["runs"], place.at("runs"))
    cases = as_object(top["cases"], place.at("cases"))
    return {
        **top,
        "runs": {key: _run_from_1(one, place.at("runs").at(key)) for key, one in runs.items()},
        "cases": {key: _case_from_1(one, place.at("cases").at(key)) for key, one in cases.items()},
    }


# By the version that each one reads; it returns the version after that.
MIGRATIONS: Mapping[int, Callable[[Top, Place], Top]] = {1: _from_1}


def _run_from_1(value: object, place: Place) -> Top:
    run = _with(value, {"power_limit_mw": None, "conditions": []}, place)
    if run.get("protocol") is None:  # of a published text, or missing
        return run
    # Sessions of protocol version 1 always took all their blocks, however long that lasted. Its
    # figures are never compared, so what stands for "no limit" (an hour) decides nothing.
    added = {"cooldown_ms": 0, "precision_ppm": 0, "budget_ms": 3_600_000}
    return {**run, "protocol": _with(run["protocol"], added, place.at("protocol"))}


def _case_from_1(value: object, place: Place) -> Top:
    case = _with(value, {"anchor": None, "noise": None}, place)
    sessions = case.get("sessions")
    if not isinstance(sessions, list):
        return case
    spot = place.at("sessions")
    return {
        **case,
        "sessions": [_session_from_1(one, spot.at(index)) for index, one in enumerate(sessions)],
    }


def _session_from_1(value: object, place: Place) -> Top:
    session = as_object(value, place)
    # A published figure has no graph: nothing is known of its launches.
    was_timed = session.get("launches_per_graph") is not None
    return _with(session, {"timing": "graph" if was_timed else None}, place)


def _with(value: object, added: Mapping[str, object], place: Place) -> Top:
    old = as_object(value, place)
    for key in sorted(old.keys() & added.keys()):
        raise place.at(key).refuse("is not a known key of this schema_version", old[key])
    return {**old, **added}
