"""Kernels and launches in a baseline file: one line each, shared by cases, and read strictly."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from candidates import DIRECT, GRAPH, RESOURCES, ROW, ROWS, stored
from pytest_rmsperf.costs import Resources
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.measurement import Measurement
from pytest_rmsperf.storing.baseline_format import decode, encode
from pytest_rmsperf.storing.baseline_json import Place

PLACE = Place(Path("softmax.json"), "cannot read baseline", "restore it")
LARGER = replace(ROW, registers_per_thread=44)
Edit = Callable[[Any], object]


def costing(resources: Resources | None, case_id: str = GRAPH) -> Measurement:
    return replace(stored(), case_id=case_id, resources=resources)


def lines_of(*measurements: Measurement) -> list[str]:
    return encode({one.case_id: one for one in measurements}, PLACE).decode("ascii").splitlines()


# ---- what a review shows ---------------------------------------------------------------------


def test_cases_that_launch_the_same_kernels_alike_share_their_lines() -> None:
    one, two = (lines_of(*cases) for cases in ([costing(RESOURCES)], list(twins(RESOURCES))))

    assert len(two) - len(one) == 1  # the second case itself


def twins(resources: Resources) -> tuple[Measurement, Measurement]:
    return costing(resources), costing(resources, DIRECT)


def test_changed_kernel_is_one_line_and_the_references_of_its_cases() -> None:
    changed = replace(RESOURCES, kernels=(LARGER, ROWS))

    pairs = zip(lines_of(*twins(RESOURCES)), lines_of(*twins(changed)), strict=True)

    heads = [new.split(":")[0].split("-")[0].strip() for old, new in pairs if old != new]
    assert heads == ['"softmax/online', '"softmax/online', '"row']


def test_old_and_new_line_of_a_kernel_stand_together() -> None:
    several = [costing(Resources((kernel, ROWS), RESOURCES.fit)) for kernel in (ROW, LARGER)]
    both = lines_of(several[0], replace(several[1], case_id=DIRECT))

    names = [line.split("-")[0].strip() for line in both[both.index('  "kernels": {') + 1 :]]
    assert names[:3] == ['"row', '"row', '"rows']


def test_case_without_known_resources_leaves_the_sections_empty() -> None:
    lines = lines_of(costing(None))

    assert [line for line in lines if line.endswith("{},")] == [
        '  "kernels": {},',
        '  "launches": {},',
    ]


# ---- what reading refuses --------------------------------------------------------------------


def resources(data: Any) -> Any:
    return data["cases"][GRAPH]["resources"]


def kernel(data: Any) -> Any:
    return data["kernels"][resources(data)["kernels"][0]]


def launch(data: Any) -> Any:
    return data["launches"][resources(data)["fit"]["launches"][0]]


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda d: d.pop("kernels"), "kernels is missing"),
        (lambda d: d.update(launches=[]), "launches must be an object, got []"),
        (lambda d: kernel(d).update(registers_per_thread=0), "must be at least 1, got 0"),
        (lambda d: kernel(d).update(local_bytes=-1), "local_bytes must be at least 0, got -1"),
        (lambda d: kernel(d).update(max_threads_per_block=0), "must be at least 1, got 0"),
        (lambda d: kernel(d).update(code={}), "code.code_bytes is missing"),
        (lambda d: kernel(d)["code"].update(instructions=0), "must be at least 1, got 0"),
        (lambda d: kernel(d)["code"].update(counts=[["barrier", 0]]), "must be at least 1, got 0"),
        (lambda d: kernel(d)["code"].update(counts=[["barrier"]]), "must be a list of 2"),
        (lambda d: kernel(d).pop("spill_load_bytes"), "spill_load_bytes is missing"),
        (lambda d: kernel(d).update(threads=1), "threads is not a known key, got 1"),
        (lambda d: launch(d).update(blocks=0), "blocks must be at least 1, got 0"),
        (lambda d: launch(d).update(blocks_per_sm=0), "blocks_per_sm must be at least 1, got 0"),
        (lambda d: launch(d).update(must_be_resident=1), "must be true or false, got 1"),
        (lambda d: launch(d).update(active_clusters=0), "active_clusters must be at least 1"),
        (lambda d: launch(d).update(dynamic_smem_bytes=-1), "must be at least 0, got -1"),
        (lambda d: resources(d).update(kernels=["row"]), 'must be a key of kernels, got "row"'),
        (lambda d: resources(d).update(kernels=[1]), "kernels[0] must be a string, got 1"),
        (lambda d: resources(d)["fit"].update(launches=["row"]), "must be a key of launches"),
        (lambda d: resources(d)["fit"].update(launches=[]), "has no launches on NVIDIA H200"),
        (lambda d: resources(d)["fit"].update(why_not="too small"), "has no launches on NVIDIA"),
        (lambda d: resources(d)["kernels"].pop(), "launches rows on NVIDIA H200, none of its"),
        (lambda d: resources(d)["fit"].update(sms=0), "fit.sms must be at least 1, got 0"),
        (lambda d: resources(d)["fit"].update(facts=[["tile", "4"]]), "must be a whole number"),
    ],
)
def test_value_that_is_never_written_is_refused_by_key_and_value(edit: Edit, fault: str) -> None:
    data = json.loads(encode({GRAPH: costing(RESOURCES)}, PLACE))
    edit(data)

    with pytest.raises(BaselineError) as caught:
        decode(json.dumps(data).encode("ascii"), PLACE)

    assert fault in str(caught.value)


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: kernel(d).update(static_smem_bytes=0, local_bytes=0, spill_store_bytes=0),
        lambda d: kernel(d)["code"].update(instructions=None, counts=[]),
        lambda d: launch(d).update(dynamic_smem_bytes=0, active_clusters=16),
        lambda d: resources(d)["fit"].update(facts=[["reload", 0], ["shift", -1]]),
        lambda d: resources(d)["fit"].update(facts=[]),
    ],
)
def test_zero_is_read_where_there_may_be_none(edit: Edit) -> None:
    data = json.loads(encode({GRAPH: costing(RESOURCES)}, PLACE))
    edit(data)

    assert GRAPH in decode(json.dumps(data).encode("ascii"), PLACE)
