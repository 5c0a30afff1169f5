"""--rmsperf-against: compare with another commit, measured by turns, without any stored figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from git_checkout import Checkout, forget_the_callers_git

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

OPERATOR = "scale_rows/__init__.py"
SCALAR = '        Variant("scalar", FOLDER / "scalar.cu", plan),\n'
VECTOR = '        Variant("vector", FOLDER / "vector.cu", plan),\n'
SLOW = "scale_rows/vector-graph/16x1024"


@pytest.fixture
def checkout(project: Project, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The project as a repository with one commit."""
    forget_the_callers_git(monkeypatch, project.path.parent)
    made = Checkout.new(project.path)
    made.commit(**{".gitignore": "*.json\ncalls.txt\n__pycache__/\n.pytest_cache/\n"})
    return made


def rewrite(checkout: Checkout, old: str, new: str) -> None:
    """Change the operator in the working tree."""
    text = (checkout.root / OPERATOR).read_text(encoding="utf-8")
    assert old in text
    checkout.write(OPERATOR, text.replace(old, new))


def head(checkout: Checkout) -> str:
    return checkout.git("rev-parse", "HEAD")[:7]


# ---- what is compared ------------------------------------------------------------------------


def test_an_unchanged_tree_is_unchanged_in_every_case(project: Project, checkout: Checkout) -> None:
    result = project.check("--rmsperf-against=HEAD")

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.fnmatch_lines(["4 of 4 latencies compared (4 unchanged)*"])


def test_a_case_slower_by_1_percent_fails_alone_and_names_the_commit(
    project: Project, checkout: Checkout
) -> None:
    project.script(device_ns={f"{SLOW}@": 8000, SLOW: 8080})

    result = project.check("--rmsperf-against=HEAD")

    result.assert_outcomes(passed=3, failed=1, deselected=8)
    result.stdout.fnmatch_lines(
        [
            f"*test_latency[[]{SLOW}[]]*",
            "slower by 1.00 % (device time): device time 8.00 -> 8.08 us, *",
            f"  against    8.00 us *, commit {head(checkout)}",
            "  current    8.08 us *",
        ]
    )


def test_a_loss_that_stored_figures_cannot_show_is_found(
    project: Project, checkout: Checkout
) -> None:
    project.script(device_ns={f"{SLOW}@": 8000, SLOW: 8040})

    result = project.check("--rmsperf-against=HEAD")

    result.assert_outcomes(passed=3, failed=1, deselected=8)


def test_both_builds_of_a_case_are_timed_one_after_the_other(
    project: Project, checkout: Checkout
) -> None:
    project.check("--rmsperf-against=HEAD")

    sessions = [one for one in project.calls() if one.startswith("session ")]
    assert len(sessions) == 3
    assert all(f" {SLOW} {SLOW}@{head(checkout)}" in one for one in sessions)


def test_a_change_is_measured_once_more_with_both_builds(
    project: Project, checkout: Checkout
) -> None:
    project.script(device_ns={f"{SLOW}@": 8000, SLOW: 8080})

    project.check("--rmsperf-against=HEAD")

    last = [one for one in project.calls() if one.startswith("session ")][-1]
    assert last.endswith(f" {SLOW} {SLOW}@{head(checkout)}")
    assert "scalar" not in last


def test_the_commit_may_be_any_that_git_knows(project: Project, checkout: Checkout) -> None:
    first = head(checkout)
    checkout.commit(**{"later.txt": ""})
    checkout.git("tag", "v1", first)

    result = project.check("--rmsperf-against=v1")

    assert f"{SLOW}@{first}" in "".join(project.calls())
    assert result.ret == pytest.ExitCode.OK


def test_uncommitted_work_stays_as_it_is(project: Project, checkout: Checkout) -> None:
    rewrite(checkout, "THREADS_PER_BLOCK = 128", "THREADS_PER_BLOCK = 256")
    before = checkout.state()

    project.check("--rmsperf-against=HEAD")

    assert checkout.state() == before


def test_costs_that_differ_are_told_though_no_time_does(
    project: Project, checkout: Checkout
) -> None:
    rewrite(checkout, "arguments)", "arguments, dynamic_smem_bytes=1024)")

    result = project.check("--rmsperf-against=HEAD")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*: changed: *: dynamic shared bytes 0 -> 1024 per block of *"])


def test_resources_that_differ_are_told_with_a_loss(project: Project, checkout: Checkout) -> None:
    rewrite(checkout, "arguments)", "arguments, dynamic_smem_bytes=1024)")
    project.script(device_ns={f"{SLOW}@": 8000, SLOW: 8080})

    result = project.check("--rmsperf-against=HEAD")

    result.stdout.fnmatch_lines(
        ["slower by *", "  because    dynamic shared bytes 0 -> 1024 per block"]
    )


def test_a_commit_whose_case_fails_leaves_nothing_to_compare_with(
    project: Project, checkout: Checkout
) -> None:
    project.script(failed={f"{SLOW}@": ("compile", "does not compile: row.cu(3)")})

    result = project.check("--rmsperf-against=HEAD")

    result.stdout.fnmatch_lines([f"*missing: *{head(checkout)}*does not compile: row.cu(3)"])
    result.stdout.fnmatch_lines(["3 of 4 latencies compared (3 unchanged, 1 missing*"])


