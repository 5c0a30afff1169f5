"""The table of the selftest, and what its rows amount to."""

from __future__ import annotations

import pytest

from pytest_rmsperf.selftest.rows import MOST_LETTERS, Mark, Row, passed, summary, table

RIGHT = Row("a wrong element", "check", "at index (3, 4)", "at index (3, 4)", Mark.RIGHT)
MISSED = Row("a twin", "stored", "unchanged", "slower (+1.20 %)", Mark.MISSED)
SHOWN = Row("a delay", "stored", "any", "unchanged (+0.40 %)", Mark.SHOWN)
NOT_RUN = Row("a delay", "paired", "slower", "no CUDA device (no driver)", Mark.NOT_RUN)


def test_columns_are_aligned_below_their_names() -> None:
    lines = table([RIGHT, MISSED])

    assert lines == [
        "planted          mode    expected         found             told right",
        "a wrong element  check   at index (3, 4)  at index (3, 4)   yes",
        "a twin           stored  unchanged        slower (+1.20 %)  MISSED",
    ]


@pytest.mark.parametrize(("letters", "is_cut"), [(MOST_LETTERS, False), (MOST_LETTERS + 1, True)])
def test_what_is_too_long_for_the_table_is_cut(letters: int, *, is_cut: bool) -> None:
    row = Row("x", "check", "y", "z" * letters, Mark.RIGHT)

    found = row.cells[3]

    assert len(found) == MOST_LETTERS
    assert found.endswith("...") is is_cut


def test_why_there_is_no_device_stands_once_in_the_last_line() -> None:
    rows = [RIGHT, NOT_RUN, NOT_RUN]

    lines = [*table(rows), *summary(rows, needs_gpu=False)]

    assert ["no driver" in one for one in lines] == [False, False, False, False, True]


@pytest.mark.parametrize(
    ("rows", "needs_gpu", "expected"),
    [
        ([RIGHT], False, True),
        ([RIGHT], True, True),
        ([RIGHT, SHOWN], True, True),
        ([RIGHT, MISSED], False, False),
        ([RIGHT, NOT_RUN], False, True),
        ([RIGHT, NOT_RUN], True, False),
        ([SHOWN], False, False),
        ([NOT_RUN], False, False),
        ([], False, False),
    ],
)
def test_it_passes_only_where_something_was_right_and_nothing_missed_or_wanting(
    rows: list[Row], *, needs_gpu: bool, expected: bool
) -> None:
    assert passed(rows, needs_gpu=needs_gpu) is expected


def test_what_is_only_shown_is_not_counted() -> None:
    (line,) = summary([RIGHT, SHOWN], needs_gpu=False)

    assert line == "selftest: 1 of 1 planted cases told right"


def test_what_was_missed_is_named_with_its_mode_and_a_remedy() -> None:
    line, remedy = summary([RIGHT, MISSED, SHOWN], needs_gpu=False)

    assert line == "selftest: MISSED 1 of 2: a twin (stored)"
    assert remedy.startswith("do not trust the gate on this machine: end what else runs there")


def test_where_nothing_was_tried_the_last_lines_say_so_and_why() -> None:
    line, remedy = summary([NOT_RUN], needs_gpu=False)

    assert line == "selftest: NOTHING was tried, 1 not run: no CUDA device (no driver)"
    assert "mend what keeps the device away" in remedy
