"""What to do about a verdict."""

from __future__ import annotations

import pytest

from judged import ACCEPT, Measured, lines_of, with_status
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.report.messages import remedy


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.SLOWER, f"accept it with: {ACCEPT}"),
        (Status.FASTER, f"accept it with: {ACCEPT}"),
        (Status.MISSING, f"create it with: {ACCEPT}"),
        (Status.INCOMPARABLE, f"measure a new baseline with: {ACCEPT}"),
        (Status.INVALID, "measure again with: pytest --rmsperf --lf"),
        (Status.UNCHANGED, "nothing to do"),
        (
            Status.INCONCLUSIVE,
            f"look closer with: {ACCEPT}".replace("-save", " --rmsperf-sessions=9"),
        ),
    ],
)
def test_the_last_line_is_the_remedy(measured: Measured, status: Status, text: str) -> None:
    assert lines_of(with_status(measured, status))[-1] == text


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (Status.SLOWER, "mend the kernel; a loss that is meant is waived on its test: "),
        (Status.FASTER, "keep it: store it as a baseline with: pytest --rmsperf-save"),
        (Status.MISSING, "compare with a commit that has it: pytest --rmsperf-against=REF"),
        (Status.INCOMPARABLE, "compare with a commit whose case is measured alike: "),
    ],
)
def test_two_builds_have_remedies_of_their_own(
    measured: Measured, status: Status, text: str
) -> None:
    assert remedy(with_status(measured, status, is_paired=True)).startswith(text)


def test_a_save_that_refuses_a_loss_says_how_to_name_it(measured: Measured) -> None:
    text = remedy(with_status(measured, Status.SLOWER), saves=True)

    assert text == f"nothing of this run is saved; name the case to accept it: {ACCEPT}"


def test_a_save_that_is_invalid_is_to_be_saved_again(measured: Measured) -> None:
    text = remedy(with_status(measured, Status.INVALID), saves=True)

    assert text == "measure again with: pytest --rmsperf-save"
