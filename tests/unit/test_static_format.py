"""The text of a static baseline file: what it holds, what a review shows, what reading refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from candidates import DIRECT, GRAPH, RESOURCES, ROW, ROWS
from pytest_rmsperf.costs import StaticCost
from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.static_format import decode, encode

GOLDEN = Path(__file__).parent / "data" / "static_v1.json"
GOOD = GOLDEN.read_bytes()
PLACE = Place(Path("softmax.static.json"), "cannot read baseline", "restore it")
H200 = RESOURCES.fit
PCIE = replace(H200, device="NVIDIA H100 PCIe", sms=114)
COST = StaticCost(
    case_id=GRAPH,
    arch="sm_90",
    compiler=(("nvrtc", "13.0.88"), ("arch", "sm_90")),
    flags=("--use_fast_math",),
    kernels=(ROW, ROWS),
    fits=(PCIE, H200),
)
COSTS = {GRAPH: COST, DIRECT: replace(COST, case_id=DIRECT)}
Edit = Callable[[Any], object]


def written(*costs: StaticCost) -> list[str]:
    return encode({one.case_id: one for one in costs}, "sm_90", PLACE).decode("ascii").splitlines()


# ---- what it holds ---------------------------------------------------------------------------


def test_file_reads_as_the_costs_it_was_written_from() -> None:
    assert decode(GOOD, PLACE) == COSTS


def test_costs_are_written_as_the_file_they_read_from() -> None:
    assert encode(COSTS, "sm_90", PLACE) == GOOD


def test_order_of_the_cases_does_not_show_in_the_file() -> None:
    assert encode(dict(reversed(COSTS.items())), "sm_90", PLACE) == GOOD


def test_file_says_neither_when_nor_at_which_commit() -> None:
    assert not any(word in GOOD for word in (b"date", b"commit", b"driver", b"python"))


def test_cost_of_another_arch_is_not_written() -> None:
    with pytest.raises(BaselineError, match='must be compiled for sm_89, got "sm_90"'):
        encode(COSTS, "sm_89", PLACE)


def test_figure_that_json_cannot_hold_is_not_written() -> None:
    odd = replace(COST, kernels=(replace(ROW, local_bytes=0.5),))  # type: ignore[arg-type]

    with pytest.raises(BaselineError, match=r"kernels\.local_bytes must be a plain int"):
        encode({GRAPH: odd}, "sm_90", PLACE)


# ---- what a review shows ---------------------------------------------------------------------


def heads(before: list[str], after: list[str]) -> list[str]:
    """How the lines that differ begin."""
    pairs = zip(before, after, strict=True)
    return [new.strip().split("-")[0].split(":")[0] for old, new in pairs if old != new]


def test_launch_that_a_device_holds_less_of_is_one_line_and_the_references_to_it() -> None:
    worse = replace(H200.launches[0], blocks_per_sm=3)
    fits = tuple(replace(one, launches=(worse, one.launches[1])) for one in COST.fits)

    found = heads(written(COST), written(replace(COST, fits=fits)))

    assert found == ['"softmax/online', '"row']


def test_devices_that_hold_as_many_blocks_share_the_lines_of_their_launches() -> None:
    assert len(written(COST)) == len(written(replace(COST, fits=(H200,))))


def test_other_compiler_is_one_line_and_the_references_to_it() -> None:
    other = (("nvrtc", "13.1.48"), ("arch", "sm_90"))

    before, after = written(COST), written(replace(COST, compiler=other))

    changed = [new.strip()[:9] for old, new in zip(before, after, strict=True) if old != new]
    assert (len(changed), changed[0]) == (2, '"softmax/')


# ---- what reading refuses --------------------------------------------------------------------


def case(data: Any) -> Any:
    return data["cases"][GRAPH]


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda d: d.update(schema_version=2), "schema_version must be at most 1, got 2"),
        (lambda d: d.update(schema_version=0), "schema_version must be at least 1, got 0"),
        (lambda d: d.pop("schema_version"), "schema_version is missing"),
        (lambda d: d.update(date="2026-11-30"), 'date is not a known key, got "2026-11-30"'),
        (lambda d: d.pop("arch"), "arch is missing"),
        (lambda d: d.update(arch=90), "arch must be a string, got 90"),
        (lambda d: d.update(cases={}), "cases is empty"),
        (lambda d: d.update(cases=[]), "cases must be an object, got []"),
        (lambda d: d.pop("compilers"), "compilers is missing"),
        (lambda d: case(d).pop("fits"), "fits is missing"),
        (lambda d: case(d).update(note=None), f'cases["{GRAPH}"].note is not a known key'),
        (lambda d: case(d).update(arch="sm_90"), "arch is not a known key"),
        (lambda d: case(d).update(compiler="0"), 'compiler must be a key of compilers, got "0"'),
        (lambda d: case(d).update(kernels=["0"]), 'kernels[0] must be a key of kernels, got "0"'),
        (lambda d: case(d).update(kernels=[]), "launches row on NVIDIA H100 PCIe, none of its"),
        (lambda d: case(d).update(flags=None), "flags must be a list, got null"),
        (lambda d: case(d).update(fits=[]), "fits must hold one or more devices, each once"),
        (lambda d: case(d)["fits"].append(case(d)["fits"][0]), "devices, each once, got"),
        (lambda d: case(d)["fits"][0].update(sms=0), "fits[0].sms must be at least 1, got 0"),
        (lambda d: case(d)["fits"][0].update(launches=[]), "has no launches on NVIDIA H100 PCIe"),
        (lambda d: case(d)["fits"][0].pop("why_not"), "fits[0].why_not is missing"),
    ],
)
def test_value_that_is_never_written_is_refused_by_key_and_value(edit: Edit, fault: str) -> None:
    data = json.loads(GOOD)
    edit(data)

    with pytest.raises(BaselineError) as caught:
        decode(json.dumps(data).encode("ascii"), PLACE)

    assert fault in str(caught.value)


def test_truncated_file_is_refused_at_the_line_where_it_ends() -> None:
    with pytest.raises(BaselineError, match=r"softmax\.static\.json: is not JSON at line 7"):
        decode(b"\n".join(GOOD.splitlines()[:6]) + b"\n", PLACE)
