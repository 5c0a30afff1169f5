"""The account of static costs: each asked for was compared, and no case got worse unasked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_rmsperf.accounting import MOST_NAMED
from pytest_rmsperf.cost_accounting import LOSSES, CostAccount
from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.judge.cost import PRECEDENCE, ArchVerdict, CostFinding, CostVerdict
from pytest_rmsperf.judge.policy import COMPARED, Outcome, Policy, Status

NOT_COMPARED = (Status.MISSING, Status.INCOMPARABLE)
LENIENT = Policy(tuple((one, Outcome.WARN) for one in NOT_COMPARED))


def verdict(case_id: str, status: Status, *, is_paired: bool = False) -> CostVerdict:
    found = ArchVerdict(
        "sm_89",
        status,
        (CostFinding(("NVIDIA L4",), "6 -> 5 blocks per SM of row"),),
        (),
        None,
        None,
    )
    return CostVerdict(case_id, (found,), (), is_paired)


def account(statuses: Mapping[str, Status], *, more: str = "", **changes: Any) -> CostAccount:
    """The account of cases with one letter each, all of whose tests passed; `more` were asked."""
    asked = frozenset(statuses) | frozenset(more)
    usual = CostAccount(
        asked=asked,
        verdicts={case_id: verdict(case_id, one) for case_id, one in statuses.items()},
        checked=asked,
        passed=asked,
        devices=profiles_named("l4"),
    )
    return replace(usual, **changes)


def complaints(one: CostAccount, *, saves: bool = False) -> list[str]:
    return list(one.complaints(saves=saves))


def unasked(status: Status, **changes: Any) -> CostAccount:
    """The account of a case that no test asks about, beside one that is as it was."""
    found = account({"a": Status.UNCHANGED, "b": status}, **changes)
    return replace(found, asked=frozenset("a"))


# ---- what counts as compared -----------------------------------------------------------------


@pytest.mark.parametrize("status", PRECEDENCE)
def test_a_cost_counts_as_compared_when_two_met(status: Status) -> None:
    assert bool(account({"a": status}).compared) == (status in COMPARED)


def test_a_cost_that_no_test_asks_for_is_not_counted() -> None:
    assert account({"a": Status.UNCHANGED}, asked=frozenset("b")).compared == frozenset()


def test_a_case_without_a_verdict_is_not_meant_for_the_devices_unless_it_failed() -> None:
    one = account({"a": Status.UNCHANGED}, more="bc", failed=frozenset("c"))

    assert one.inapplicable == {"b"}


def test_a_case_that_an_interrupted_run_never_came_to_is_not_called_inapplicable() -> None:
    one = account({"a": Status.UNCHANGED}, more="b", checked=frozenset("a"))

    assert (one.inapplicable, one.unanswered) == (frozenset(), ("b",))


# ---- what turns a run red --------------------------------------------------------------------


def test_a_run_that_compares_everything_has_no_complaint() -> None:
    assert complaints(account({"a": Status.UNCHANGED, "b": Status.CHEAPER})) == []


def test_a_run_that_nobody_asks_about_costs_has_no_complaint() -> None:
    assert complaints(CostAccount(is_of_cases=True)) == []


def test_a_cost_whose_test_did_not_run_is_named_with_the_remedy() -> None:
    one = account({"a": Status.UNCHANGED, "b": Status.UNCHANGED}, passed=frozenset("a"))

    assert complaints(one) == [
        "failed: 1 of 2 static costs were not compared: b; run their tests, or leave them out by -k"
    ]


def test_of_many_costs_left_out_a_few_are_named() -> None:
    names = "abcdefgh"
    (line,) = complaints(account(dict.fromkeys(names, Status.UNCHANGED), passed=frozenset()))

    assert f": {', '.join(names[:MOST_NAMED])} ...; run" in line


@pytest.mark.parametrize("status", NOT_COMPARED)
def test_a_cost_that_the_policy_lets_pass_uncompared_is_no_complaint(status: Status) -> None:
    assert complaints(account({"a": Status.UNCHANGED, "b": status}, policy=LENIENT)) == []


@pytest.mark.parametrize("status", NOT_COMPARED)
def test_a_policy_that_lets_everything_pass_uncompared_gates_nothing(status: Status) -> None:
    one = account({"a": status, "b": status}, policy=LENIENT)

    assert complaints(one) == [
        (
            "failed: 0 of 2 static costs compared, and so nothing was gated; store baselines: "
            "pytest --rmsperf-static --rmsperf-save"
        )
    ]


def test_where_two_commits_have_no_case_in_common_another_one_is_asked_for() -> None:
    one = account({"a": Status.MISSING})
    paired = {"a": verdict("a", Status.MISSING, is_paired=True)}

    (line,) = complaints(replace(one, verdicts=paired))

    assert line.endswith("compare with a commit that has these cases: pytest --rmsperf-against=REF")


def test_a_suite_of_which_no_device_of_interest_is_meant_for_any_case_gates_nothing() -> None:
    assert complaints(account({}, more="ab"))[0].startswith("failed: 0 of 2 static costs compared")


def test_a_run_that_saves_need_not_compare() -> None:
    assert complaints(account({"a": Status.MISSING}, passed=frozenset()), saves=True) == []


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"is_alone": True, "is_of_cases": True}, 1),
        ({"is_alone": True, "tests_left_out": 4}, 1),
        ({"is_alone": True}, 0),  # such as a look for stale cases
        ({"is_of_cases": True, "tests_left_out": 4}, 0),
    ],
)
@pytest.mark.parametrize("saves", [True, False])
def test_a_static_run_in_which_no_test_asks_is_red(
    changes: dict[str, Any], count: int, *, saves: bool
) -> None:
    line = (
        "failed: 0 static costs compared: no selected test asks for one; name the fixture in a "
        "test's signature: def test_cost(case, rmsperf_static)"
    )

    assert complaints(CostAccount(**changes), saves=saves) == [line] * count


# ---- what no test asks for -------------------------------------------------------------------


@pytest.mark.parametrize("saves", [True, False])
@pytest.mark.parametrize("status", PRECEDENCE)
def test_a_loss_that_no_test_asks_about_is_red(status: Status, *, saves: bool) -> None:
    assert bool(complaints(unasked(status), saves=saves)) == (status in LOSSES)


def test_a_loss_that_no_test_asks_about_names_case_verdict_and_fixture() -> None:
    assert complaints(unasked(Status.COSTLIER)) == [
        (
            "failed: b is costlier: NVIDIA L4: 6 -> 5 blocks per SM of row; no test asks for that; "
            "name the fixture in a test's signature: def test_cost(case, rmsperf_static)"
        )
    ]


def test_of_many_such_losses_one_is_told_and_the_others_are_counted() -> None:
    one = account(dict.fromkeys("abc", Status.CHANGED), asked=frozenset())

    (line,) = complaints(one)

    assert "a is changed: " in line
    assert ", and 2 more cases; no test" in line


def test_a_loss_whose_test_is_deselected_is_no_complaint() -> None:
    assert complaints(unasked(Status.COSTLIER, deselected=frozenset("b"))) == []


def test_a_loss_that_only_warns_is_no_complaint() -> None:
    lenient = Policy(((Status.CHANGED, Outcome.WARN),))

    assert complaints(unasked(Status.CHANGED, policy=lenient)) == []


# ---- the line --------------------------------------------------------------------------------


def test_the_line_says_what_was_compared_and_where() -> None:
    one = account(
        {"a": Status.UNCHANGED, "b": Status.UNCHANGED, "c": Status.COSTLIER},
        devices=profiles_named("l4 h200 h100-sxm"),
    )

    assert one.line == (
        "3 of 3 static costs compared (2 unchanged, 1 costlier) on 3 devices, sm_89 sm_90"
    )


def test_the_line_says_why_not_all() -> None:
    one = account(
        {"a": Status.MISSING},
        more="bc",
        failed=frozenset("c"),
        deselected=frozenset("axy"),
        last_failed=True,
    )

    assert one.line == (
        "0 of 3 static costs compared (1 missing, 1 failed before, 1 not meant for them) on "
        "1 device, sm_89; 2 more deselected; --lf leaves out what passed before"
    )


@pytest.mark.parametrize(("is_alone", "told"), [(True, True), (False, False)])
def test_a_run_that_asks_for_no_cost_has_a_line_only_where_it_is_for_costs(
    *, is_alone: bool, told: bool
) -> None:
    assert (account({}, is_alone=is_alone).line is not None) is told
