"""Commands in messages get the options of this run that they need to work."""

from __future__ import annotations

import pytest

from pytest_rmsperf.telling import as_typed

MINE = "--rmsperf-baselines='a b' --rmsperf-samples=7"
OTHER = "--rmsperf-against=main"


@pytest.mark.parametrize(
    ("given", "text", "typed"),
    [
        ([], "pytest --rmsperf --lf", "pytest --rmsperf --lf"),
        (
            ["--rmsperf-cache=cold"],
            "create it with: pytest --rmsperf-save -k x",
            "create it with: pytest --rmsperf-cache=cold --rmsperf-save -k x",
        ),
        (
            ["--rmsperf-baselines=a b", "--rmsperf-samples=7"],
            "pytest --rmsperf-rename=a=b; or pytest --rmsperf-save",
            f"pytest {MINE} --rmsperf-rename=a=b; or pytest {MINE} --rmsperf-save",
        ),
        (
            ["--rmsperf-against=main"],
            "pytest --rmsperf --lf, pytest --rmsperf-save, pytest --rmsperf-against=REF",
            f"pytest {OTHER} --lf, pytest --rmsperf-save, pytest --rmsperf-against=REF",
        ),
        (["--rmsperf-cache=cold"], "a pytest that failed", "a pytest that failed"),
    ],
)
def test_commands_repeat_what_they_would_not_help_without(
    pytester: pytest.Pytester, given: list[str], text: str, typed: str
) -> None:
    assert as_typed(pytester.parseconfig("--rmsperf", *given), text) == typed
