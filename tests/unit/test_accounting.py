"""The account: every latency asked for was compared or waived, or the run is red."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_rmsperf.accounting import MOST_NAMED, Account
from pytest_rmsperf.judge.policy import COMPARED, Outcome, Policy, Status
from pytest_rmsperf.judge.thresholds import STORED
from pytest_rmsperf.judge.verdict import Verdict

NOT_COMPARED = sorted(set(Status) - COMPARED)
LENIENT = Policy(tuple((one, Outcome.WARN) for one in NOT_COMPARED))


def verdict(case_id: str, status: Status) -> Verdict:
    return Verdict(case_id, status, "", None, None, STORED)


def account(  # noqa: PLR0913
    statuses: Mapping[str, Status],
    *,
    more: str = "",
    failed: str = "",
    waived: Mapping[str, str] | None = None,
    passed: str | None = None,
    policy: Policy | None = None,
    deselected: int = 0,
    why_not: str | None = None,
) -> Account:
    """The account of cases with one letter each; `more` were asked for and have no verdict."""
    return Account(
        asked=frozenset(statuses) | frozenset(more),
        verdicts={case_id: verdict(case_id, one) for case_id, one in statuses.items()},
        failed=frozenset(failed),
        waived=waived or {},
        passed=frozenset(statuses) | frozenset(more) if passed is None else frozenset(passed),
        policy=policy or Policy(),
        deselected=deselected,
        why_not=why_not,
    )


# ---- what counts as compared -----------------------------------------------------------------


@pytest.mark.parametrize("status", Status)
def test_a_verdict_counts_as_compared_when_two_figures_met(status: Status) -> None:
    assert bool(account({"a": status}).compared) == (status in COMPARED)


def test_a_waived_case_is_not_counted_as_compared() -> None:
    one = account({"a": Status.SLOWER, "b": Status.SLOWER}, waived={"a": "known"})

    assert one.compared == {"b"}
    assert one.excused == {"a"}


def test_a_case_that_no_latency_test_asks_for_is_neither_compared_nor_waived() -> None:
    one = Account(frozenset(), {"a": verdict("a", Status.UNCHANGED)}, waived={"a": "known"})

    assert (one.compared, one.excused) == (frozenset(), frozenset())


@pytest.mark.parametrize("status", NOT_COMPARED)
def test_a_verdict_that_the_policy_lets_pass_uncompared_is_excused(status: Status) -> None:
    assert account({"a": status}, policy=LENIENT).excused == {"a"}


@pytest.mark.parametrize("status", NOT_COMPARED)
def test_a_verdict_that_fails_uncompared_is_not_excused(status: Status) -> None:
    assert account({"a": status}).excused == frozenset()


# ---- the complaint ---------------------------------------------------------------------------


def test_a_run_that_compared_all_it_was_asked_for_has_nothing_to_complain_of() -> None:
    assert account({"a": Status.UNCHANGED, "b": Status.FASTER}).complaint() is None


def test_a_run_that_was_asked_for_nothing_has_nothing_to_complain_of() -> None:
    assert account({}).complaint() is None


def test_a_case_that_was_compared_and_whose_tests_did_not_all_pass_is_missed() -> None:
    one = account({"a": Status.UNCHANGED, "b": Status.UNCHANGED}, passed="a")

    assert one.complaint() == (
        "failed: 1 of 2 latencies were neither compared nor waived: b; run their tests, or waive "
        'them: @pytest.mark.rmsperf(waive="why")'
    )


def test_a_case_without_a_verdict_is_missed_though_its_test_passed() -> None:
    assert account({"a": Status.UNCHANGED}, more="b").unanswered == ("b",)


def test_a_case_that_failed_is_missed_though_its_test_passed() -> None:
    assert account({}, more="a", failed="a").unanswered == ("a",)


def test_a_waiver_answers_for_a_case_whose_tests_did_not_run() -> None:
    one = account({"a": Status.UNCHANGED, "b": Status.SLOWER}, passed="a", waived={"b": "known"})

    assert one.complaint() is None


def test_many_missed_cases_are_counted_and_few_named() -> None:
    ids = "abcdef"
    named = ", ".join(ids[:MOST_NAMED])

    complaint = account({}, more=ids).complaint() or ""

    assert f"6 of 6 latencies were neither compared nor waived: {named} ...;" in complaint


def test_as_many_missed_cases_as_are_named_end_in_no_dots() -> None:
    assert "..." not in (account({}, more="abc").complaint() or "...")


def test_a_policy_that_lets_every_verdict_pass_uncompared_gates_nothing() -> None:
    one = account({"a": Status.MISSING}, policy=LENIENT)

    assert (one.complaint() or "").startswith("failed: 0 of 1 latencies compared: the policy lets")


def test_a_policy_that_lets_one_of_two_pass_uncompared_gates_the_other() -> None:
    one = account({"a": Status.MISSING, "b": Status.UNCHANGED}, policy=LENIENT)

    assert one.complaint() is None


def test_a_run_that_waives_all_it_was_asked_for_says_so_itself() -> None:
    one = account({"a": Status.SLOWER}, waived={"a": "known"})

    assert one.complaint() is None


def test_a_run_without_a_device_is_judged_by_another_rule() -> None:
    assert account({}, more="a", why_not="no CUDA device").complaint() is None


# ---- the line --------------------------------------------------------------------------------


def test_a_run_that_compared_nothing_says_so_and_why() -> None:
    assert account({}, more="abc", why_not="no CUDA device").line == (
        "0 of 3 latencies compared: no CUDA device"
    )


def test_a_run_that_compared_everything_needs_no_reason() -> None:
    one = account({"a": Status.UNCHANGED, "b": Status.UNCHANGED}, why_not="no CUDA device")

    assert one.line == "2 of 2 latencies compared (2 unchanged)"


def test_a_run_that_compared_part_counts_each_verdict() -> None:
    found = [Status.MISSING, Status.SLOWER, Status.UNCHANGED, Status.SLOWER]

    assert account(dict(zip("abcd", found, strict=True))).line == (
        "3 of 4 latencies compared (1 unchanged, 2 slower, 1 missing)"
    )


def test_a_run_that_was_asked_for_nothing_compared_nothing() -> None:
    assert account({}).line == "0 of 0 latencies compared"


def test_a_failed_case_was_asked_for_and_not_compared() -> None:
    assert account({"a": Status.FASTER}, more="b", failed="b").line == (
        "1 of 2 latencies compared (1 faster, 1 failed before)"
    )


def test_a_failed_case_that_nobody_asked_the_latency_of_is_not_counted() -> None:
    assert account({"a": Status.FASTER}, failed="b").line == "1 of 1 latencies compared (1 faster)"


def test_waived_cases_are_counted() -> None:
    one = account({"a": Status.SLOWER, "b": Status.UNCHANGED}, waived={"a": "known"})

    assert one.line == "1 of 2 latencies compared (1 unchanged, 1 slower, 1 waived)"


def test_what_was_deselected_is_told() -> None:
    one = account({"a": Status.UNCHANGED}, deselected=3)

    assert one.line == "1 of 1 latencies compared (1 unchanged); 3 more deselected"
