"""Commands in messages get the options of this run that they need to work."""

from __future__ import annotations

import pytest

from pytest_rmsperf.telling import as_typed

MINE = "--rmsperf-baselines='a b' --rmsperf-samples=7"
STATIC = "--rmsperf-devices='l4, a10' --rmsperf-static"
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
        (
            ["--rmsperf-static", "--rmsperf-devices=l4, a10"],
            "pytest --rmsperf --lf, pytest --rmsperf-static --rmsperf-save",
            f"pytest {STATIC} --lf, pytest {STATIC} --rmsperf-save",
        ),
        (
            ["--rmsperf-arch=sm_80"],
            "accept it with: pytest --rmsperf-static --rmsperf-save",
            "accept it with: pytest --rmsperf-arch=sm_80 --rmsperf-static --rmsperf-save",
        ),
    ],
)
def test_commands_repeat_what_they_would_not_help_without(
    pytester: pytest.Pytester, given: list[str], text: str, typed: str
) -> None:
    assert as_typed(pytester.parseconfig("--rmsperf", *given), text) == typed
