"""The text of a baseline file as JSON: what is refused before any record is looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rmsperf.errors import BaselineError
from pytest_rmsperf.storing.baseline_format import decode
from pytest_rmsperf.storing.baseline_json import Place, compact, document, parse

GOOD = (Path(__file__).parent / "data" / "baseline_v3.json").read_bytes()
PLACE = Place(Path("softmax.json"), "cannot read baseline", "restore it")


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"", "is not JSON at line 1, column 1"),
        (GOOD[:-40], "is not JSON at line 16, column"),
        (b"[]\n", "must be an object, got []"),
        (b"\xff" + GOOD, "is not UTF-8 at byte 0"),
        (b"[" * 200_000, "is not JSON that can be read"),
        (GOOD.replace(b"8190", b"9" * 5000), "is not JSON that can be read"),
        (GOOD.replace(b"8190", b"NaN"), "holds NaN, which is no JSON number"),
        (GOOD.replace(b"8190", b"-Infinity"), "holds -Infinity, which is no JSON number"),
        (GOOD.replace(b"8190", b"1e999"), "must be a whole number, got Infinity"),
        (GOOD.replace(b'"note": null', b'"note": null, "note": null'), 'the key "note" twice'),
        (GOOD.replace(b'  "runs"', b'<<<<<<< HEAD\n  "runs"'), "line 14 is a git conflict marker"),
        (GOOD.replace(b'  "runs"', b'=======\r\n  "runs"'), "line 14 is a git conflict marker"),
    ],
)
def test_damaged_text_is_refused_with_what_is_wrong_and_where(raw: bytes, fault: str) -> None:
    with pytest.raises(BaselineError) as caught:
        decode(raw, PLACE)

    assert fault in str(caught.value)


def test_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(BaselineError) as caught:
        decode(json.dumps(["x" * 1000]).encode("ascii"), PLACE)

    assert len(str(caught.value)) < 200


def test_text_of_a_value_reads_back_as_the_value() -> None:
    value = {"b": [1, None, True], "a": {"\u2013": "x"}}

    assert parse(compact(value).encode("ascii"), PLACE) == value


def test_text_does_not_depend_on_the_order_of_keys() -> None:
    assert compact({"b": 1, "a": 2}) == compact({"a": 2, "b": 1})


def test_file_has_a_line_for_each_entry_of_a_section_and_one_for_all_else() -> None:
    top = {"runs": {}, "cases": {"b": [1, 2], "a": {"x": 1}}, "arch": "sm_90"}

    assert document(top).decode("ascii") == (
        '{\n  "arch": "sm_90",\n  "cases": {\n    "a": {"x": 1},\n    "b": [1, 2]\n  },\n'
        '  "runs": {}\n}\n'
    )
