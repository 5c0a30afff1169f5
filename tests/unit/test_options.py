"""The table of options: what each value means, which are refused, and what turns the gate on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rmsperf.device.profiles import profiles_named
from pytest_rmsperf.judge.policy import Outcome, Status, parse_policy
from pytest_rmsperf.options import ACTIONS, OPTIONS, gate_is_on, given_on_command_line

BY_WORD = {one.word: one for one in OPTIONS}
SWITCHES = ("require-gpu", "accept-slower", "accept-dirty", "details")
COUNTS = ("emulated-schedules", "sessions", "samples")
POSITIVE = (
    "budget",
    "deadline",
    "threshold",
    "floor",
    "completion-threshold",
    "power-limit",
)
SHARES = ("precision", "headroom-loss")
CHOICES = {
    "device": ("auto", "cuda", "emulated"),
    "cache": ("warm", "cold"),
    "preset": ("default", "strict", "permissive"),
}
TEXTS = ("expect-gpu", "arch", "against")
PATHS = ("baselines", "json")
OTHERS = ("emulated-seed", "cooldown", "policy", "devices")


def parse(word: str, text: str) -> object:
    """Return what an option makes of a value."""
    return BY_WORD[word].parse(text)


def refusal(word: str, text: str) -> str:
    """Return why an option refuses a value."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the caller looks at its text
        parse(word, text)
    return str(caught.value)


def test_every_option_is_tested_here() -> None:
    tested = {*SWITCHES, *COUNTS, *POSITIVE, *SHARES, *CHOICES, *TEXTS, *PATHS, *OTHERS}

    assert tested == BY_WORD.keys()


# ---- numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("word", COUNTS)
@pytest.mark.parametrize(("text", "meant"), [("1", 1), ("40", 40), (" 3 ", 3)])
def test_count_is_a_whole_number_from_one_on(word: str, text: str, meant: int) -> None:
    assert parse(word, text) == meant


@pytest.mark.parametrize("word", COUNTS)
@pytest.mark.parametrize("text", ["0", "-1", "1.5", "three", "1e3", "", "nan", "+3"])
def test_count_refuses_anything_else(word: str, text: str) -> None:
    assert refusal(word, text) == "must be a whole number of at least 1"


@pytest.mark.parametrize(("text", "meant"), [("0", 0), ("1", 1)])
def test_seed_may_be_zero(text: str, meant: int) -> None:
    assert parse("emulated-seed", text) == meant


@pytest.mark.parametrize("text", ["-1", "0.5", "x", ""])
def test_seed_is_a_whole_number(text: str) -> None:
    assert refusal("emulated-seed", text) == "must be a whole number of at least 0"


@pytest.mark.parametrize("word", POSITIVE)
@pytest.mark.parametrize(
    ("text", "meant"), [("0.001", 0.001), ("1.5", 1.5), ("700", 700.0), ("1e-3", 0.001)]
)
def test_amount_may_be_any_fraction(word: str, text: str, meant: float) -> None:
    assert parse(word, text) == meant


@pytest.mark.parametrize("word", POSITIVE)
@pytest.mark.parametrize("text", ["0", "-0.1", "nan", "inf", "-inf"])
def test_amount_must_be_positive_and_finite(word: str, text: str) -> None:
    assert refusal(word, text) == "must be positive and finite"


@pytest.mark.parametrize("word", [*POSITIVE, *SHARES, "cooldown"])
@pytest.mark.parametrize("text", ["", "3%", "3,5", "5 us", "half"])
def test_amount_must_be_a_number(word: str, text: str) -> None:
    assert "could not convert string to float" in refusal(word, text)


@pytest.mark.parametrize("word", SHARES)
@pytest.mark.parametrize(("text", "meant"), [("0", 0.0), ("0.05", 0.05), ("99.9", 99.9)])
def test_share_is_a_percentage_that_may_be_zero(word: str, text: str, meant: float) -> None:
    assert parse(word, text) == meant


@pytest.mark.parametrize("word", SHARES)
@pytest.mark.parametrize("text", ["-0.1", "100", "nan", "inf"])
def test_share_refuses_what_is_no_percentage(word: str, text: str) -> None:
    assert refusal(word, text) == "must be at least 0 and below 100"


@pytest.mark.parametrize(("text", "meant"), [("0", 0.0), ("0.02", 0.02), ("3599", 3599.0)])
def test_cooldown_may_be_nothing_or_nearly_an_hour(text: str, meant: float) -> None:
    assert parse("cooldown", text) == meant


@pytest.mark.parametrize("text", ["-1", "3600", "nan", "inf"])
def test_cooldown_refuses_an_hour_and_more(text: str) -> None:
    assert refusal("cooldown", text) == "must be at least 0 and below 3600"


# ---- words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text"), [(word, text) for word, texts in CHOICES.items() for text in texts]
)
def test_choice_takes_its_words(word: str, text: str) -> None:
    assert parse(word, text) == text


@pytest.mark.parametrize("word", CHOICES)
@pytest.mark.parametrize("text", ["", "AUTO", "warmer", "none"])
def test_choice_refuses_other_words_and_gives_its_own(word: str, text: str) -> None:
    assert refusal(word, text) == f"must be one of {', '.join(CHOICES[word])}"


