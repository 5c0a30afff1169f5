"""Baseline files of older schemas: what is added, what is refused, and what they are good for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.judge.comparability import incomparable
from pytest_rmsperf.measurement import Measurement, ProbeFigures, SessionFigures
from pytest_rmsperf.protocol import Protocol
from pytest_rmsperf.samples import Quartiles, Timing
from pytest_rmsperf.storing.baseline_format import decode, encode
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.baseline_migration import MIGRATIONS, SCHEMA_VERSION
from pytest_rmsperf.storing.baselines import BaselineStore

DATA = Path(__file__).parent / "data"
VERSION_1, VERSION_2, VERSION_3 = (DATA / f"baseline_v{one}.json" for one in (1, 2, 3))
GRAPH, DIRECT = "softmax/online-graph/16x1024", "softmax/online-direct/16x1024"
PLACE = Place(Path("softmax.json"), "cannot read baseline", "restore it")
PUBLISHED_V1 = {
    "schema_version": 1,
    "cases": {
        GRAPH: {
            "flags": None,
            "inputs": None,
            "note": "from a text",
            "resources": None,
            "run": "1",
            "sessions": [
                {
                    "completion_ns": [19900, 19900, 19900],
                    "copy": None,
                    "device_ns": None,
                    "launches_per_graph": None,
                    "null": None,
                }
            ],
        }
    },
    "runs": {
        "1": {
            "compiler": None,
            "cuda": "12.8.1",
            "device": {
                "compute_capability": "9.0",
                "memory_mib": None,
                "name": "NVIDIA H100 80GB",
                "sms": None,
            },
            "driver": None,
            "protocol": None,
            "provenance": {
                "commit": None,
                "date": None,
                "dirty": None,
                "packages": None,
                "python": None,
                "rmsperf": None,
            },
            "source": "published",
        }
    },
}
Edit = Callable[[Any], object]


def test_file_of_version_1_reads_with_what_it_did_not_know_left_open(
    measured: Callable[..., Measurement],
) -> None:
    session = SessionFigures(
        device=Quartiles(8190, 8230, 8350),
        completion=Quartiles(13600, 13700, 13900),
        launches_per_graph=120,
        null=ProbeFigures(1200, 6100),
        copy=ProbeFigures(7050, 12800),
        timing=Timing.GRAPH,
    )
    usual = measured().run
    run = replace(
        usual,
        compiler=(*usual.compiler, ("arch", "sm_90")),
        protocol=Protocol(version=1, precision_ppm=0, budget_ms=3_600_000),
        provenance=replace(
            usual.provenance, date="2026-11-30T18:00:00Z", packages=(("numpy", "2.4.6"),)
        ),
    )

    graph = decode(VERSION_1.read_bytes(), PLACE)[GRAPH]

    assert graph == Measurement(
        case_id=GRAPH,
        run=run,
        inputs="normal",
        flags=("--use_fast_math",),
        sessions=(session, replace(session, null=None, copy=None)),
        resources=None,  # six figures of one kernel, and nobody knows of which
        note="accepted with the wider tile \u2013 twice as fast",
    )


def test_file_of_version_2_reads_as_one_of_version_3_that_does_not_tell_its_cost() -> None:
    present = decode(VERSION_3.read_bytes(), PLACE)

    assert decode(VERSION_2.read_bytes(), PLACE) == {
        case_id: replace(one, resources=None) for case_id, one in present.items()
    }


def test_figures_of_the_first_protocol_are_incomparable(
    measured: Callable[..., Measurement],
) -> None:
    old = decode(VERSION_1.read_bytes(), PLACE)[GRAPH]
    new = replace(measured(), run=replace(old.run, protocol=Protocol()))

    assert incomparable(new, old) == "other protocol: version 1 -> 2"


def test_published_figures_of_version_1_are_still_open_where_the_text_was() -> None:
    (session,) = decode(json.dumps(PUBLISHED_V1).encode("ascii"), PLACE)[GRAPH].sessions

    assert (session.device, session.launches_per_graph) == (None, 0)


def test_every_version_before_this_one_has_a_migration() -> None:
    assert set(MIGRATIONS) == set(range(1, SCHEMA_VERSION))


def test_file_on_disk_is_left_alone_by_reading(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path)
    path = store.path("nvidia-h200", "softmax")
    path.parent.mkdir()
    path.write_bytes(VERSION_1.read_bytes())

    store.read("nvidia-h200", "softmax")

    assert path.read_bytes() == VERSION_1.read_bytes()


def test_next_save_writes_the_whole_file_in_the_present_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = BaselineStore(tmp_path)
    path = store.path("nvidia-h200", "softmax")
    path.parent.mkdir()
    path.write_bytes(VERSION_1.read_bytes())
    before = store.read("nvidia-h200", "softmax")

    store.write("nvidia-h200", "softmax", {DIRECT: before[DIRECT]})

    assert path.read_bytes() == encode(before, PLACE)


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda d: d.pop("cases"), "cases is missing"),
        (lambda d: d.pop("runs"), "runs is missing"),
        (lambda d: d.update(cases=[]), "cases must be an object, got []"),
        (lambda d: d.update(runs=None), "runs must be an object, got null"),
        (lambda d: d["cases"].update({GRAPH: 1}), f'cases["{GRAPH}"] must be an object, got 1'),
        (lambda d: d["cases"][GRAPH].update(sessions={}), "sessions must be a list, got {}"),
        (lambda d: d["cases"][GRAPH].update(sessions=[1]), "sessions[0] must be an object, got 1"),
        (lambda d: d["cases"][GRAPH].pop("sessions"), "sessions is missing"),
        (lambda d: d["runs"]["44ca664270c9"].update(protocol=1), "protocol must be an object"),
        (lambda d: d["runs"]["44ca664270c9"].pop("protocol"), "protocol is missing"),
        (lambda d: d["cases"][GRAPH].update(noise=None), "noise is not a known key of this schema"),
        (
            lambda d: d["cases"][GRAPH]["sessions"][0].update(timing="graph"),
            "sessions[0].timing is not a known key of this schema_version, got",
        ),
        (lambda d: d["runs"]["44ca664270c9"].update(conditions=[]), "conditions is not a known"),
    ],
)
def test_value_that_version_1_never_wrote_is_refused_by_key_and_value(
    edit: Edit, fault: str
) -> None:
    data = json.loads(VERSION_1.read_bytes())
    edit(data)

    with pytest.raises(BaselineError) as caught:
        decode(json.dumps(data).encode("ascii"), PLACE)

    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda d: d.update(kernels={}), "kernels is not a known key, got {}"),
        (lambda d: d["cases"][GRAPH].pop("resources"), "resources is missing"),
        (lambda d: d["cases"][GRAPH].update(resources=[]), "resources must be an object, got []"),
        (
            lambda d: d["cases"][GRAPH]["resources"].update(kernels=[]),
            "resources.kernels is not a known key, got []",
        ),
        (
            lambda d: d["cases"][GRAPH]["resources"].pop("local_bytes"),
            "resources.local_bytes is missing",
        ),
        (lambda d: d["cases"][GRAPH].pop("noise"), "noise is missing"),
    ],
)
def test_value_that_version_2_never_wrote_is_refused_by_key_and_value(
    edit: Edit, fault: str
) -> None:
    data = json.loads(VERSION_2.read_bytes())
    edit(data)

    with pytest.raises(BaselineError) as caught:
        decode(json.dumps(data).encode("ascii"), PLACE)

    assert fault in str(caught.value)
