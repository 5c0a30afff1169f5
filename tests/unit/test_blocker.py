"""The kernel that holds a stream: when it holds, when it lets go, and who said so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_rmsperf.device import blocker
from pytest_rmsperf.device.blocker import LIMIT_MS, Blocker
from pytest_rmsperf.launch import LaunchPlan, int64

ADDRESS = 0x7F00_0000_1000


class Words(list[int]):
    """Two words that no device looks at."""

    device_address = ADDRESS

    def __init__(self) -> None:
        super().__init__([0, 0])


class Invoked:
    """Stands for the kernel's invocation; logs what the words say at each submission."""

    def __init__(self, words: Words, plan: LaunchPlan, *_: object) -> None:
        self.words = words
        self.plan = plan
        self.log: list[str] = []

    def run(self) -> None:
        self.log.append(f"run at {self.words}")

    def submit(self, count: int) -> None:
        self.log.append(f"submit {count} at {self.words}")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[Blocker, Invoked]:
    """A blocker of which the kernel never runs, and its invocation."""
    words = Words()
    monkeypatch.setattr(blocker, "HostWords", lambda: words)
    monkeypatch.setattr(blocker, "Invocation", partial(Invoked, words))
    monkeypatch.setattr(blocker, "DeviceMemory", list)
    module: Any = None
    made: Any = Blocker(module)
    return made, made._invocation


def test_the_kernel_is_told_where_the_words_are_and_how_long_to_wait_at_most(
    held: tuple[Blocker, Invoked],
) -> None:
    (launch,) = held[1].plan.launches

    assert launch.arguments == (int64(ADDRESS), int64(LIMIT_MS * 1_000_000))
    assert (launch.blocks, launch.threads_per_block) == (1, 1)


def test_the_kernel_has_run_once_and_was_let_go_at_once_before_anything_is_held(
    held: tuple[Blocker, Invoked],
) -> None:
    assert held[1].log == ["run at [1, 0]"]


def test_the_stream_is_held_inside_of_the_block_and_let_go_at_its_end(
    held: tuple[Blocker, Invoked],
) -> None:
    made, invoked = held

    with made.holding():
        inside = list(invoked.words)

    assert invoked.log == ["run at [1, 0]", "submit 1 at [0, 0]"]
    assert (inside[0], invoked.words[0]) == (0, 1)


def test_what_fails_to_be_queued_does_not_leave_the_stream_held(
    held: tuple[Blocker, Invoked],
) -> None:
    made, invoked = held

    with pytest.raises(LookupError), made.holding():
        raise LookupError

    assert invoked.words[0] == 1


def test_a_kernel_that_let_go_by_itself_is_told_until_it_holds_again(
    held: tuple[Blocker, Invoked],
) -> None:
    made, invoked = held

    with made.holding():
        invoked.words[1] = 1
    before = made.gave_up
    with made.holding():
        pass

    assert (before, made.gave_up) == (True, False)