@pytest.mark.parametrize("word", SWITCHES)
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("true", True),
        ("True", True),
        ("1", True),
        ("yes", True),
        ("false", False),
        ("0", False),
        ("No", False),
    ],
)
def test_switch_takes_words_for_yes_and_no(word: str, text: str, *, meant: bool) -> None:
    assert parse(word, text) is meant


@pytest.mark.parametrize("word", SWITCHES)
@pytest.mark.parametrize("text", ["", "on", "2", "nope"])
def test_switch_refuses_other_words(word: str, text: str) -> None:
    assert refusal(word, text) == "must be true or false"


@pytest.mark.parametrize("word", TEXTS)
def test_text_is_taken_as_it_is(word: str) -> None:
    assert parse(word, "NVIDIA H200 ") == "NVIDIA H200 "


@pytest.mark.parametrize("word", PATHS)
def test_path_is_taken_as_it_is(word: str) -> None:
    assert parse(word, "a/b c") == Path("a/b c")


# ---- devices -------------------------------------------------------------------------


def test_devices_are_listed_by_their_words() -> None:
    assert parse("devices", "l4, h200") == profiles_named("l4 h200")


@pytest.mark.parametrize("text", ["l5", "l4,l4", ","])
def test_devices_refuse_what_names_none_or_one_twice(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the text is the profiles' own
        profiles_named(text)

    assert refusal("devices", text) == str(caught.value)


# ---- the policy ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("missing=warn", ((Status.MISSING, Outcome.WARN),)),
        (
            " missing = warn , faster=fail ",
            ((Status.MISSING, Outcome.WARN), (Status.FASTER, Outcome.FAIL)),
        ),
        (
            "missing=warn,missing=pass",
            ((Status.MISSING, Outcome.WARN), (Status.MISSING, Outcome.PASS)),
        ),
    ],
)
def test_policy_lists_verdicts_with_their_outcomes(
    text: str, entries: tuple[tuple[Status, Outcome], ...]
) -> None:
    assert parse("policy", text) == entries


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.VIOLATED}))
@pytest.mark.parametrize("outcome", Outcome)
def test_policy_knows_every_verdict_but_one_and_every_outcome(
    status: Status, outcome: Outcome
) -> None:
    assert parse_policy(f"{status.value}={outcome.value}") == ((status, outcome),)


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("missing", "missing"),
        ("missing=", "missing="),
        ("=warn", "=warn"),
        ("missing=warn,", ""),
        ("missing=warn,slow=fail", "slow=fail"),
        ("missing=ignore", "missing=ignore"),
        ("missing:warn", "missing:warn"),
        ("Missing=warn", "Missing=warn"),
        ("missing=warn=fail", "missing=warn=fail"),
        ("violated=warn", "violated=warn"),
    ],
)
def test_policy_names_the_entry_that_it_cannot_read_and_the_words_it_knows(
    text: str, entry: str
) -> None:
    assert refusal("policy", text) == (
        f"{entry!r} is not VERDICT=OUTCOME; verdicts are unchanged, faster, slower, inconclusive, "
        "missing, incomparable, invalid, stale, costlier, changed, cheaper; outcomes are fail, "
        "warn, pass"
    )


# ---- the command line ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "on"),
    [
        ((), False),
        (("--rmsperf",), True),
        (("--rmsperf-save",), True),
        (("--rmsperf-calibrate",), True),
        (("--rmsperf-selftest",), True),
        (("--rmsperf-rename=a=b",), True),
        (("--rmsperf-against=HEAD",), True),
        (("--rmsperf-against=",), True),
        (("--rmsperf-static",), True),
        (("--rmsperf-details",), False),
        (("--rmsperf-threshold=2",), False),
    ],
    ids=str,
)
def test_gate_is_on_only_where_it_was_asked_for(
    pytester: pytest.Pytester, arguments: tuple[str, ...], *, on: bool
) -> None:
    assert gate_is_on(pytester.parseconfig(*arguments)) is on


def test_every_action_can_be_asked_for(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig()

    assert not any(config.getoption(one) for one in ACTIONS)


def test_flags_are_listed_as_they_were_given_and_without_values(
    pytester: pytest.Pytester,
) -> None:
    config = pytester.parseconfig("--rmsperf-threshold=2", "--rmsperf-accept-slower")

    assert given_on_command_line(config) == ["--rmsperf-threshold", "--rmsperf-accept-slower"]


def test_flags_that_only_the_ini_file_gives_are_not_listed(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrmsperf_threshold = 2\n")

    assert given_on_command_line(pytester.parseconfig()) == []


def test_help_gives_the_default_of_every_ini_key(pytester: pytest.Pytester) -> None:
    text = " ".join(pytester.runpytest_inprocess("--help").stdout.str().split())

    assert all(f"{one.help} (default: {one.default})" in text for one in OPTIONS)


def test_no_option_has_a_name_without_the_prefix() -> None:
    assert {one.flag[:10] for one in OPTIONS} == {"--rmsperf-"}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda one: str(one.word))
def test_default_is_a_value_that_could_be_typed(option: object) -> None:
    default, parse_default = (getattr(option, name) for name in ("default", "parse"))

    assert default is None or parse_default(default) is not None
