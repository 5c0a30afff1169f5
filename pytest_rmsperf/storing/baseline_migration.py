"""Baseline files of older schemas, brought up to the present one while they are read.

A migration works on plain JSON objects and knows no record, so that it stays right when the records
move on. It adds what the older version did not know; all else is left for the reader to judge. The
file on disk stays as it is until the next save.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_rmsperf.storing.baseline_json import Place, as_object, require_keys

SCHEMA_VERSION = 3
# What a file of each version holds.
KEYS: Mapping[int, set[str]] = {
    1: {"cases", "runs", "schema_version"},
    2: {"cases", "runs", "schema_version"},
    3: {"cases", "kernels", "launches", "runs", "schema_version"},
}

Top = dict[str, object]

# The resources of a case, up to version 2.
_OLD_RESOURCES = {
    "blocks_per_sm",
    "dynamic_smem_bytes",
    "headroom_blocks",
    "local_bytes",
    "registers_per_thread",
    "static_smem_bytes",
}


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
    return {
        **top,
        "runs": _each(top, "runs", _run_from_1, place),
        "cases": _each(top, "cases", _case_from_1, place),
    }


def _from_2(top: Top, place: Place) -> Top:
    """Version 2 kept six figures of one kernel, and did not say of which.

    They cannot be held against what a case costs today, where each kernel has a name, so they are
    dropped: such a baseline does not tell its cost.
    """
    cases = _each(top, "cases", _case_from_2, place)
    return {**top, "cases": cases, "kernels": {}, "launches": {}}


# By the version that each one reads; it returns the version after that.
MIGRATIONS: Mapping[int, Callable[[Top, Place], Top]] = {1: _from_1, 2: _from_2}


def _each(top: Top, section: str, change: Callable[[object, Place], Top], place: Place) -> Top:
    spot = place.at(section)
    items = as_object(top[section], spot)
    return {key: change(one, spot.at(key)) for key, one in items.items()}


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


def _case_from_2(value: object, place: Place) -> Top:
    case = as_object(value, place)
    old = case.get("resources")
    if old is None:  # or missing
        return case
    spot = place.at("resources")
    require_keys(as_object(old, spot), _OLD_RESOURCES, spot)
    return {**case, "resources": None}


def _with(value: object, added: Mapping[str, object], place: Place) -> Top:
    old = as_object(value, place)
    for key in sorted(old.keys() & added.keys()):
        raise place.at(key).refuse("is not a known key of this schema_version", old[key])
    return {**old, **added}
