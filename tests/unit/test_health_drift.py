"""Cases whose samples move in one direction all through a session."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from pytest_rmsperf.judge.health import drifting
from readings import CASE_ID, session

NOISE = (0, 9, -7, 4, -3, 8, -9, 2, 6, -5, 7, -8, 3, -4, 5)  # ns, in no direction


def trend(share: float, blocks: int = 15) -> list[int]:
    """Samples that change by `share` from the first block to the last, with noise on them.

    The medians of the outer thirds lie two blocks in, and so differ by less.
    """
    return [round(8000 * (1 + share * i / (blocks - 1))) + NOISE[i % 15] for i in range(blocks)]


def said_of(device_ns: Sequence[int]) -> str | None:
    return drifting(session(device_ns=device_ns)).get(CASE_ID)


def test_a_monotone_rise_by_15_percent_is_drift() -> None:
    assert said_of(trend(0.15)) == (
        "figures drift: device time rose by 11 % from the first to the last third of 15 blocks"
    )


def test_a_fall_is_drift_too() -> None:
    text = said_of(trend(-0.15))

    assert text is not None
    assert text.startswith("figures drift: device time fell by 11 %")


@pytest.mark.parametrize("device_ns", [[8000] * 15, [8000 + one for one in NOISE]])
def test_samples_that_move_in_no_direction_do_not_drift(device_ns: Sequence[int]) -> None:
    assert said_of(device_ns) is None


@pytest.mark.parametrize(("last", "drifts"), [(8400, False), (8410, True)])
def test_a_trend_counts_from_a_twentieth_on(last: int, *, drifts: bool) -> None:
    device_ns = [8000 + i for i in range(-2, 3)] + [8200 + i for i in range(5)]

    text = said_of([*device_ns, *(last + i for i in range(-2, 3))])

    assert (text is not None) == drifts


def test_one_slow_end_without_a_trend_is_no_drift() -> None:
    assert said_of([8000, 8010] * 6 + [9000] * 3) is None


def test_thirds_that_differ_without_a_trend_are_no_drift() -> None:
    first, middle, last = [8000, 9500, 8000, 9500, 8010], [8600, 9600] * 3, [8600, 7900, 8600]

    assert said_of([*first, *middle, *last, 9500]) is None


@pytest.mark.parametrize(("blocks", "drifts"), [(5, False), (6, True)])
def test_fewer_blocks_than_chance_allows_say_nothing(blocks: int, *, drifts: bool) -> None:
    assert (said_of([8000 + 1000 * i for i in range(blocks)]) is not None) == drifts


@pytest.mark.parametrize("device_ns", [[], [0] * 15, [-1] * 5 + [8000] * 10])
def test_impossible_samples_are_left_to_others(device_ns: Sequence[int]) -> None:
    assert said_of(device_ns) is None


def test_cases_without_drift_do_not_load_scipy() -> None:
    code = (
        "import sys; from pytest_rmsperf.judge.health import drifting; "
        "from readings import session; drifting(session()); print('scipy' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    assert done.stdout.strip() == "False"
