"""Progress: one changing line on a terminal, a line now and then in a log."""

from __future__ import annotations

from io import StringIO

from pytest_rmsperf.report.progress import LOG_SECONDS, Progress


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_terminal_shows_every_text_on_the_same_line() -> None:
    stream = StringIO()
    say = Progress(stream, live=True)

    say("check 1 of 2")
    say("check 2 of 2")

    assert stream.getvalue() == "\rrmsperf: check 1 of 2\x1b[K\rrmsperf: check 2 of 2\x1b[K"


def test_the_line_on_a_terminal_is_cleared_at_the_end() -> None:
    stream = StringIO()

    Progress(stream, live=True).end()

    assert stream.getvalue() == "\r\x1b[K"


def test_a_long_text_is_cut_to_one_line_of_the_terminal() -> None:
    stream = StringIO()

    Progress(stream, live=True, width=40)("x" * 100)

    shown = stream.getvalue().removeprefix("\r").removesuffix("\x1b[K")
    assert len(shown) == 39


def test_a_log_shows_the_first_text_at_once() -> None:
    stream = StringIO()

    Progress(stream, live=False, clock=Clock())("check 1 of 2")

    assert stream.getvalue() == "rmsperf: check 1 of 2\n"


def test_a_log_is_silent_until_the_pause_is_over() -> None:
    stream, clock = StringIO(), Clock()
    say = Progress(stream, live=False, clock=clock)
    say("first")

    clock.seconds += LOG_SECONDS - 0.001
    say("too soon")

    assert stream.getvalue() == "rmsperf: first\n"


def test_a_log_shows_a_text_when_the_pause_is_over() -> None:
    stream, clock = StringIO(), Clock()
    say = Progress(stream, live=False, clock=clock)
    say("first")

    clock.seconds += LOG_SECONDS
    say("second")

    assert stream.getvalue() == "rmsperf: first\nrmsperf: second\n"


def test_a_log_keeps_its_lines_at_the_end() -> None:
    stream = StringIO()
    say = Progress(stream, live=False, clock=Clock())
    say("first")

    say.end()

    assert stream.getvalue() == "rmsperf: first\n"
