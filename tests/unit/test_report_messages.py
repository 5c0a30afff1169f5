"""What a person reads of a verdict: the verdict first, then the evidence, then the remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from _pytest.mark.expression import Expression

from costs import kernel_of, resources_of
from judged import (
    ACCEPT,
    CASE_ID,
    CASE_IDS,
    PAIRED,
    SLOW,
    THREE,
    Judged,
    Measured,
    judge_one,
    lines_of,
    paired,
    with_status,
)
from pytest_rmsperf.judge.policy import Status
from pytest_rmsperf.judge.verdict import Round, judge_paired
from pytest_rmsperf.report.messages import (
    headline,
    microseconds,
    odd_sessions,
    percent,
    selector,
    verdict_message,
)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(None, "-"), (0, "0.00"), (4, "0.00"), (8230, "8.23"), (1_200_000, "1200.00")],
)
def test_every_time_is_in_microseconds(nanoseconds: int | None, text: str) -> None:
    assert microseconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("change", "text"), [(None, "-"), (0.0, "+0.0 %"), (0.099, "+9.9 %"), (-0.5, "-50.0 %")]
)
def test_a_change_is_a_signed_percentage(change: float | None, text: str) -> None:
    assert percent(change) == text


# ---- the headline ----------------------------------------------------------------------------


def test_a_slower_device_time_is_the_first_thing_said(judged: Judged) -> None:
    assert headline(judged(THREE, SLOW)) == (
        "slower by 10.0 % (device time): device time 8.23 -> 9.05 us, "
        "host completion 20.00 -> 20.00 us (limit +3.0 %)"
    )


def test_a_slower_host_completion_is_told_with_its_own_change_and_limit(judged: Judged) -> None:
    verdict = judged(THREE, THREE, host=((20_000,) * 3, (30_000,) * 3))

    assert headline(verdict) == (
        "slower by 50.0 % (host completion): device time 8.23 -> 8.23 us, "
        "host completion 20.00 -> 30.00 us (limit +25.0 %)"
    )


def test_faster_is_told_without_a_sign(judged: Judged) -> None:
    assert headline(judged((10_000,) * 3, (8000,) * 3)).startswith(
        "faster by 20.0 % (device time): "
    )


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.SLOWER, Status.FASTER}))
def test_any_other_verdict_is_followed_by_its_reason(measured: Measured, status: Status) -> None:
    assert headline(with_status(measured, status)) == f"{status.value}: a reason"


def test_a_paired_change_is_told_to_a_hundredth_of_a_percent(measured: Measured) -> None:
    text = headline(paired(measured((8093,) * 3), measured((8000,) * 3)))

    assert text.startswith("slower by 1.11 % (device time): device time 8.00 -> 8.09 us, ")
    assert text.endswith("(limit +0.25 %)")


def test_a_change_near_its_limit_is_said_to_be_near(judged: Judged) -> None:
    near, far = (headline(judged((10_000,) * 3, (after,) * 3)) for after in (10_280, 10_260))

    assert near == "unchanged: within the threshold, near its limit"
    assert far == "unchanged: within the threshold"


# ---- the whole message -----------------------------------------------------------------------


def test_a_message_is_verdict_evidence_remedy(measured: Measured) -> None:
    lighter, heavier = kernel_of(registers=32, code=None), kernel_of(registers=40, code=None)
    baseline = measured((8190, 8230, 8350), resources=resources_of(lighter))
    current = measured((9010, 9050, 9120), copy_ns=7014, resources=resources_of(heavier))

    assert lines_of(judge_one(current, baseline, current)) == [
        (
            "slower by 10.0 % (device time): device time 8.23 -> 9.05 us, "
            "host completion 13.70 -> 13.70 us (limit +3.0 %)"
        ),
        (
            "  baseline   8.23 us [8.19 .. 8.35] device, 3 sessions, 2026-11-30, driver 580.159, "
            "commit 1a2b3c4"
        ),
        (
            "  current    9.05 us [9.01 .. 9.12] device, 6 sessions, 2026-11-30, driver 580.159, "
            "commit 1a2b3c4, the last 3 to confirm; the copy probe moved by +0.2 %"
        ),
        "  because    registers 32 -> 40 per thread",
        f"accept it with: {ACCEPT}",
    ]


def test_a_message_on_one_round_speaks_of_no_confirmation(judged: Judged) -> None:
    assert "to confirm" not in verdict_message(judged(THREE, SLOW))


def test_a_message_on_two_builds_names_the_other_commit_and_no_probes(measured: Measured) -> None:
    lines = lines_of(paired(measured((8093,) * 3), measured((8000,) * 3)))

    assert lines[1].startswith("  against    8.00 us [8.00 .. 8.00] device, 3 sessions, ")
    assert lines[1].endswith(", commit 5e6f7a8")
    assert lines[2].endswith(", commit 1a2b3c4, the last 3 to confirm")


def test_a_dirty_tree_is_no_dirt_of_the_other_commit(measured: Measured) -> None:
    one = measured((8093,) * 3)
    dirty = replace(one.run.provenance, dirty=True)
    one = replace(one, run=replace(one.run, provenance=dirty))

    against, current = lines_of(paired(one, one))[1:3]

    assert ("with changes" in against, "with changes" in current) == (False, True)


def test_a_missing_baseline_names_the_devices_that_have_one(measured: Measured) -> None:
    verdict = judge_one(measured(), None)

    text = verdict_message(verdict, stored_on=("nvidia-h100-80gb", "nvidia-l4"))

    assert "  stored     only for nvidia-h100-80gb, nvidia-l4" in text.splitlines()


def test_other_devices_are_not_named_where_a_baseline_was_compared(judged: Judged) -> None:
    assert "stored" not in verdict_message(judged(THREE, SLOW), stored_on=("nvidia-l4",))


def test_other_devices_are_of_no_use_to_two_builds(measured: Measured) -> None:
    verdict = judge_paired(
        CASE_ID, [Round(measured())], None, PAIRED, missing="1a2b3c4 has no variant online"
    )

    lines = verdict_message(verdict, stored_on=("nvidia-l4",)).splitlines()

    assert lines[0] == "missing: 1a2b3c4 has no variant online"
    assert lines[2:] == ["compare with a commit that has it: pytest --rmsperf-against=REF"]


def test_no_samples_at_all_still_make_a_message() -> None:
    assert lines_of(judge_one(None, None)) == [
        "invalid: no samples",
        "measure again with: pytest --rmsperf --lf",
    ]


def test_a_measurement_without_sessions_still_makes_a_message(measured: Measured) -> None:
    verdict = judge_one(measured(()), measured())

    assert lines_of(verdict)[0] == "invalid: no samples"


def test_published_figures_are_shown_as_host_completion(measured: Measured) -> None:
    published = measured((None,), completion_ns=(18_600,))
    published = replace(published, run=replace(published.run, source="published", driver=None))

    shown = lines_of(judge_one(measured(), published))[1]

    assert shown.startswith("  baseline   18.60 us [18.60 .. 18.60] host, 1 session, ")


@pytest.mark.parametrize(
    ("commit", "dirty", "shown"),
    [
        ("1a2b3c4", False, "commit 1a2b3c4"),
        ("1a2b3c4", True, "commit 1a2b3c4 with changes"),
        (None, None, "commit unknown"),
    ],
)
def test_the_code_of_a_baseline_is_shown(
    measured: Measured, commit: str | None, shown: str, *, dirty: bool | None
) -> None:
    old = measured((8000,))
    provenance = replace(old.run.provenance, commit=commit, dirty=dirty)
    old = replace(old, run=replace(old.run, provenance=provenance))

    assert lines_of(judge_one(measured(), old))[1].endswith(shown)


def test_a_change_of_driver_is_seen_in_the_evidence(measured: Measured) -> None:
    old = measured((8000,))
    old = replace(old, run=replace(old.run, driver="550.54"))

    baseline, current = lines_of(judge_one(measured((9000,)), old))[1:3]

    assert ("driver 550.54" in baseline, "driver 580.159" in current) == (True, True)


# ---- the selector ----------------------------------------------------------------------------


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_remedy_selects_one_case_of_the_bundled_operator(case_id: str) -> None:
    selected = [one for one in CASE_IDS if selector(case_id) in f"test_latency[{one}]"]

    assert selected == [case_id]


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_remedy_is_one_word_of_the_language_of_k(case_id: str) -> None:
    asked: list[str] = []

    def matches(part: str, /, **unused: str | int | bool | None) -> bool:
        asked.append(part)
        return True

    assert Expression.compile(selector(case_id)).evaluate(matches)
    assert asked == [case_id]


def test_the_remedy_does_not_select_a_variant_whose_name_ends_alike() -> None:
    assert selector("softmax/row-graph/1x4") not in "test_latency[softmax/long_row-graph/1x4]"


# ---- sessions in another state -------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "text"),
    [
        ((8230, 8240, 8220), ""),
        ((8230, 4940, 8220), "session 2 of 3 (device time 4.94 us)"),
    ],
)
def test_session_far_off_the_others_is_named_with_its_time(
    measured: Measured, after: tuple[int, ...], text: str
) -> None:
    verdict = judge_one(measured(after), measured(THREE))

    assert (verdict.status, odd_sessions(verdict)) == (Status.UNCHANGED, text)


def test_session_far_off_the_others_stands_below_the_evidence(measured: Measured) -> None:
    lines = lines_of(judge_one(measured((9050, 9060, 20_000)), measured(THREE)))

    assert lines[3] == "  apart      session 3 of 3 (device time 20.00 us)"


def test_verdict_without_samples_names_no_session() -> None:
    assert odd_sessions(judge_one(None, None)) == ""
