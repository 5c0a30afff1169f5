"""The text of a baseline file: what reading refuses, and in which words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candidates import DIRECT, GRAPH, RESOURCES
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import (
    Anchor,
    Conditions,
    Measurement,
    Noise,
    ProbeFigures,
    SessionFigures,
)
from pytest_rmsperf.protocol import Protocol, StopReason
from pytest_rmsperf.samples import Quartiles, Timing
from pytest_rmsperf.storing.baseline_format import decode, encode
from pytest_rmsperf.storing.baseline_json import Place

GOOD = (Path(__file__).parent / "data" / "baseline_v3.json").read_bytes()
PUBLISHED = Path(__file__).parents[2] / "baselines" / "nvidia-h100-80gb" / "rms_scaled_softmax.json"
PLACE = Place(Path("softmax.json"), "cannot read baseline", "restore it")
SESSION = SessionFigures(
    device=Quartiles(8190, 8230, 8350),
    completion=Quartiles(13600, 13700, 13900),
    launches_per_graph=120,
    null=ProbeFigures(1200, 6100),
    copy=ProbeFigures(7050, 12800),
)
CONDITIONS = Conditions(
    blocks=9,
    stop_reason=StopReason.PRECISION,
    least_sm_mhz=1965,
    median_sm_mhz=1980,
    most_sm_mhz=1980,
    max_sm_mhz=1980,
    memory_mhz=3201,
    most_power_mw=312_000,
    most_temperature_c=41,
    clocks_event_reasons=("sw_power_cap",),
)
Edit = Callable[[Any], object]


class Figure(IntEnum):
    DRIVER = 580


@pytest.fixture
def written(measured: Callable[..., Measurement]) -> dict[str, Measurement]:
    """The measurements that `data/baseline_v3.json` was written from."""
    usual = measured().run
    provenance = replace(
        usual.provenance, date="2026-11-30T18:00:00Z", packages=(("numpy", "2.4.6"),)
    )
    graph = Measurement(
        case_id=GRAPH,
        run=replace(
            usual,
            compiler=(*usual.compiler, ("arch", "sm_90")),
            provenance=provenance,
            power_limit_mw=700_000,
            conditions=(CONDITIONS, Conditions(15, StopReason.BLOCKS)),
        ),
        inputs="normal",
        flags=("--use_fast_math",),
        sessions=(SESSION, replace(SESSION, null=None, copy=None)),
        resources=RESOURCES,
        note="accepted with the wider tile \u2013 twice as fast",
        anchor=Anchor(8190, 13_500, "2026-11-29T18:00:00Z", "1a2b3c4"),
        noise=Noise(12, 4100, 9000, 81_000, 260_000),
    )
    direct = replace(
        graph,
        case_id=DIRECT,
        run=replace(graph.run, driver=None, power_limit_mw=None, conditions=()),
        sessions=(replace(SESSION, timing=Timing.QUEUED),),
        resources=None,
        note=None,
        flags=(),
        anchor=None,
        noise=None,
    )
    return {GRAPH: graph, DIRECT: direct}


def test_file_reads_as_the_measurements_it_was_written_from(
    written: dict[str, Measurement],
) -> None:
    assert decode(GOOD, PLACE) == written


def test_measurements_are_written_as_the_file_they_read_from(
    written: dict[str, Measurement],
) -> None:
    assert encode(written, PLACE) == GOOD


def test_order_of_the_cases_does_not_show_in_the_file(written: dict[str, Measurement]) -> None:
    assert encode(dict(reversed(written.items())), PLACE) == GOOD


def test_one_changed_figure_changes_one_line(written: dict[str, Measurement]) -> None:
    before = written[GRAPH]
    slower = replace(SESSION, device=Quartiles(9010, 9050, 9120))
    changed = written | {GRAPH: replace(before, sessions=(slower, *before.sessions[1:]))}

    lines = zip(GOOD.splitlines(), encode(changed, PLACE).splitlines(), strict=True)

    assert [number for number, (old, new) in enumerate(lines, start=1) if old != new] == [4]


def test_cases_of_one_run_share_its_line(written: dict[str, Measurement]) -> None:
    measurement = written[GRAPH]
    same_run = {GRAPH: measurement, DIRECT: replace(measurement, case_id=DIRECT)}

    assert len(json.loads(encode(same_run, PLACE))["runs"]) == 1


def test_run_that_no_case_names_any_more_is_dropped() -> None:
    left = {GRAPH: decode(GOOD, PLACE)[GRAPH]}

    assert b'driver": null' not in encode(left, PLACE)


def test_published_figures_are_written_with_null_for_what_the_text_left_open() -> None:
    cases = decode(PUBLISHED.read_bytes(), PLACE)

    raw = encode(cases, PLACE)

    assert (b'"sms": null' in raw, decode(raw, PLACE)) == (True, cases)


def test_published_figures_are_comparable_with_no_protocol_of_ours() -> None:
    cases = decode(PUBLISHED.read_bytes(), PLACE).values()

    assert {Protocol().differs_from(one.run.protocol) for one in cases} == {"version 0 -> 2"}


def case(data: Any) -> Any:
    return data["cases"][GRAPH]


def session(data: Any) -> Any:
    return case(data)["sessions"][0]


def run(data: Any) -> Any:
    return data["runs"][case(data)["run"]]


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda d: d.update(extra=1), "extra is not a known key, got 1"),
        (lambda d: case(d).update(extra=1), f'cases["{GRAPH}"].extra is not a known key'),
        (lambda d: session(d).update(extra=1), "sessions[0].extra is not a known key"),
        (lambda d: run(d)["device"].update(mhz=1), "device.mhz is not a known key"),
        (lambda d: d.pop("runs"), "runs is missing"),
        (lambda d: d.pop("schema_version"), "schema_version is missing"),
        (lambda d: case(d).pop("note"), "note is missing"),
        (lambda d: case(d).pop("run"), "run is missing"),
        (lambda d: session(d).pop("completion_ns"), "completion_ns is missing"),
        (lambda d: run(d)["protocol"].pop("cache"), "protocol.cache is missing"),
        (lambda d: run(d)["protocol"].pop("budget_ms"), "protocol.budget_ms is missing"),
        (lambda d: run(d).pop("conditions"), "conditions is missing"),
        (lambda d: session(d).pop("timing"), "timing is missing"),
        (lambda d: case(d).pop("anchor"), "anchor is missing"),
        (lambda d: case(d)["noise"].pop("sessions"), "noise.sessions is missing"),
        (lambda d: session(d).update(completion_ms=[1, 2, 3]), "completion_ms is not a known key"),
        (lambda d: d.update(schema_version=4), "schema_version must be at most 3, got 4"),
        (lambda d: d.update(schema_version=0), "schema_version must be at least 1, got 0"),
        (lambda d: d.update(schema_version=True), "schema_version must be a whole number"),
        (lambda d: d.update(cases=[]), "cases must be an object, got []"),
        (lambda d: d.update(cases={}), "cases is empty"),
        (lambda d: case(d).update(run="0"), 'run must be a key of runs, got "0"'),
        (lambda d: case(d).update(run=1), "run must be a string, got 1"),
        (lambda d: case(d).update(flags="-O3"), 'flags must be a list, got "-O3"'),
        (lambda d: case(d).update(flags=None), "flags must be a list, got null"),
        (lambda d: case(d).update(inputs=3), "inputs must be a string, got 3"),
        (lambda d: case(d).update(sessions=[]), "sessions is empty"),
        (lambda d: session(d).update(launches_per_graph=True), "must be a whole number, got true"),
        (lambda d: session(d).update(launches_per_graph=None), "must be a whole number, got null"),
        (lambda d: session(d).update(launches_per_graph=0), "must be at least 1, got 0"),
        (lambda d: session(d).update(device_ns=[1, 2]), "device_ns must be a list of 3"),
        (lambda d: session(d).update(device_ns=[0, 2, 3]), "device_ns must be at least 1, got 0"),
        (lambda d: session(d).update(device_ns=[-1, 2, 3]), "must be at least 1, got -1"),
        (lambda d: session(d).update(device_ns=[1, 3, 2]), "must rise from first quartile"),
        (lambda d: session(d).update(device_ns=[2, 1, 3]), "must rise from first quartile"),
        (lambda d: session(d).update(device_ns=["1", 2, 3]), 'must be a whole number, got "1"'),
        (lambda d: session(d).update(device_ns=[1.5, 2, 3]), "must be a whole number, got 1.5"),
        (lambda d: session(d).update(completion_ns=None), "completion_ns must be a list of 3"),
        (lambda d: session(d).update(null=[0, 5]), "null must be at least 1, got 0"),
        (lambda d: run(d).update(source="guessed"), "source must be measured or published"),
        (lambda d: session(d).update(timing="guessed"), "timing must be one of graph, queued, got"),
        (lambda d: session(d).update(timing="GRAPH"), 'must be one of graph, queued, got "GRAPH"'),
        (lambda d: session(d).update(timing=None), "must be one of graph, queued, got null"),
        (lambda d: session(d).update(timing=["graph"]), "timing must be one of graph, queued"),
        (lambda d: run(d)["protocol"].update(cache="hot"), "cache must be one of warm, cold, got"),
        (lambda d: run(d)["protocol"].update(cooldown_ms=-1), "must be at least 0, got -1"),
        (lambda d: run(d)["protocol"].update(budget_ms=0), "must be at least 1, got 0"),
        (
            lambda d: run(d)["conditions"][0].update(stop_reason="tired"),
            "conditions[0].stop_reason must be one of blocks, precision, budget",
        ),
        (lambda d: run(d)["conditions"][0].update(median_sm_mhz=0), "must be at least 1, got 0"),
        (lambda d: run(d).update(conditions=None), "conditions must be a list, got null"),
        (lambda d: case(d)["anchor"].update(device_ns=0), "device_ns must be at least 1, got 0"),
        (lambda d: case(d)["anchor"].update(date=None), "date must be a string, got null"),
        (lambda d: case(d)["noise"].update(device_floor_ppm=-1), "must be at least 0, got -1"),
        (lambda d: case(d)["noise"].update(sessions=0), "sessions must be at least 1, got 0"),
        (lambda d: run(d)["device"].update(sms=None), "device.sms must be a whole number"),
        (lambda d: run(d)["provenance"].update(dirty=0), "dirty must be true or false, got 0"),
        (lambda d: run(d)["compiler"].append(["nvrtc"]), "compiler[2] must be a list of 2"),
    ],
)
def test_value_that_is_never_written_is_refused_by_key_and_value(edit: Edit, fault: str) -> None:
    data = json.loads(GOOD)
    edit(data)

    with pytest.raises(BaselineError) as caught:
        decode(json.dumps(data).encode("ascii"), PLACE)

    assert fault in str(caught.value)


def test_fault_reads_verdict_file_key_rule_value_remedy() -> None:
    with pytest.raises(BaselineError) as caught:
        decode(GOOD.replace(b"4100", b"-1", 1), PLACE)

    assert str(caught.value) == (
        f'cannot read baseline softmax.json: cases["{GRAPH}"].noise.device_floor_ppm '
        "must be at least 0, got -1\nrestore it"
    )


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        (b'  "runs"', b'>>>>>>> theirs\n  "runs"', "git checkout --ours -- softmax.json"),
        (b'_version": 3', b'_version": 9', "pip install --upgrade pytest-rmsperf"),
    ],
)
def test_fault_that_restoring_does_not_mend_has_its_own_remedy(
    old: bytes, new: bytes, remedy: str
) -> None:
    with pytest.raises(BaselineError) as caught:
        decode(GOOD.replace(old, new), PLACE)

    assert remedy in str(caught.value).split("\n")[1]


def test_null_stands_for_the_unknown_only_in_published_runs() -> None:
    data = json.loads(GOOD)
    run(data)["device"].update(sms=None)
    run(data).update(source="published")

    measurement = decode(json.dumps(data).encode("ascii"), PLACE)[GRAPH]

    assert measurement.run.device.sms == 0


@pytest.mark.parametrize("driver", [np.int64(580), 580.159, b"580", Figure.DRIVER])
def test_value_that_is_no_plain_json_value_is_not_written(driver: Any) -> None:
    cases = decode(GOOD, PLACE)
    odd = replace(cases[GRAPH], run=replace(cases[GRAPH].run, driver=driver))

    with pytest.raises(BaselineError, match=r"runs\.driver must be a plain int, str, bool or None"):
        encode({GRAPH: odd}, PLACE)


def test_file_is_ascii_and_ends_with_one_newline() -> None:
    raw = encode(decode(GOOD, PLACE), PLACE)

    assert (raw.isascii(), raw[-3:]) == (True, b"\n}\n")
