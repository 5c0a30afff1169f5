"""The policy: every verdict has one outcome, and what compares nothing fails unless it is told."""

from __future__ import annotations

import pytest

from pytest_rmsperf.judge.policy import (
    COMPARED,
    DEFAULT_OUTCOMES,
    Outcome,
    Policy,
    Status,
    parse_policy,
)

each_status = pytest.mark.parametrize("status", Status, ids=lambda one: str(one.value))
each_outcome = pytest.mark.parametrize("outcome", Outcome, ids=lambda one: str(one.value))


@pytest.mark.parametrize(
    ("status", "outcome", "compared"),
    [
        (Status.UNCHANGED, Outcome.PASS, True),
        (Status.FASTER, Outcome.WARN, True),
        (Status.INCONCLUSIVE, Outcome.WARN, True),
        (Status.SLOWER, Outcome.FAIL, True),
        (Status.MISSING, Outcome.FAIL, False),
        (Status.INCOMPARABLE, Outcome.FAIL, False),
        (Status.INVALID, Outcome.FAIL, False),
        (Status.STALE, Outcome.FAIL, False),
        (Status.VIOLATED, Outcome.FAIL, False),
        (Status.COSTLIER, Outcome.FAIL, True),
        (Status.CHANGED, Outcome.FAIL, True),
        (Status.CHEAPER, Outcome.WARN, True),
    ],
)
def test_verdict_has_one_outcome_and_says_whether_it_compared(
    status: Status, outcome: Outcome, *, compared: bool
) -> None:
    assert (Policy().outcome(status), status in COMPARED) == (outcome, compared)


def test_table_knows_every_verdict() -> None:
    assert DEFAULT_OUTCOMES.keys() == set(Status)


@each_status
def test_only_what_fails_by_the_table_fails_a_test(status: Status) -> None:
    assert Policy().fails(status) is (DEFAULT_OUTCOMES[status] is Outcome.FAIL)


def test_verdict_that_compared_nothing_fails() -> None:
    assert all(Policy().fails(one) for one in set(Status) - COMPARED)


@each_status
@each_outcome
def test_every_verdict_can_be_given_every_outcome(status: Status, outcome: Outcome) -> None:
    policy = Policy(((status, outcome),))

    assert policy.outcome(status) is outcome


@each_status
def test_replaced_entry_leaves_all_others(status: Status) -> None:
    policy = Policy(((status, Outcome.WARN),))

    others = {one: policy.outcome(one) for one in Status if one is not status}

    assert others == {one: DEFAULT_OUTCOMES[one] for one in others}


def test_later_entry_wins() -> None:
    first = Policy(((Status.MISSING, Outcome.PASS), (Status.FASTER, Outcome.FAIL)))

    policy = first.replacing(((Status.MISSING, Outcome.WARN),))

    assert [policy.outcome(Status.MISSING), policy.outcome(Status.FASTER)] == [
        Outcome.WARN,
        Outcome.FAIL,
    ]


def test_replacing_leaves_the_first_policy_as_it_was() -> None:
    policy = Policy()

    policy.replacing(((Status.MISSING, Outcome.PASS),))

    assert policy.outcome(Status.MISSING) is Outcome.FAIL


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ((), ""),
        (((Status.MISSING, Outcome.WARN),), "missing=warn"),
        (((Status.MISSING, Outcome.FAIL),), ""),
        (((Status.MISSING, Outcome.WARN), (Status.MISSING, Outcome.FAIL)), ""),
        (
            ((Status.STALE, Outcome.PASS), (Status.FASTER, Outcome.FAIL)),
            "stale=pass, faster=fail",
        ),
    ],
    ids=["nothing", "one", "the default", "and back", "two"],
)
def test_description_names_what_differs_from_the_default(
    entries: tuple[tuple[Status, Outcome], ...], text: str
) -> None:
    assert Policy(entries).describe() == text


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.VIOLATED}))
def test_every_verdict_but_a_violation_can_be_named_in_a_policy(status: Status) -> None:
    assert parse_policy(f"{status.value}=warn") == ((status, Outcome.WARN),)


def test_a_policy_cannot_let_a_violation_pass_and_does_not_offer_it() -> None:
    with pytest.raises(ValueError, match="'violated=warn' is not") as refused:
        parse_policy("costlier=warn,violated=warn")

    assert "violated" not in str(refused.value).partition("verdicts are")[2]
