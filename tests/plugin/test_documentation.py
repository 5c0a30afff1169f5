"""The operator of docs/operator.md, taken from the page and run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "operator.md"
FILE = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def documented(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    files = FILE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(files) == 3
    for name, text in files:
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return pytester


def test_documented_operator_compiles_and_fits_without_any_device(
    documented: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMSPERF_CXX", "no-such-compiler")

    result = documented.runpytest_subprocess("--rmsperf")

    result.assert_outcomes(passed=3, skipped=4)
    result.stdout.fnmatch_lines(["scale_rows/one_block_per_row-graph/1024x4096 *not run*8 *-"])


def test_documented_fixtures_exist(documented: pytest.Pytester) -> None:
    named = set(re.findall(r"rmsperf_\w+", PAGE.read_text(encoding="utf-8")))

    listed = documented.runpytest_subprocess("--fixtures", "--rmsperf").stdout.str()

    assert {"rmsperf_latency", "rmsperf_launch", "rmsperf_benchmark"} <= named
    assert [name for name in named - {"rmsperf_instrument"} if name not in listed] == []
