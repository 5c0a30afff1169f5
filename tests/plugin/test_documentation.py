"""The documentation: the operator of docs/operator.md, run as it stands there, and the README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_rmsperf.judge.thresholds import PRESETS, Thresholds
from pytest_rmsperf.options import ACTIONS, OPTIONS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operator.md"
README = ROOT / "README.md"
TRUST = ROOT / "docs" / "trust.md"
MEASUREMENT = ROOT / "docs" / "measurement.md"
PAGES = (README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md"))

FILE = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAG = re.compile(r"--rmsperf(?:-[a-z]+)*")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def rows_of(page: Path) -> list[list[str]]:
    """The cells of every line of a table; a bar that is escaped ends no cell."""
    lines = (line for line in text_of(page).splitlines() if re.match(r"\|[^-]", line))
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


# ---- an operator of one's own ----------------------------------------------------------------


@pytest.fixture
def documented(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    files = FILE.findall(text_of(PAGE))
    assert len(files) == 3
    for name, text in files:
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    saved = pytester.runpytest_subprocess("--rmsperf-static", "--rmsperf-save")
    saved.stdout.fnmatch_lines(["saved 2 static baselines in *"])
    return pytester


def test_documented_operator_compiles_and_fits_without_any_device(
    documented: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMSPERF_CXX", "no-such-compiler")

    result = documented.runpytest_subprocess("--rmsperf")

    result.assert_outcomes(passed=5, skipped=4)
    result.stdout.fnmatch_lines(["scale_rows/one_block_per_row-graph/1024x4096 *not run*8 *-"])


def test_documented_ordering_and_waiver_are_what_tests_of_that_operator_can_say(
    documented: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMSPERF_CXX", "no-such-compiler")
    (text,) = (one for one in PYTHON.findall(text_of(PAGE)) if "rmsperf_ordering" in one)
    tests = documented.path / "test_scale_rows.py"
    tests.write_text(f"{tests.read_text(encoding='utf-8')}\n\n{text}", encoding="utf-8")

    result = documented.runpytest_subprocess("--rmsperf", "-v")

    result.assert_outcomes(passed=5, skipped=5)
    result.stdout.fnmatch_lines(
        [
            "*::test_graph_replay_beats_direct[[]*(host completion)[]] SKIPPED*",
            "waived: scale_rows/one_block_per_row-direct/1024x4096: rewritten in #12",
        ]
    )


def test_documented_fixtures_exist(documented: pytest.Pytester) -> None:
    named = set(re.findall(r"rmsperf_\w+", text_of(PAGE)))

    listed = documented.runpytest_subprocess("--fixtures", "--rmsperf").stdout.str()

    assert {"rmsperf_latency", "rmsperf_launch", "rmsperf_benchmark", "rmsperf_ordering"} <= named
    assert [name for name in named - {"rmsperf_instrument"} if name not in listed] == []


# ---- options ---------------------------------------------------------------------------------


def test_the_readme_lists_every_option_with_its_default() -> None:
    listed = {FLAG.findall(row[0])[0]: row[1] for row in rows_of(README) if FLAG.search(row[0])}

    wanted = {
        one.flag: "" if one.default in (None, "false") else f"`{one.default}`" for one in OPTIONS
    }

    # What only turns the gate on has no default; --rmsperf-against stands among those.
    actions = {f"--{word.replace('_', '-')}" for word in (*ACTIONS, "rmsperf")}
    assert listed.keys() == wanted.keys() | actions
    assert {flag: listed[flag] for flag in wanted.keys() - actions} == {
        flag: default for flag, default in wanted.items() if flag not in actions
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_that_a_page_names_exists(page: Path) -> None:
    known = {"--rmsperf", *(one.flag for one in OPTIONS)}
    known |= {f"--{word.replace('_', '-')}" for word in ACTIONS}

    assert sorted(set(FLAG.findall(text_of(page))) - known) == []


def test_default_thresholds_are_told_as_they_are() -> None:
    stored, paired = PRESETS["default"].stored, PRESETS["default"].paired
    told = {FLAG.findall(row[0])[0]: row[-1] for row in rows_of(README) if FLAG.search(row[0])}
    page = " ".join(text_of(MEASUREMENT).split())

    for flag, one, other in (
        ("--rmsperf-threshold", 100 * stored.device.share, 100 * paired.device.share),
        ("--rmsperf-floor", stored.device.floor_ns / 1000, paired.device.floor_ns / 1000),
        (
            "--rmsperf-completion-threshold",
            100 * stored.completion.share,
            100 * paired.completion.share,
        ),
    ):
        assert re.search(rf": {one:g}, and {other:g}\b", told[flag]), told[flag]
    for limits in (stored, paired):
        device, host = limits.device, limits.completion
        words = f"{100 * device.share:g} % and {device.floor_ns} ns of device time"
        assert words in page
        assert f"{100 * host.share:g} % and {host.floor_ns / 1000:g} us of host completion" in page


def test_presets_are_told_as_they_are() -> None:
    def words(limits: Thresholds) -> str:
        device, host = limits.device, limits.completion
        return (
            f"{100 * device.share:g} % and {device.floor_ns} ns, "
            f"{100 * host.share:g} % and {host.floor_ns / 1000:g} us"
        )

    told = {row[0].strip("`"): row[1:3] for row in rows_of(MEASUREMENT) if len(row) == 4}

    assert {name: told[name] for name in PRESETS} == {
        name: [words(one.stored), words(one.paired)] for name, one in PRESETS.items()
    }


# ---- figures ---------------------------------------------------------------------------------


def test_the_readme_shows_what_the_gate_says_of_the_recordings() -> None:
    program = ROOT / "docs" / "study" / "shown.py"

    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=True, timeout=100
    )

    table, message = done.stdout.strip().split("\n\n")
    assert f"```text\n{table}\n```" in text_of(README)
    assert f"```text\n{message}\n```" in text_of(README)


def test_the_readme_compares_tools_as_the_study_does() -> None:
    study = {row[0].strip("*"): row for row in rows_of(TRUST)}
    head = study["tool and figure"]
    ours = [row for row in rows_of(README) if row[0].strip("*") in study]
    wanted = [head.index(name) for name in ours[0]]

    assert [row[0] for row in ours[-2:]] == ["**the gate, stored**", "**the gate, paired**"]
    assert len(ours) > 5
    for row in ours:
        whole = study[row[0].strip("*")]
        assert row == [whole[place] for place in wanted]


def test_the_readme_promises_what_the_study_found() -> None:
    page = " ".join(text_of(README).split())
    power = {row[0]: row for row in rows_of(TRUST) if len(row) == 5}
    names, suite = (
        next(row for row in rows_of(TRUST) if row[0] == name)
        for name in ("unchanged code", "whole suite, stored")
    )
    alarms = dict(zip(names, suite, strict=True))
    stored, paired = power["210"], power["70"]

    assert alarms["called slower"] == "**0**"
    assert (
        f"**0 false alarms** in {alarms['runs']} checks of {alarms['cases']} unchanged cases, "
        f"drawn from {alarms['sessions']} processes ({alarms['apart']} of them have no checked "
        "process in common)"
    ) in page
    assert (stored[1], stored[2], stored[3]) == ("+128 ns", "+1.64 %", "100 % (343 of 343)")
    assert "**+1.6 % (128 ns)** against stored figures: found in 343 of 343 checks" in page
    assert (paired[1], paired[2], paired[4]) == ("+44 ns", "+0.56 %", "100 % (49 of 49)")
    assert "**+0.56 % (44 ns)** against another commit in the same process: found in 49 of 49" in (
        page
    )
