"""--rmsperf-against and static costs: those of the other commit's cases are the baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from git_checkout import Checkout, forget_the_callers_git

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CASE = "scale_rows/vector-graph/16x1024"
OPERATOR = "scale_rows/__init__.py"
AGAINST = ("--rmsperf-against=HEAD", "-k", "cost")


@pytest.fixture
def checkout(static_project: Project, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """The project with tests of static costs, as a repository with one commit; no device."""
    forget_the_callers_git(monkeypatch, static_project.path.parent)
    static_project.script(device=None)
    made = Checkout.new(static_project.path)
    made.commit(**{".gitignore": "*.json\ncalls.txt\n__pycache__/\n.pytest_cache/\n"})
    return made


def test_an_unchanged_tree_costs_the_same_and_needs_no_baseline(
    static_project: Project, checkout: Checkout
) -> None:
    result = static_project.run(*AGAINST)

    result.assert_outcomes(passed=4, deselected=12)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["4 of 4 static costs compared (4 unchanged) on 1 device, sm_90"])


@pytest.mark.parametrize(
    ("blocks_per_sm", "verdict"), [({CASE: 3, f"{CASE}@": 4}, "costlier"), ({CASE: 5}, "cheaper")]
)
def test_a_cost_that_differs_from_the_commits_warns(
    static_project: Project, checkout: Checkout, blocks_per_sm: dict[str, int], verdict: str
) -> None:
    other = {f"{CASE}@": 4}
    static_project.costs(blocks_per_sm={**other, **blocks_per_sm})

    result = static_project.run(*AGAINST)

    result.assert_outcomes(passed=4, deselected=12)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"{CASE}: {verdict}: *", f"4 of 4 *, 1 {verdict}) on 1 device, *"])


def test_a_cost_that_differs_fails_where_the_policy_says_so(
    static_project: Project, checkout: Checkout
) -> None:
    static_project.costs(blocks_per_sm={f"{CASE}@": 4, CASE: 3})

    result = static_project.run(*AGAINST, "--rmsperf-policy=costlier=fail")

    result.assert_outcomes(passed=3, failed=1, deselected=12)


def test_a_device_that_cannot_run_a_case_fails_here_too(
    static_project: Project, checkout: Checkout
) -> None:
    static_project.costs(violated={f"{CASE} on": "does not fit NVIDIA H100 80GB HBM3: by 4\nsplit"})

    result = static_project.run(*AGAINST)

    result.assert_outcomes(passed=3, failed=1, deselected=12)


def test_a_commit_that_has_none_of_the_cases_is_red(
    static_project: Project, checkout: Checkout
) -> None:
    checkout.git("rm", "--quiet", "-r", "--cached", "scale_rows")
    checkout.git("commit", "--quiet", "--message", "without the operator")

    result = static_project.run(*AGAINST)

    result.assert_outcomes(passed=4, deselected=12)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["failed: 0 of 4 static costs compared, *; compare with a commit that has these cases: *"]
    )


def test_stored_costs_are_not_looked_at(static_project: Project, checkout: Checkout) -> None:
    folder = static_project.path / "baselines" / "sm_90"
    folder.mkdir(parents=True)
    (folder / "scale_rows.static.json").write_text("not JSON", encoding="utf-8")

    result = static_project.run(*AGAINST)

    result.assert_outcomes(passed=4, deselected=12)