# ---- what one of the two lacks ---------------------------------------------------------------


def test_a_case_that_the_commit_lacks_is_told_and_passes(
    project: Project, checkout: Checkout
) -> None:
    rewrite(checkout, VECTOR, "")
    commit = checkout.commit()[:7]
    rewrite(checkout, SCALAR, SCALAR + VECTOR)

    result = project.check("--rmsperf-against=HEAD")

    result.assert_outcomes(passed=4, deselected=8)
    result.stdout.fnmatch_lines([f"*missing: {commit} (HEAD) has no variant vector"])
    result.stdout.fnmatch_lines(["2 of 4 latencies compared (2 unchanged, 2 missing*"])


def test_a_commit_that_lacks_every_case_is_red(project: Project, checkout: Checkout) -> None:
    checkout.git("rm", "--quiet", "-r", "--cached", "scale_rows")
    checkout.git("commit", "--quiet", "--message", "without the operator")

    result = project.check("--rmsperf-against=HEAD")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*missing: {head(checkout)} (HEAD) has no scale_rows"])
    result.stdout.fnmatch_lines(
        [
            "0 of 4 latencies compared (4 missing*",
            "failed: 0 of 4 latencies compared: *; compare with a commit that has these cases: *",
        ]
    )


def test_a_missing_case_fails_where_the_policy_says_so(
    project: Project, checkout: Checkout
) -> None:
    rewrite(checkout, VECTOR, "")
    checkout.commit()
    rewrite(checkout, SCALAR, SCALAR + VECTOR)

    result = project.check("--rmsperf-against=HEAD", "--rmsperf-policy=missing=fail")

    result.assert_outcomes(passed=2, failed=2, deselected=8)


def test_cases_that_only_the_commit_has_are_listed(project: Project, checkout: Checkout) -> None:
    rewrite(checkout, VECTOR, "")

    result = project.check("--rmsperf-against=HEAD")

    result.assert_outcomes(passed=2, deselected=4)
    gone = "scale_rows/vector-direct/16x1024, scale_rows/vector-graph/16x1024"
    result.stdout.fnmatch_lines([f"gone since {head(checkout)}*: 2 cases: {gone}"])


def test_a_case_that_was_only_not_selected_is_not_gone(
    project: Project, checkout: Checkout
) -> None:
    result = project.run("--rmsperf", "-k", "latency and scalar", "--rmsperf-against=HEAD")

    result.stdout.no_fnmatch_line("*gone since*")


# ---- what is left alone ----------------------------------------------------------------------


def test_no_baseline_is_read_or_written(project: Project, checkout: Checkout) -> None:
    project.baseline.parent.mkdir(parents=True)
    project.baseline.write_bytes(b"not JSON at all")

    result = project.check("--rmsperf-against=HEAD")

    result.assert_outcomes(passed=4, deselected=8)
    assert project.baseline.read_bytes() == b"not JSON at all"


@pytest.mark.parametrize("option", ["--rmsperf-save", "--rmsperf-calibrate"])
def test_storing_what_was_compared_with_a_commit_is_a_usage_error(
    project: Project, checkout: Checkout, option: str
) -> None:
    result = project.run(option, "--rmsperf-against=HEAD")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --rmsperf-against=HEAD contradicts {option}: *"])


def test_the_option_turns_the_gate_on(project: Project, checkout: Checkout) -> None:
    result = project.run("-k", "latency", "--rmsperf-against=HEAD")

    result.assert_outcomes(passed=4, deselected=8)


def test_the_header_names_the_commit(project: Project, checkout: Checkout) -> None:
    result = project.check("--rmsperf-against=HEAD~0")

    result.stdout.fnmatch_lines(["rmsperf: against HEAD~0, *, policy missing=warn"])


def test_an_unknown_commit_is_a_usage_error_before_anything_is_checked(
    project: Project, checkout: Checkout
) -> None:
    result = project.check("--rmsperf-against=absent")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rmsperf-against=absent: no commit has that name in *"])
    assert project.calls() == ["close"]


def test_a_project_outside_of_git_is_a_usage_error(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_the_callers_git(monkeypatch, project.path.parent)

    result = project.check("--rmsperf-against=HEAD")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --rmsperf-against=HEAD: * lies in no git repository, *"])


# ---- without a device ------------------------------------------------------------------------


def test_without_a_device_both_builds_are_compiled_and_none_is_compared(
    project: Project, checkout: Checkout
) -> None:
    project.script(device=None)

    result = project.check("--rmsperf-against=HEAD")

    calls = project.calls()
    assert {f"check {SLOW}", f"check {SLOW}@{head(checkout)}"} <= set(calls)
    assert not any(one.startswith("session") for one in calls)
    result.stdout.fnmatch_lines(["0 of 4 latencies compared: no CUDA device (none in the script)*"])


def test_without_a_device_costs_are_compared_all_the_same(
    project: Project, checkout: Checkout
) -> None:
    rewrite(checkout, "arguments)", "arguments, dynamic_smem_bytes=1024)")
    project.script(device=None)

    result = project.check("--rmsperf-against=HEAD")

    result.stdout.fnmatch_lines(["*: changed: *: dynamic shared bytes 0 -> 1024 per block of *"])
