"""Records as JSON values and back: by their annotations, and by what a layout says besides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import pytest

from pytest_rmsperf.errors import BaselineError, SettingError
from pytest_rmsperf.storing.baseline_json import Place
from pytest_rmsperf.storing.record_json import Layout, Reader, Section, Writer, reader_of

PLACE = Place(Path("file.json"), "cannot read", "restore it")


class Colour(str, Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Wheel:
    name: str
    spokes: int


@dataclass(frozen=True, slots=True)
class Span:
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Cart:
    wheels: tuple[Wheel, ...]
    span: Span
    labels: tuple[tuple[str, int], ...]
    colour: Colour | None = None

    def __post_init__(self) -> None:
        if len(self.wheels) > 4:
            raise SettingError(f"a cart has at most 4 wheels, got {len(self.wheels)}")


LAYOUT = Layout(
    shared={Wheel: Section("wheels", label="name")},
    rows=(Span,),
    least={(Cart, "labels"): None, (Span, "low"): 0},
    rules={Span: lambda one: None if one.low <= one.high else "must rise"},
)
SMALL, LARGE = Wheel("small", 8), Wheel("large", 12)
CART = Cart((SMALL, LARGE, SMALL), Span(0, 5), (("slope", -3),), Colour.RED)


def written(cart: Cart) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
    """The cart's value, and the sections beside it."""
    writer = Writer(LAYOUT, PLACE)
    return writer.fields(cart, PLACE), writer.sections


def test_record_reads_back_as_it_was() -> None:
    value, sections = written(CART)

    assert reader_of(LAYOUT, sections, PLACE).record(Cart, value, PLACE) == CART


def test_shared_record_stands_once_under_its_name_and_a_hash() -> None:
    value, sections = written(CART)

    keys = sorted(sections["wheels"])
    assert [key.split("-")[0] for key in keys] == ["large", "small"]
    assert value["wheels"] == [keys[1], keys[0], keys[1]]


def test_key_of_a_shared_record_depends_on_its_content_alone() -> None:
    first, again, other = (
        written(replace(CART, wheels=(one,)))[0]["wheels"]
        for one in (SMALL, Wheel("small", 8), Wheel("small", 9))
    )

    assert (first == again, first == other) == (True, False)


def test_section_is_there_though_nothing_is_in_it() -> None:
    assert written(replace(CART, wheels=()))[1] == {"wheels": {}}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"wheels": ["tiny"]}, 'wheels[0] must be a key of wheels, got "tiny"'),
        ({"wheels": [{}]}, "wheels[0] must be a string, got {}"),
        ({"span": [1]}, "span must be a list of 2 (low, high), got [1]"),
        ({"span": [-1, 5]}, "span must be at least 0, got -1"),
        ({"span": [0, 0]}, "span must be at least 1, got 0"),
        ({"span": [6, 5]}, "span must rise, got [6, 5]"),
        ({"labels": [["slope", True]]}, "labels[0][1] must be a whole number, got true"),
        ({"colour": "blue"}, 'colour must be one of red, got "blue"'),
        ({"speed": 1}, "speed is not a known key, got 1"),
    ],
)
def test_value_that_is_never_written_is_refused_by_key_and_value(
    change: dict[str, object], fault: str
) -> None:
    value, sections = written(CART)

    with pytest.raises(BaselineError) as caught:
        reader_of(LAYOUT, sections, PLACE).record(Cart, {**value, **change}, PLACE)

    assert fault in str(caught.value)


def test_what_the_record_itself_refuses_is_told_with_its_rule() -> None:
    value, sections = written(CART)
    keys = [*sections["wheels"], *sections["wheels"], *sections["wheels"]]

    with pytest.raises(BaselineError, match="is refused: a cart has at most 4 wheels, got 6"):
        reader_of(LAYOUT, sections, PLACE).record(Cart, {**value, "wheels": keys}, PLACE)


def test_fault_in_a_section_is_named_by_section_and_key() -> None:
    with pytest.raises(BaselineError, match=r"wheels\.small\.spokes must be at least 1, got 0"):
        reader_of(LAYOUT, {"wheels": {"small": {"name": "small", "spokes": 0}}}, PLACE)


def test_given_fields_need_not_stand_in_the_file() -> None:
    value = {"wheels": [], "span": [0, 5], "labels": []}

    cart = Reader(LAYOUT, {Wheel: {}}).record(Cart, value, PLACE, colour=None)

    assert cart == Cart((), Span(0, 5), ())
